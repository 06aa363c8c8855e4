"""Images: recognised by their first bytes, fitted to the limits of models, described in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import MediaError
from abstractcore.ports import Fallback
from abstractcore.schema import Blob, ImagePart, MediaFacts, MediaPart

from ..common.content import check_family, content_of, source_of
from ..common.media_types import extensions_of, is_text_type
from ..common.recognition import recognised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from abstractcore.ports import (
        Conversion,
        Fitted,
        MediaContext,
        Recognised,
    )
    from abstractcore.ports.profiles import MediaLimit

    from .ocr import TextReader


_TEXT = frozenset({"text"})
_IMAGES = frozenset({"image/jpeg", "image/png"})
_READ_BY_MOST = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""The formats that OpenAI, Anthropic, Bedrock, Mistral, Groq and most local servers read; Gemini reads no GIF:
https://developers.openai.com/api/docs/guides/images-vision, https://platform.claude.com/docs/en/build-with-claude/vision,
https://ai.google.dev/gemini-api/docs/image-understanding.
"""
_CAPTIONED: Mapping[MediaLimit, int] = {"image_pixels": 2000}
"""What a vision model gets for a description: the size up to which vendors read several images."""


_PILLOW = {"pillow": "PIL"}
_READER = {**_PILLOW, "rapidocr": "rapidocr"}


class ImageHandler:
    """Handles images. SVG is text, and is left to the text handler."""

    name = "image"
    fallbacks: Sequence[Fallback] = (
        Fallback("convert", _IMAGES, packages=_PILLOW),
        Fallback("caption", _TEXT, needs="vision_model", packages=_PILLOW),
        Fallback("ocr", _TEXT, packages=_READER),
        Fallback("observe", _TEXT, packages=_READER),
    )
    extensions = extensions_of("image/")
    max_frames = 8
    """Frames of an animation, or pages of a file, that are sent or read."""

    @property
    def _reader(self) -> TextReader:
        from .ocr import shared_reader

        return shared_reader()

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of an image; None for any other file."""
        return recognised("image", _is_image, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` if the content does not match the declared format: vendors compare the two."""
        found = check_family(part, "image/")
        claimed = part.blob.media_type
        if found != claimed:
            source = source_of(part)
            raise MediaError(
                f"{source} is declared as {claimed}, but its content is {found}.",
                source=source,
                hint=f"Declare it as {found}.",
            )

    def measure(self, part: MediaPart, context: MediaContext | None = None) -> MediaFacts:
        """Returns size as displayed and number of frames, without decoding pixels.

        Raises `MediaError` for a file that cannot be read, and `MissingExtraError` without Pillow.
        """
        from .opening import measured

        facts = measured(content_of(part), source_of(part))
        return MediaFacts(facts.width, facts.height, facts.frames)

    def fit(self, part: MediaPart, limits: Mapping[MediaLimit, int], accepted: Set[str] = frozenset()) -> Fitted:
        """Returns the image upright, in sRGB, within the limits and without metadata, in one of the `accepted` types,
        as PNG, JPEG, GIF or WebP without any; an animation or a file of pages as several images.

        The pixels of an image that needs no change are not touched. Raises `MediaError` for a file that cannot be
        read, has too many pixels, or cannot be made small enough, `UnsupportedContentError` if no accepted type can be
        written, and `MissingExtraError` without Pillow.
        """
        from abstractcore.ports import Fitted

        from .fitting import fit

        data, source = content_of(part), source_of(part)
        found = fit(data, limits, source, max_frames=self.max_frames, accepted=accepted or _READ_BY_MOST)
        if found.is_unchanged and found.files[0][1] == part.blob.media_type:
            return Fitted((part,), found.lost)
        parts = (replace(part, blob=Blob.from_bytes(*file, name=_renamed(part, file[1]))) for file in found.files)
        return Fitted(tuple(parts), found.lost)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the image as PNG or JPEG, the description of the vision model, the text of the image, or measured
        facts about it.

        "convert" comes first where it is allowed, and a caption next. Then "ocr" holds for an image with the text of a
        page, and "observe" for others.

        Raises `MediaError` for a file that cannot be read, and where the policy "ocr" finds no text; the errors of
        `generate` of the vision model; and `MissingExtraError` without Pillow or RapidOCR.
        """
        from .words import as_images, converted_to_text, described

        source = source_of(part)
        words = context.fallbacks or ("ocr", "observe")
        if "convert" in context.fallbacks:
            most = context.max_images
            limits: Mapping[MediaLimit, int] = {} if most is None else {"images": most}
            converted = as_images(self.fit(part, limits, context.accepted_outputs & _IMAGES))
            count = sum(isinstance(each, ImagePart) for each in converted.parts)
            return replace(converted, has_fewer_images=count == most and count < self.max_frames)
        if words[0] == "caption":
            return described(self.fit(part, _CAPTIONED), source, context)
        return converted_to_text(
            content_of(part), source, self._reader, context, allowed=words, max_frames=self.max_frames
        )


def _is_image(media_type: str) -> bool:
    return media_type.startswith("image/") and not is_text_type(media_type)


def _renamed(part: MediaPart, media_type: str) -> str | None:
    """Returns the name of the file with the extension of its new type."""
    name = part.blob.name
    if not name or media_type == part.blob.media_type:
        return name
    stem, dot, _ = name.rpartition(".")
    return f"{stem if dot else name}.{'jpg' if media_type == 'image/jpeg' else media_type.partition('/')[2]}"
