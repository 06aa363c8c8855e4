"""The parts messages and replies are made of. A part is data: it knows no provider and does no I/O.

`provider_options` are what one provider is told, or has told, of a part and the schema has no field for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias, cast, get_args

from .base_error import SchemaError
from .blobs import Blob
from .cache_points import CachePoint, check_cache
from .display import Displayed
from .frozen_json import EMPTY, freeze, freeze_given, freeze_object
from .immutable import Immutable
from .json_values import (
    JSONObject,
    JSONValue,
    check_choice,
    check_class,
    check_count,
    check_flag,
    check_items,
    check_text,
)
from .provider_options import NO_OPTIONS, ProviderOptions, given_options

MediaKind = Literal["text", "image", "audio", "video", "document"]
Detail = Literal["auto", "low", "high"]
_DETAILS = get_args(Detail)


def _clean_optional(part: object, *names: str) -> None:
    """Optional texts: an empty one is None."""
    for name in names:
        value = getattr(part, name)
        if value is not None:
            object.__setattr__(part, name, check_text(value, name) or None)


def _check_media(part: MediaPart) -> None:
    check_class(part.blob, Blob, "blob")
    check_cache(part.cache)
    _freeze_options(part)


def _freeze_options(part: ContentPart | ToolCall | ToolResult) -> None:
    if part.provider_options is not NO_OPTIONS:
        object.__setattr__(part, "provider_options", given_options(part.provider_options))


def _freeze_metadata(part: Citation | HostedToolCall | HostedToolResult) -> None:
    object.__setattr__(part, "provider_metadata", freeze_given(part.provider_metadata, "provider_metadata"))


@dataclass(frozen=True, slots=True)
class Citation(Immutable):
    """Where a span of text comes from; `start` and `end` are character offsets into the part's text.

    A part fills in missing offsets: a citation without them is for the whole part.
    """

    source: str
    title: str | None = None
    quote: str | None = None
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
        """The citation in a text where its part, of `length` characters, begins at `offset`."""
        start = 0 if self.start is None else self.start
        end = length if self.end is None else self.end
        if offset == 0 and start == self.start and end == self.end:
            return self
        return replace(self, start=start + offset, end=end + offset)


@dataclass(frozen=True, slots=True)
class TextPart(Immutable):
    """Text, with the citations a model gave for spans of it. A text with a cache point or options is not empty."""

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
    """A model's reasoning, kept apart from its answer.

    `signature` and `redacted_data` are the vendor's, replayed unchanged and only to `origin`: `provider/model`, under
    the name that the model was called by.
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
class ImagePart(Immutable, Displayed):
    """An image. `detail` is how closely the model should look, where a vendor offers the choice."""

    type: ClassVar[str] = "image"
    blob: Blob
    detail: Detail | None = None
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        _check_media(self)
        if self.detail is not None:
            check_choice(self.detail, _DETAILS, "detail")


@dataclass(frozen=True, slots=True)
class AudioPart(Immutable, Displayed):
    """Sound. In a reply, `transcript` is what the model says in it, and `id` the vendor's name for it."""

    type: ClassVar[str] = "audio"
    blob: Blob
    transcript: str | None = None
    id: str | None = None
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        _check_media(self)
        _clean_optional(self, "transcript", "id")


@dataclass(frozen=True, slots=True)
class VideoPart(Immutable, Displayed):
    """Moving pictures, with or without sound."""

    type: ClassVar[str] = "video"
    blob: Blob
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        _check_media(self)


@dataclass(frozen=True, slots=True)
class DocumentPart(Immutable):
    """A document: PDF, office formats, or text of a kind (`text/markdown`, `text/csv`) kept as a file."""

    type: ClassVar[str] = "document"
    blob: Blob
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        _check_media(self)


@dataclass(frozen=True, slots=True)
class ToolCall(Immutable):
    """A model's request to run a tool.

    `arguments_text` is exactly what was received. `arguments` is that text parsed, or None where it is not a JSON
    object; `arguments_error` then says why. An empty text counts as no arguments. The arguments are a dict of JSON that
    refuses changes: `copy.deepcopy(call.arguments)` gives a plain one.
    """

    type: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments_text: str = "{}"
    signature: str | None = None
    """A vendor's signature over the reasoning behind this call, replayed unchanged."""
    cache: CachePoint | None = None
    provider_options: ProviderOptions = NO_OPTIONS
    arguments: JSONObject | None = field(init=False, compare=False)
    arguments_error: str | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_text(self.name, "name")
        check_text(self.arguments_text, "arguments_text")
        _clean_optional(self, "signature")
        check_cache(self.cache)
        _freeze_options(self)
        arguments, error = _parse_arguments(self.arguments_text)
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "arguments_error", error)

    @classmethod
    def of(cls, id: str, name: str, arguments: JSONObject) -> ToolCall:
        """A call made from a mapping; raises `SchemaError` for what JSON cannot carry."""
        return cls(id, name, json.dumps(freeze_object(arguments, "arguments"), ensure_ascii=False))

    def result(self, *content: str | ContentPart, is_error: bool = False) -> ToolResult:
        """What the tool returned for this call, for `messages` after the response that asked for it.

        Texts and media parts in order; with `is_error`, what went wrong. Raises `SchemaError` for anything else.
        """
        return ToolResult.of(self.id, *content, is_error=is_error)


