"""The parts of messages and replies. A part is data and does no I/O.

Kinds of content, and which class of part and which media types belong to each.

`provider_options` are fields of a part that only one provider has, in requests or in its responses. `controls` say
which part of a file is wanted, and how closely.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias, cast, get_args

from ..lazy_modules import LazyModule
from .base_error import SchemaError
from .blobs import Blob, Savable, pillow_image
from .json_values import (
    EMPTY,
    NO_OPTIONS,
    JSONObject,
    JSONValue,
    ProviderOptions,
    check_choice,
    check_class,
    check_count,
    check_flag,
    check_items,
    check_text,
    checked_provider_options,
    freeze,
    freeze_object,
    freeze_without_none,
    repaired_json,
)
from .media_controls import MediaControls
from .reprs import Immutable
from .tools import CachePoint, check_cache

if TYPE_CHECKING:
    from PIL import Image
else:
    Image = LazyModule("PIL.Image")

MediaKind = Literal["text", "image", "audio", "video", "document"]
"""The kinds of files."""
Detail = Literal["auto", "low", "high", "original"]
_DETAILS = get_args(Detail)


def _clean_optional(part: object, *names: str) -> None:
    """Checks optional texts, and replaces empty ones by None."""
    for name in names:
        value = getattr(part, name)
        if value is not None:
            object.__setattr__(part, name, check_text(value, name) or None)


def _check_media(part: MediaPart) -> None:
    check_class(part.blob, Blob, "blob")
    check_cache(part.cache)
    if part.controls is not None:
        check_class(part.controls, MediaControls, "controls")
        if not part.controls.names:
            object.__setattr__(part, "controls", None)
    _freeze_options(part)


def _freeze_options(part: ContentPart | ToolCall | ToolResult) -> None:
    if part.provider_options is not NO_OPTIONS:
        object.__setattr__(part, "provider_options", checked_provider_options(part.provider_options))


def _freeze_metadata(part: Citation | HostedToolCall | HostedToolResult) -> None:
    object.__setattr__(part, "provider_metadata", freeze_without_none(part.provider_metadata, "provider_metadata"))


@dataclass(frozen=True, slots=True)
class Citation(Immutable):
    """The source of a span of text; `start` and `end` are character offsets into the part's text.

    A part sets missing offsets: a citation without them covers the whole part.
    """

    source: str
    title: str | None = None
    quote: str | None = None
    """The words of the source."""
    start: int | None = None
    end: int | None = None
    provider_metadata: JSONObject = EMPTY

    def __post_init__(self) -> None:
        check_text(self.source, "source")
        _clean_optional(self, "title", "quote")
        for name in ("start", "end"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        _freeze_metadata(self)

    def spanning(self, length: int, offset: int = 0) -> Citation:
        """Returns the citation for a text in which its part, of `length` characters, begins at `offset`."""
        start = 0 if self.start is None else self.start
        end = length if self.end is None else self.end
        if offset == 0 and start == self.start and end == self.end:
            return self
        return replace(self, start=start + offset, end=end + offset)


@dataclass(frozen=True, slots=True)
class TextPart(Immutable):
    """Text, with citations for spans of it. A text with a cache point or provider options must not be empty."""

    type: ClassVar[str] = "text"
    text: str
    citations: tuple[Citation, ...] = ()
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        check_text(self.text, "text")
        if type(self.citations) is not tuple or self.citations:
            citations = check_items(self.citations, Citation, "citations")
            object.__setattr__(self, "citations", tuple(item.spanning(len(self.text)) for item in citations))
        if self.cache is not None:
            check_cache(self.cache)
            if not self.text:
                raise SchemaError("an empty text cannot hold a cache point", "cache")
        if self.provider_options is not NO_OPTIONS:
            _freeze_options(self)
            if self.provider_options and not self.text:
                raise SchemaError("an empty text cannot hold provider options", "provider_options")


@dataclass(frozen=True, slots=True)
class ReasoningPart(Immutable):
    """A model's reasoning, separate from its answer.

    `signature` and `redacted_data` are the vendor's. They are sent back unchanged, and only to `origin`, which is
    `provider/model` with the model name of the call.
    """

    type: ClassVar[str] = "reasoning"
    text: str = ""
    signature: str | None = None
    redacted_data: str | None = None
    origin: str | None = None

    def __post_init__(self) -> None:
        check_text(self.text, "text")
        _clean_optional(self, "signature", "redacted_data", "origin")

    @property
    def is_plain(self) -> bool:
        """Whether it is text only, without a signature or redacted data."""
        return self.signature is None and self.redacted_data is None


@dataclass(frozen=True, slots=True)
class ImagePart(Immutable, Savable):
    """An image. `detail` is how closely the model should look, where a vendor offers the choice."""

    type: ClassVar[str] = "image"
    blob: Blob
    detail: Detail | None = None
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS
    controls: MediaControls | None = None

    def __post_init__(self) -> None:
        _check_media(self)
        if self.detail is not None:
            check_choice(self.detail, _DETAILS, "detail")

    def to_pil(self) -> Image.Image:
        """Returns the image as a new `PIL.Image.Image`, decoded and not turned: see `PIL.ImageOps.exif_transpose`.

        Raises `SchemaError` without the package pillow, for content that is elsewhere, and for what Pillow cannot
        decode.
        """
        return pillow_image(self.blob)


@dataclass(frozen=True, slots=True)
class AudioPart(Immutable, Savable):
    """Audio. In a reply, `transcript` is the spoken text, and `id` the vendor's id of the audio."""

    type: ClassVar[str] = "audio"
    blob: Blob
    transcript: str | None = None
    id: str | None = None
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS
    controls: MediaControls | None = None

    def __post_init__(self) -> None:
        _check_media(self)
        _clean_optional(self, "transcript", "id")

    def __display__(self) -> tuple[object, ...]:
        return (self.blob, self.transcript) if self.transcript else (self.blob,)


