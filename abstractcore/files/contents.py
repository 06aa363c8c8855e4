"""What files become in a request: how many images, and how many bytes and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..ports import Conversion, ModelProfile
from ..ports.profiles import image_tokens
from ..schema import ContentPart, ImagePart, MediaDecision, MediaFacts, MediaPart, TextPart
from ..schema.token_counts import size_tokens, text_tokens
from .facts import FactsByFile, file_key


@dataclass(frozen=True, slots=True)
class MediaContent:
    """What one file becomes: the bytes of each of its images, of other files, and of text, as far as they are known,
    with the estimated tokens of the text.

    `image_tokens` are those of all its images; None without a rule, or if one was not measured. `facts` are those of
    the file itself, where it was measured after it had been downloaded.
    """

    images: tuple[int, ...] = ()
    other_bytes: int = 0
    text_bytes: int = 0
    text_tokens: int = 0
    image_tokens: int | None = None
    facts: MediaFacts | None = None

    def with_images(self, count: int) -> MediaContent:
        """Returns the content with fewer images."""
        tokens = self.image_tokens
        left = None if tokens is None else tokens * count // max(1, len(self.images))
        return replace(self, images=self.images[:count], image_tokens=left)


NO_CONTENT = MediaContent()


@dataclass(frozen=True, slots=True)
class MadeFiles:
    """What the decisions for the files of a call have made of them, by path; `failures` says why there is no text of a
    file that could be sent in another way.
    """

    decisions: tuple[MediaDecision, ...]
    contents: Mapping[str, MediaContent]
    failures: Mapping[str, str]


def planned_content(decision: MediaDecision, part: MediaPart) -> MediaContent:
    """Returns the facts about a file before it is converted: nothing of one that will be."""
    size = part.blob.size or 0
    if decision.route == "inline":
        return MediaContent(text_bytes=size, text_tokens=text_file_tokens(part))
    if decision.route != "native":
        return NO_CONTENT
    return MediaContent((size,)) if decision.kind == "image" else MediaContent(other_bytes=size)


def made_content(parts: Sequence[ContentPart], facts: FactsByFile, profile: ModelProfile) -> MediaContent:
    """Returns the result of a file. Of a single one, `facts` has what was measured of it."""
    images = [part for part in parts if isinstance(part, ImagePart)]
    others = [part for part in parts if not isinstance(part, ImagePart | TextPart)]
    measured = [facts.get(file_key(part.blob)) for part in (*images, *others)]
    return MediaContent(
        tuple(part.blob.size or 0 for part in images),
        sum(part.blob.size or 0 for part in others),
        sum(text_bytes(part.text) for part in parts if isinstance(part, TextPart)),
        sum(text_tokens(part.text) for part in parts if isinstance(part, TextPart)),
        _image_tokens(measured, profile) if images and not others else None,
        measured[0] if len(parts) == len(measured) == 1 else None,
    )


def conversion_tokens(conversion: Conversion) -> int | None:
    """Returns about how many tokens a conversion to text has; None if it holds other content."""
    if any(not isinstance(part, TextPart) for part in conversion.parts):
        return None
    return text_tokens(conversion.text)


def text_file_tokens(part: MediaPart) -> int:
    """Returns about how many tokens a text file has, which is not read if it is not in memory."""
    data = part.blob.data
    return size_tokens(part.blob.size or 0) if data is None else text_tokens(data.decode("utf-8", "replace"))


def text_bytes(text: str) -> int:
    """Returns how many bytes a text has in JSON."""
    return len(text.encode(errors="surrogatepass")) + sum(map(text.count, '\n"\\\t\r'))


def _image_tokens(measured: Sequence[MediaFacts | None], profile: ModelProfile) -> int | None:
    rule = profile.media_tokens.get("image")
    if rule is None:
        return None
    total = 0
    for facts in measured:
        if facts is None or facts.width is None or facts.height is None:
            return None
        total += image_tokens(facts.width, facts.height, rule)
    return total
