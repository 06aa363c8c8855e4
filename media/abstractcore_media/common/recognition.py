"""Recognises a file by its media type: the declared one, else the one detected from its content and name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from abstractcore.ports import Recognised
from abstractcore.schema import MediaKind


def recognised(
    kind: MediaKind, is_ours: Callable[[str], bool], head: bytes, name: str, declared: str | None
) -> Recognised | None:
    """Returns the result of `recognise` for a handler of `kind` whose media types `is_ours` accepts."""
    media_type = _sniffed(head, name) if declared is None else declared
    return Recognised(kind, media_type) if media_type is not None and is_ours(media_type) else None


@lru_cache(maxsize=4)
def _sniffed(head: bytes, name: str) -> str | None:
    """Returns the detected type. All handlers are asked about one file in turn: only the first detects it."""
    from .sniffing import media_type_of

    return media_type_of(head, name)