@dataclass(frozen=True, slots=True)
class VideoPart(Immutable, Savable):
    """A video, with or without sound."""

    type: ClassVar[str] = "video"
    blob: Blob
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS
    controls: MediaControls | None = None

    def __post_init__(self) -> None:
        _check_media(self)


@dataclass(frozen=True, slots=True)
class DocumentPart(Immutable, Savable):
    """A document: PDF, an office format, or a text file (`text/markdown`, `text/csv`)."""

    type: ClassVar[str] = "document"
    blob: Blob
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS
    controls: MediaControls | None = None

    def __post_init__(self) -> None:
        _check_media(self)


@dataclass(frozen=True, slots=True)
class ToolCall(Immutable):
    """A model's request to run a tool.

    `arguments_text` is the text as received. `arguments` is the parsed text, or None if it is not a JSON object;
    `arguments_error` then says why. An empty text and `null` mean no arguments; control characters in strings and an
    object written twice are accepted. `arguments_json` is the JSON of `arguments`: the original text wherever it is
    valid. `arguments` is immutable: `copy.deepcopy(call.arguments)` returns a plain dict.
    """

    type: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments_text: str = "{}"
    signature: str | None = None
    """A vendor's signature over the reasoning that led to this call, sent back unchanged."""
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS
    arguments: JSONObject | None = field(init=False, compare=False)
    arguments_error: str | None = field(init=False, compare=False)
    arguments_json: str | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_text(self.name, "name")
        check_text(self.arguments_text, "arguments_text")
        _clean_optional(self, "signature")
        check_cache(self.cache)
        _freeze_options(self)
        arguments, error, text = _parse_arguments(self.arguments_text)
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "arguments_error", error)
        object.__setattr__(self, "arguments_json", text)

    @classmethod
    def of(cls, id: str, name: str, arguments: JSONObject) -> ToolCall:
        """Returns a call with `arguments` as JSON; raises `SchemaError` for values that JSON cannot represent."""
        return cls(id, name, json.dumps(freeze_object(arguments, "arguments"), ensure_ascii=False))

    def result(self, *content: str | ContentPart, is_error: bool = False) -> ToolResult:
        """Returns the result of this call, for `messages` after the response that made it.

        `content` is texts and media parts in order, or the error with `is_error`. Raises `SchemaError` for other types.
        """
        return ToolResult.of(self.id, *content, is_error=is_error)


def _parse_arguments(text: str) -> tuple[JSONObject | None, str | None, str | None]:
    """Returns the arguments, the error if there are none, and their JSON."""
    if text.strip() in ("", "null"):
        return EMPTY, None, "{}"
    read = text.strip(_BLANK)
    try:
        try:
            value: JSONValue = freeze(_DECODER.decode(text))
        except json.JSONDecodeError as error:
            mended = repaired_json(text)
            if mended is None:
                return None, str(error), None
            read = mended
            value = freeze(_DECODER.decode(read))
    except RecursionError:
        return None, "nested too deeply", None
    except ValueError as error:
        return None, str(error), None
    if not isinstance(value, dict):
        return None, f"expected a JSON object, got {type(value).__name__}", None
    return value, None, read


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_BLANK: Final = " \t\r\n"
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


