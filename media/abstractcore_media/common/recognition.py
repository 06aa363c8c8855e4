"""Recognising a file by its media type: the one that is declared, else the one that its content and name show."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from abstractcore.ports import Recognised
from abstractcore.schema import MediaKind

from .sniffing import media_type_of

_sniffed = lru_cache(maxsize=4)(media_type_of)
"""Handlers are asked one after the other about one file: only the first looks at its content."""


def recognised(
    kind: MediaKind, is_ours: Callable[[str], bool], head: bytes, name: str, declared: str | None
) -> Recognised | None:
    """The answer of a handler of `kind` whose files have the media types that `is_ours` accepts."""
    media_type = _sniffed(head, name) if declared is None else declared
    return Recognised(kind, media_type) if media_type is not None and is_ours(media_type) else None
