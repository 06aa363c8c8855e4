"""What guards of a server get and return: the port `Guard` makes objects with one or more of the methods here.

`with_texts`: all texts of a call or a reply, changed by a function.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

from ..schema import (
    EMPTY,
    AudioPart,
    HostedToolCall,
    HostedToolResult,
    Message,
    ModelCall,
    ModelReply,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

TextKind = Literal["text", "reasoning", "arguments", "result"]
"""What a text is of: what was said, reasoning, a string or a name in the arguments of a tool call, or the result of a
tool."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refuses a call or an answer. The client sees `reason`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Puts `text` in place of the characters from `start` to `end` of a piece of text: `Edit(*match.span(), "...")`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of an answer. `text` ends with what no client has seen yet: all that is held back, and what has just
    arrived. It begins with what was sent before, as the model wrote it: `hold_back` characters, or what an edit at its
    end has replaced. With `is_last`, no more of it comes.
    """

    text: str
    kind: TextKind
    is_last: bool


@dataclass(frozen=True, slots=True)
class GuardContext:
    """What a guard is told of a call. `model` is the one that answers, as "provider/model", `asked` the name that the
    client used, `key` the name of the client's key, None without keys. `call` is as the guards before have left it.

    `operation` is "chat"; of other calls as in their records: "t2i" and "i2i" (images), "tts_stream" (speech), "t2m"
    (music), "transcribe", "moderate". Such a call has a message for each text of the request, and its model is
    "voice/NAME" and the like.
    """

    trace_id: str
    model: str
    asked: str
    key: str | None
    call: ModelCall
    operation: str = "chat"


CallVerdict: TypeAlias = ModelCall | Refusal | None
"""A changed call, a refusal, or None to allow the call as it is."""
ReplyVerdict: TypeAlias = ModelReply | Refusal | None
"""A changed reply, a refusal, or None to allow the reply as it is."""
TextVerdict: TypeAlias = Sequence[Edit] | Refusal | None
"""Changes of a piece in order, a refusal, or None to allow the piece as it is."""


@runtime_checkable
class ChecksCalls(Protocol):
    """Looks at calls before they are sent."""

    def check_call(self, call: ModelCall, context: GuardContext) -> Awaitable[CallVerdict] | CallVerdict:
        """Returns the verdict about a call. Model, provider and `stream` cannot be changed."""
        ...


@runtime_checkable
class ChecksReplies(Protocol):
    """Looks at whole answers. Without `check_text`, streams are held back to their end for it."""

    def check_reply(self, reply: ModelReply, context: GuardContext) -> Awaitable[ReplyVerdict] | ReplyVerdict:
        """Returns the verdict about an answer."""
        ...


@runtime_checkable
class ChecksTexts(Protocol):
    """Looks at streams as they come; without `check_reply`, at the texts of whole answers too.

    A character is sent when the `hold_back` characters after it have been seen, or the end: what is not longer than
    that is seen as a whole before any of it is sent.
    """

    @property
    def hold_back(self) -> int:
        """How many characters of each text of a stream are held back, at most 65,536."""
        ...

    def check_text(self, piece: TextPiece, context: GuardContext) -> Awaitable[TextVerdict] | TextVerdict:
        """Returns the verdict about a piece of an answer. What was sent before is not changed by edits of it."""
        ...


Change: TypeAlias = Callable[[str, TextKind], str]
H = TypeVar("H", ModelCall, ModelReply)


def with_texts(holder: H, change: Change) -> H:
    """Returns a call or a reply with `change(text, kind)` for each of its texts in order; `holder` itself if none is
    changed. Of arguments that are JSON, each string is a text, and each name in an object.

    With a changed text, its citations and signature are left out, and what the provider says besides of a reply, or of
    a tool that it ran: all of these may quote it. Audio whose transcript is changed becomes the text.
    """
    if isinstance(holder, ModelReply):
        parts = _parts(holder.parts, change)
        return holder if parts is holder.parts else replace(holder, parts=parts, provider_metadata=EMPTY)
    messages = tuple(_message(message, change) for message in holder.messages)
    same = all(new is old for new, old in zip(messages, holder.messages, strict=True))
    return holder if same else holder.with_(messages=messages)


def _message(message: Message, change: Change) -> Message:
    parts = _parts(message.parts, change)
    return message if parts is message.parts else replace(message, parts=parts)


def _parts(parts: tuple[Part, ...], change: Change) -> tuple[Part, ...]:
    changed = tuple(part_with_texts(part, change) for part in parts)
    return parts if all(new is old for new, old in zip(changed, parts, strict=True)) else changed


def part_with_texts(part: Part, change: Change) -> Part:
    """Returns a part with its texts changed, as `with_texts`."""
    if isinstance(part, TextPart):
        return _text(part, change, "text")
    if isinstance(part, ReasoningPart):
        text = change(part.text, "reasoning") if part.text else ""
        return part if text == part.text else replace(part, text=text, signature=None, redacted_data=None)
    if isinstance(part, AudioPart):
        text = change(part.transcript, "text") if part.transcript else None
        return part if text is None or text == part.transcript else TextPart(text)
    if isinstance(part, ToolCall | HostedToolCall):
        text = _arguments(part.arguments_text, change)
        changed = part if text == part.arguments_text else replace(part, arguments_text=text)
    elif isinstance(part, ToolResult | HostedToolResult):
        content = tuple(_text(each, change, "result") if isinstance(each, TextPart) else each for each in part.content)
        same = all(new is old for new, old in zip(content, part.content, strict=True))
        changed = part if same else replace(part, content=content)
    else:
        return part
    if changed is not part and isinstance(changed, HostedToolCall | HostedToolResult):
        return replace(changed, provider_metadata=EMPTY)
    return changed


def _text(part: TextPart, change: Change, kind: TextKind) -> TextPart:
    text = change(part.text, kind) if part.text else ""
    if text == part.text:
        return part
    return replace(part, text=text, citations=()) if text else TextPart("")


def _arguments(text: str, change: Change) -> str:
    try:
        plain: Any = json.loads(text, object_pairs_hook=_unique) if text.strip() else {}
    except (ValueError, RecursionError):
        return change(text, "arguments")
    try:
        changed = _strings(plain, change)
    except RecursionError:
        return change(text, "arguments")
    return text if changed == plain else json_text(changed)


def json_text(value: object) -> str:
    """Returns JSON with as few escapes as can be: halves of surrogate pairs cannot be sent without."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object; raises `ValueError` for a duplicate key: readers differ in which of its values they take."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {key!r}")
        found[key] = value
    return found


def _strings(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value, "arguments") if value else value
    if isinstance(value, list):
        return [_strings(item, change) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {_strings(name, change): _strings(item, change) for name, item in items}
    return value
