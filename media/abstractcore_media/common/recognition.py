"""Recognises a file by its media type: the declared one, else the one detected from its content and name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from abstractcore.schema import MediaKind

if TYPE_CHECKING:
    from abstractcore.ports import Recognised


def recognised(
    kind: MediaKind, is_ours: Callable[[str], bool], head: bytes, name: str, declared: str | None
) -> Recognised | None:
    """Returns the result of `recognise` for a handler of `kind` whose media types `is_ours` accepts."""
    media_type = _sniffed(head, name) if declared is None else declared
    if media_type is None or not is_ours(media_type):
        return None
    from abstractcore.ports import Recognised

    return Recognised(kind, media_type)


@lru_cache(maxsize=4)
def _sniffed(head: bytes, name: str) -> str | None:
    """Returns the detected type. All handlers are asked about one file in turn: only the first detects it."""
    from .sniffing import media_type_of

    return media_type_of(head, name)
