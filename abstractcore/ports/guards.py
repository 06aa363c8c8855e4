"""What guards of a server get and return: the port `Guard` makes objects with one or more of the methods here."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from ..schema import ModelCall, ModelReply

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
