"""Extracts the text of a file that was sent to the model natively, for evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import MediaError
from ..ports import Conversion, MediaContext, MediaHandler
from ..schema import MEDIA_PART_BY_KIND, Blob, MediaPart
from .cached_conversions import convert

_TEXT = frozenset({"text"})


def extract_text(
    part: MediaPart,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> Conversion:
    """Returns the text of a file, from its handler; blocks. `artifact` gives the content that has a hash.

    Raises `MediaError`, `ArtifactError` or `MissingExtraError` for a file without text that can be read here.
    """
    blob = part.blob
    source = blob.name or blob.media_type
    handler = next((each for each in handlers if _is_for(each, part)), None)
    fallbacks = [each for each in handler.fallbacks if "text" in each.outputs] if handler is not None else []
    if handler is None or not fallbacks:
        raise MediaError(f"{source} has no text that can be extracted", source=source)
    if blob.form not in ("bytes", "file", "artifact"):
        raise MediaError(f"{source} is a URL or a provider file, which is never downloaded here", source=source)
    if blob.form == "artifact":
        part = replace(part, blob=Blob.from_bytes(artifact(blob.sha256 or ""), blob.media_type, name=blob.name))
    names = tuple(each.name for each in fallbacks)
    return convert(handler, part, replace(context, fallbacks=names, accepted_outputs=_TEXT))


def _is_for(handler: MediaHandler, part: MediaPart) -> bool:
    found = handler.recognise(b"", part.blob.name or "", part.blob.media_type)
    return found is not None and MEDIA_PART_BY_KIND[found.kind] is type(part)
