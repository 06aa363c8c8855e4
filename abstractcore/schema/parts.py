"""The parts messages and replies are made of. A part is data: it knows no provider and does no I/O."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, cast

from .blobs import Blob
from .json_values import EMPTY, JSONObject, JSONValue, SchemaError, check_text, freeze, freeze_object

MediaKind = Literal["text", "image", "audio", "video", "document"]


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a span of text comes from; `start` and `end` are character offsets into the part's text, if known."""

    source: str
    title: str | None = None
    quote: str | None = None
    start: int | None = None
    end: int | None = None
    provider_metadata: JSONObject = EMPTY


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text, with the citations a model gave for spans of it."""

    type: ClassVar[str] = "text"
    text: str
    citations: tuple[Citation, ...] = ()

    def __post_init__(self) -> None:
        check_text(self.text, "text")


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A model's reasoning, kept apart from its answer.

    `signature` and `redacted_data` are the vendor's, replayed unchanged and only to `origin` (`provider/model`).
    """

    type: ClassVar[str] = "reasoning"
    text: str = ""
    signature: str | None = None
    redacted_data: str | None = None
    origin: str | None = None

    def __post_init__(self) -> None:
        check_text(self.text, "text")


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image. `detail` is how closely the model should look, where a vendor offers the choice."""

    type: ClassVar[str] = "image"
    blob: Blob
    detail: Literal["auto", "low", "high"] | None = None


@dataclass(frozen=True, slots=True)
class AudioPart:
    """Sound. In a reply, `transcript` is what the model says in it, and `id` the vendor's name for it."""

    type: ClassVar[str] = "audio"
    blob: Blob
    transcript: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class VideoPart:
    """Moving pictures, with or without sound."""

    type: ClassVar[str] = "video"
    blob: Blob


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document: PDF, office formats, or text of a kind (`text/markdown`, `text/csv`) kept as a file."""

    type: ClassVar[str] = "document"
    blob: Blob


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to run a tool.

    `arguments_text` is exactly what was received. `arguments` is that text parsed, or None where it is not a JSON
    object; `arguments_error` then says why. An empty text counts as no arguments.
    """

    type: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments_text: str = "{}"
    signature: str | None = None
    """A vendor's signature over the reasoning behind this call, replayed unchanged."""
    arguments: JSONObject | None = field(init=False, compare=False)
    arguments_error: str | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_text(self.name, "name")
        check_text(self.arguments_text, "arguments_text")
        arguments, error = _parse_arguments(self.arguments_text)
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "arguments_error", error)

    @classmethod
    def of(cls, id: str, name: str, arguments: JSONObject) -> ToolCall:
        """A call made from a mapping; raises `SchemaError` for what JSON cannot carry."""
        return cls(id, name, json.dumps(freeze_object(arguments, "arguments"), ensure_ascii=False))


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
class ToolResult:
    """What a tool gave back for the call `call_id`: text and media parts, or an error's text with `is_error`."""

    type: ClassVar[str] = "tool_result"
    call_id: str
    content: tuple[ContentPart, ...]
    is_error: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", join_texts(self.content, "content"))

    @classmethod
    def text(cls, call_id: str, text: str, *, is_error: bool = False) -> ToolResult:
        """A result that is one text."""
        return cls(call_id, (TextPart(text),), is_error)


@dataclass(frozen=True, slots=True)
class HostedToolCall:
    """A tool the provider ran by itself (web search, code), as it reported it."""

    type: ClassVar[str] = "hosted_tool_call"
    id: str
    name: str
    arguments_text: str = "{}"
    provider_metadata: JSONObject = EMPTY


@dataclass(frozen=True, slots=True)
class HostedToolResult:
    """What a provider's own tool gave."""

    type: ClassVar[str] = "hosted_tool_result"
    call_id: str
    content: tuple[ContentPart, ...] = ()
    provider_metadata: JSONObject = EMPTY

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", join_texts(self.content, "content"))


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """Something a provider sent that the schema has no name for: kept, and replayed to that provider only."""

    type: ClassVar[str] = "opaque"
    provider: str
    kind: str
    data: JSONValue = None

    def __post_init__(self) -> None:
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


def join_texts(parts: object, path: str, allowed: tuple[type, ...] = CONTENT_PARTS) -> tuple[ContentPart, ...]:
    """The canonical order-preserving form of a sequence of parts: no empty text, neighbouring plain texts joined.

    Raises `SchemaError` for anything that is not one of the `allowed` parts.
    """
    if not isinstance(parts, tuple | list):
        raise SchemaError(f"expected a sequence of parts, got {type(parts).__name__}", path)
    joined: list[ContentPart] = []
    for index, part in enumerate(cast("list[object]", parts)):
        if not isinstance(part, allowed):
            raise SchemaError(f"a {type(part).__name__} cannot stand here", f"{path}[{index}]")
        before = joined[-1] if joined else None
        if not isinstance(part, TextPart):
            joined.append(cast(ContentPart, part))
        elif isinstance(before, TextPart) and not before.citations and not part.citations:
            joined[-1] = TextPart(before.text + part.text)
        elif part.text:
            joined.append(part)
    return tuple(joined)