def _parse_arguments(text: str) -> tuple[JSONObject | None, str | None]:
    if not text.strip():
        return EMPTY, None
    try:
        value: JSONValue = freeze(json.loads(text, parse_constant=_refuse_constant))
    except RecursionError:
        return None, "nested too deeply"
    except ValueError as error:
        return None, str(error)
    if not isinstance(value, dict):
        return None, f"expected a JSON object, got {type(value).__name__}"
    return value, None


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


@dataclass(frozen=True, slots=True)
class ToolResult(Immutable):
    """What a tool gave back for the call `call_id`: text and media parts, or an error's text with `is_error`."""

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
        """A result that is one text."""
        return cls(call_id, (TextPart(text),), is_error)

    @classmethod
    def of(cls, call_id: str, *content: str | ContentPart, is_error: bool = False) -> ToolResult:
        """A result of texts and media parts in order; raises `SchemaError` for anything else."""
        for index, item in enumerate(content):
            if not isinstance(item, (str, *CONTENT_PARTS)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise SchemaError(
                    f"expected text or a media part, got {type(item).__name__}",
                    f"content[{index}]",
                    hint="Write data as text: json.dumps(value).",
                )
        return cls(call_id, tuple(TextPart(item) if isinstance(item, str) else item for item in content), is_error)


@dataclass(frozen=True, slots=True)
class HostedToolCall(Immutable):
    """A tool the provider ran by itself (web search, code), as it reported it."""

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
    """What a provider's own tool gave."""

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
    """Something a provider sent that the schema has no name for: kept, and replayed to that provider only."""

    type: ClassVar[str] = "opaque"
    provider: str
    kind: str
    data: JSONValue = None

    def __post_init__(self) -> None:
        check_text(self.provider, "provider")
        check_text(self.kind, "kind")
        object.__setattr__(self, "data", freeze(self.data, "data"))


ContentPart: TypeAlias = TextPart | ImagePart | AudioPart | VideoPart | DocumentPart
MediaPart: TypeAlias = ImagePart | AudioPart | VideoPart | DocumentPart
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

MEDIA_PARTS = (ImagePart, AudioPart, VideoPart, DocumentPart)
CONTENT_PARTS = (TextPart, *MEDIA_PARTS)
ALL_PARTS = (*CONTENT_PARTS, ReasoningPart, ToolCall, ToolResult, HostedToolCall, HostedToolResult, OpaquePart)


def canonical_parts(parts: object, path: str, allowed: tuple[type, ...] = ALL_PARTS) -> tuple[Part, ...]:
    """The canonical form of a sequence of parts, in the same order.

    Empty texts and reasonings are left out. Neighbouring texts are one, with the citations of both, unless a cache
    point stands between them or one has provider options; so are neighbouring plain reasonings of one origin. Raises
    `SchemaError` for anything that is not one of the `allowed`.
    """
    if not isinstance(parts, tuple | list):
        raise SchemaError(f"expected a sequence of parts, got {type(parts).__name__}", path)
    canonical: list[Part] = []
    for index, part in enumerate(cast("list[object]", parts)):
        if not isinstance(part, allowed):
            raise SchemaError(f"a {type(part).__name__} cannot stand here", f"{path}[{index}]")
        if isinstance(part, TextPart | ReasoningPart) and canonical:
            joined = _joined(canonical[-1], part)
            if joined is not None:
                canonical[-1] = joined
                continue
        if not _is_empty(part):
            canonical.append(cast(Part, part))
    return tuple(canonical)


def canonical_content(parts: object, path: str) -> tuple[ContentPart, ...]:
    """As `canonical_parts`, for what a tool gives."""
    return cast("tuple[ContentPart, ...]", canonical_parts(parts, path, CONTENT_PARTS))


def _is_empty(part: object) -> bool:
    if isinstance(part, TextPart):
        return not part.text
    return isinstance(part, ReasoningPart) and part.is_plain and not part.text


def _joined(before: Part, part: Part) -> Part | None:
    """The two as one part; None if they stay apart."""
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