@dataclass(frozen=True, slots=True)
class ToolResult(Immutable):
    """The result of the tool call `call_id`: text and media parts, or the text of an error with `is_error`."""

    type: ClassVar[str] = "tool_result"
    call_id: str
    content: tuple[ContentPart, ...]
    is_error: bool = False
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        check_text(self.call_id, "call_id")
        check_flag(self.is_error, "is_error")
        check_cache(self.cache)
        _freeze_options(self)
        object.__setattr__(self, "content", canonical_content(self.content, "content"))

    @classmethod
    def text(cls, call_id: str, text: str, *, is_error: bool = False) -> ToolResult:
        """Returns a result of one text."""
        return cls(call_id, (TextPart(text),), is_error)

    @classmethod
    def of(cls, call_id: str, *content: str | ContentPart, is_error: bool = False) -> ToolResult:
        """Returns a result of texts and media parts in order; raises `SchemaError` for other types."""
        for index, item in enumerate(content):
            if not isinstance(item, (str, *CONTENT_PARTS)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise SchemaError(
                    f"expected text or a media part, got {type(item).__name__}",
                    f"content[{index}]",
                    hint="Write data as text: json.dumps(value).",
                )
        return cls(call_id, tuple(TextPart(item) if isinstance(item, str) else item for item in content), is_error)

    @property
    def as_text(self) -> str:
        """The texts of the content, without files."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class HostedToolCall(Immutable):
    """A call of a tool that the provider ran (web search, code execution), as reported by the provider."""

    type: ClassVar[str] = "hosted_tool_call"
    id: str
    name: str
    arguments_text: str = "{}"
    provider_metadata: JSONObject = EMPTY

    def __post_init__(self) -> None:
        for name in ("id", "name", "arguments_text"):
            check_text(getattr(self, name), name)
        _freeze_metadata(self)


@dataclass(frozen=True, slots=True)
class HostedToolResult(Immutable):
    """The result of a tool that the provider ran."""

    type: ClassVar[str] = "hosted_tool_result"
    call_id: str
    content: tuple[ContentPart, ...] = ()
    provider_metadata: JSONObject = EMPTY

    def __post_init__(self) -> None:
        check_text(self.call_id, "call_id")
        object.__setattr__(self, "content", canonical_content(self.content, "content"))
        _freeze_metadata(self)


@dataclass(frozen=True, slots=True)
class OpaquePart(Immutable):
    """Content of a provider that the schema has no class for; sent back unchanged, to that provider only."""

    type: ClassVar[str] = "opaque"
    provider: str
    kind: str
    data: JSONValue = None

    def __post_init__(self) -> None:
        check_text(self.provider, "provider")
        check_text(self.kind, "kind")
        object.__setattr__(self, "data", freeze(self.data, "data"))


ContentPart: TypeAlias = TextPart | ImagePart | AudioPart | VideoPart | DocumentPart
"""A part that a message of a user or a result of a tool may have."""
MediaPart: TypeAlias = ImagePart | AudioPart | VideoPart | DocumentPart
"""A file in a message."""
Part: TypeAlias = (
    TextPart
    | ReasoningPart
    | ImagePart
    | AudioPart
    | VideoPart
    | DocumentPart
    | ToolCall
    | ToolResult
    | HostedToolCall
    | HostedToolResult
    | OpaquePart
)
"""A part of a message."""

MEDIA_PARTS = (ImagePart, AudioPart, VideoPart, DocumentPart)
CONTENT_PARTS = (TextPart, *MEDIA_PARTS)
ALL_PARTS = (*CONTENT_PARTS, ReasoningPart, ToolCall, ToolResult, HostedToolCall, HostedToolResult, OpaquePart)


def canonical_parts(parts: object, path: str, allowed: tuple[type, ...] = ALL_PARTS) -> tuple[Part, ...]:
    """Returns parts in canonical form, in the same order.

    Empty texts and reasonings are left out. Adjacent texts are joined, with the citations of both, unless a cache point
    separates them or one has provider options; so are adjacent plain reasonings of one origin. Raises `SchemaError` for
    a part of a class that is not `allowed`.
    """
    if not isinstance(parts, (tuple, list)):
        raise SchemaError(f"expected a sequence of parts, got {type(parts).__name__}", path)
    canonical: list[Part] = []
    for index, part in enumerate(cast("list[object]", parts)):
        if not isinstance(part, allowed):
            raise SchemaError(f"a {type(part).__name__} is not allowed here", f"{path}[{index}]")
        if canonical and isinstance(part, TextPart | ReasoningPart):
            joined = _join(canonical[-1], part)
            if joined is not None:
                canonical[-1] = joined
                continue
        if not _is_empty(part):
            canonical.append(cast(Part, part))
    return tuple(canonical)


def canonical_content(parts: object, path: str) -> tuple[ContentPart, ...]:
    """Returns the content of a tool result in canonical form."""
    return cast("tuple[ContentPart, ...]", canonical_parts(parts, path, CONTENT_PARTS))


def _is_empty(part: object) -> bool:
    if isinstance(part, TextPart):
        return not part.text
    return isinstance(part, ReasoningPart) and part.is_plain and not part.text


def _join(before: Part, part: Part) -> Part | None:
    """Returns the two parts joined, or None if they must stay separate."""
    if isinstance(before, TextPart) and isinstance(part, TextPart):
        if before.cache is not None or before.provider_options or part.provider_options:
            return None
        moved = (citation.spanning(len(part.text), len(before.text)) for citation in part.citations)
        return TextPart(before.text + part.text, (*before.citations, *moved), part.cache)
    if not isinstance(before, ReasoningPart) or not isinstance(part, ReasoningPart):
        return None
    if before.is_plain and part.is_plain and before.origin == part.origin:
        return ReasoningPart(before.text + part.text, origin=part.origin)
    return None


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
