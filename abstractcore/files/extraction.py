"""Reads a file that was sent to the model, for evidence and verification: its text, a page of it as an image, what is
said in spans of a recording.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import MediaError
from ..ports import Conversion, MediaContext, MediaHandler, Retranscribes
from ..schema import MEDIA_PART_BY_KIND, ImagePart, MediaControls, MediaKind, MediaPart
from .cached_conversions import NestedFiles, convert
from .parts import handler_for, source_name, with_content

_TEXT = frozenset({"text"})
_NO_WORDS = frozenset({"caption", "observe", "frames", "frames+transcript"})
"""Fallbacks whose text is not, or not only, the words of a file."""
_READ: Mapping[MediaKind, str] = {"image": "ocr", "video": "transcript"}
_PAGES = "pages"
_IMAGES = frozenset({"image/png", "image/jpeg"})


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
    return with_content(part, artifact)


def _is_for(handler: MediaHandler, part: MediaPart) -> bool:
    found = handler.recognise(b"", part.blob.name or "", part.blob.media_type)
    return found is not None and MEDIA_PART_BY_KIND[found.kind] is type(part)


def retranscribe(
    part: MediaPart,
    spans: Sequence[tuple[float, float]],
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> Conversion | None:
    """Returns a second transcript of spans of a recording, or the stored one; None without such means.

    Blocks. Raises `MediaError`, `ArtifactError`, `MissingExtraError` or `ModelStoreError`.
    """
    handler, _ = handler_for(part, handlers)
    if not isinstance(handler, Retranscribes):
        return None
    heard = convert(_Retranscription(handler, spans), with_bytes(part, artifact), context)
    return heard if heard.anchors else None


@dataclass(frozen=True, slots=True)
class _Retranscription:
    """The second means of a handler, as a handler whose conversions are kept."""

    handler: Retranscribes
    spans: Sequence[tuple[float, float]]
    fallbacks = ()

    @property
    def name(self) -> str:
        """The name, for kept conversions: what is heard depends on the spans."""
        return f"second hearing of {self.spans}"

    def recognise(self, head: bytes, name: str, declared: str | None) -> None:
        """It recognises no files."""

    def check(self, part: MediaPart) -> None:
        """Nothing is checked before."""

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the second transcript; without anchors, if there is no second means."""
        return self.handler.retranscribe(part, self.spans, context) or Conversion("", "")


def page_words(
    part: MediaPart,
    page: int,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> str | None:
    """Returns the words that are read on the image of a page, from 1; None for a file whose handler draws no pages.

    Blocks. Raises `MediaError`, `ArtifactError` or `MissingExtraError`.
    """
    handler, _ = handler_for(part, handlers)
    draws = handler is not None and any(each.name == _PAGES and _PAGES in each.controls for each in handler.fallbacks)
    if handler is None or not draws:
        return None
    controls = replace(part.controls or MediaControls(), pages=str(page))
    part = replace(with_bytes(part, artifact), controls=controls)
    context = replace(context, captioner=None)
    read = NestedFiles(handlers, {"image": "ocr"}, context)
    drawn = convert(handler, part, replace(context, fallbacks=(_PAGES,), accepted_outputs=_IMAGES))
    return "\n".join(read(image).text for image in drawn.parts if isinstance(image, ImagePart))
