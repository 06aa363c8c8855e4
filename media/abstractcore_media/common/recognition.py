"""Recognises a file by its media type: the declared one, else the one detected from its content and name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from abstractcore.ports import Recognised
from abstractcore.schema import MediaKind

from .sniffing import media_type_of

_sniffed = lru_cache(maxsize=4)(media_type_of)
"""All handlers are asked about one file in turn: only the first detects its type."""


def recognised(
    kind: MediaKind, is_ours: Callable[[str], bool], head: bytes, name: str, declared: str | None
) -> Recognised | None:
    """Returns the result of `recognise` for a handler of `kind` whose media types `is_ours` accepts."""
    media_type = _sniffed(head, name) if declared is None else declared
    return Recognised(kind, media_type) if media_type is not None and is_ours(media_type) else None
