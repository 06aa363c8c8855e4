"""Kinds of content, and which class of part and which media types belong to each."""

from __future__ import annotations

from collections.abc import Mapping

from .parts import AudioPart, DocumentPart, ImagePart, MediaKind, MediaPart, VideoPart

MEDIA_PART_BY_KIND: Mapping[MediaKind, type[MediaPart]] = {
    "text": DocumentPart,
    "image": ImagePart,
    "audio": AudioPart,
    "video": VideoPart,
    "document": DocumentPart,
}
"""The class of part that a file of each kind becomes."""


def media_kind_of(media_type: str) -> MediaKind:
    """The kind of content that a media type names: "image" for "image/png", and "document" for what is neither image,
    audio nor video.
    """
    top = media_type.partition("/")[0]
    return top if top in ("image", "audio", "video") else "document"
