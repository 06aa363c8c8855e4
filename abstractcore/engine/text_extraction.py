"""Extracts the text of a file that was sent to the model natively, for evidence and verification."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from ..errors import MediaError
from ..ports import Conversion, MediaContext, MediaHandler
from ..schema import MEDIA_PART_BY_KIND, Blob, MediaKind, MediaPart
from .cached_conversions import convert
from .lowering.media_routes import source_name
from .nested_files import NestedFiles

_TEXT = frozenset({"text"})
_NO_WORDS = frozenset({"caption", "observe", "frames", "frames+transcript"})
"""Fallbacks whose text is not, or not only, the words of a file."""
_READ: Mapping[MediaKind, str] = {"image": "ocr", "video": "transcript"}


def extract_text(
    part: MediaPart,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> Conversion:
    """Returns the text of a file, from its handler; blocks. `artifact` gives the content that has a hash.

    Raises `MediaError`, `ArtifactError` or `MissingExtraError` for a file without text that can be read here.
    """
    return _extract(part, handlers, context, artifact, frozenset())


def extract_words(
    part: MediaPart,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> Conversion:
    """As `extract_text`, without what a model says about a file, and without facts about it: a picture of 1,280 pixels
    does not state the figure 1,280. Pictures in files are read, and recordings transcribed.
    """
    context = replace(context, captioner=None)
    context = replace(context, to_text=NestedFiles(handlers, _READ, context))
    return _extract(part, handlers, context, artifact, _NO_WORDS)


def _extract(
    part: MediaPart,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
    without: Collection[str],
) -> Conversion:
    source = source_name(part.blob)
    handler = next((each for each in handlers if _is_for(each, part)), None)
    fallbacks = [] if handler is None else [each for each in handler.fallbacks if "text" in each.outputs]
    fallbacks = [each for each in fallbacks if each.name not in without]
    if handler is None or not fallbacks:
        raise MediaError(f"{source} has no text that can be extracted", source=source)
    names = tuple(each.name for each in fallbacks)
    return convert(handler, with_bytes(part, artifact), replace(context, fallbacks=names, accepted_outputs=_TEXT))


def with_bytes(part: MediaPart, artifact: Callable[[str], bytes]) -> MediaPart:
    """Returns a file that can be read here; raises `MediaError` for one that is elsewhere."""
    blob = part.blob
    if blob.form not in ("bytes", "file", "artifact"):
        source = source_name(blob)
        raise MediaError(f"{source} is a URL or a provider file, which is never downloaded here", source=source)
    if blob.form != "artifact":
        return part
    return replace(part, blob=Blob.from_bytes(artifact(blob.sha256 or ""), blob.media_type, name=blob.name))


def _is_for(handler: MediaHandler, part: MediaPart) -> bool:
    found = handler.recognise(b"", part.blob.name or "", part.blob.media_type)
    return found is not None and MEDIA_PART_BY_KIND[found.kind] is type(part)
