"""Parts of files that are inside of other files."""

from __future__ import annotations

from abstractcore.schema import MEDIA_PART_BY_KIND, Blob, MediaPart, media_kind_of

from ..common.content import HEAD_BYTES
from ..common.media_types import is_text_type


def part_of(data: bytes, name: str, declared: str | None = None) -> MediaPart | None:
    """Returns a part with the content of a file, by the type that its content has; None if that is unknown."""
    from ..common.sniffing import media_type_of

    found = media_type_of(data[:HEAD_BYTES], name) or declared
    if not data or not found:
        return None
    short = name.rpartition("/")[2] or name
    kind = "text" if is_text_type(found) else media_kind_of(found)
    return MEDIA_PART_BY_KIND[kind](Blob.from_bytes(data, found, name=short))
