"""`GenerateResponse`: what the user gets: the last reply with everything that happened on the way to it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar, overload

from .base_error import SchemaError
from .call_warnings import CallWarning
from .display import Displayed, small_print
from .immutable import Immutable
from .messages import Message
from .parts import MediaKind, Part, ToolCall
from .replies import FinishReason, ModelReply
from .reprs import ShortRepr, short_repr
from .usage import Usage

T = TypeVar("T")
MediaRoute = Literal["native", "inline", "fallback"]


@dataclass(frozen=True, slots=True)
class MediaSent(Immutable):
    """What went to the model in a file's place: its media type, its size in bytes, and the text, if it is text.

    The text is the file's alone; the model gets it with a label and delimiters around it. Where one file became
    several parts, such as the images of its pages, `media_type` is "multipart/mixed", `size` is that of all of it, and
    `parts` has one entry a part, in order.
    """

    media_type: str
    size: int | None
    text: str | None = None
    parts: tuple[MediaSent, ...] = ()


@dataclass(frozen=True, slots=True)
class MediaDecision(Immutable):
    """What was decided for one file, and why.

    `route` is "native" (the file itself), "inline" (a text file, as text) or "fallback" (what `handler` made of it).
    `gives` is what the handler may make of it for this model: "text", or media types such as "image/png"; empty for a
    file that is sent as it is. `sent` and `usage` are None in a plan, which sends nothing; `usage` also where no model
    was asked.
    """

    part_path: str
    source: str
    type: str
    kind: MediaKind
    route: MediaRoute
    reason: str
    handler: str | None = None
    sent: MediaSent | None = None
    usage: Usage | None = None
    gives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan(Immutable, Sequence[MediaDecision]):
    """What would be sent of a call: a sequence of the decisions for its files, with the warnings known beforehand.

    `warnings` name what the model does not take, and options that nothing takes. What the provider's wire format cannot
    say is known when the request is written: those warnings are in the response only.
    """

    media: tuple[MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()

    def __len__(self) -> int:
        return len(self.media)

    @overload
    def __getitem__(self, index: int) -> MediaDecision: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[MediaDecision, ...]: ...

    def __getitem__(self, index: int | slice) -> MediaDecision | tuple[MediaDecision, ...]:
        return self.media[index]


@dataclass(frozen=True, slots=True)
class AttemptRecord(Immutable):
    """One try at the provider: when it began (seconds since the epoch), how long it took, and how it failed, if so."""

    number: int
    started_at: float
    seconds: float
    status: int | None = None
    request_id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class GenerateResponse(ShortRepr, Displayed, Generic[T]):
    """The answer, with what it took: tokens over all attempts, US dollars (None if no price is known), decisions.

    `output` is the answer validated as the `response_model`, else None. Read back from JSON, it is JSON data.
    """

    reply: ModelReply
    output: T
    steps: tuple[ModelReply, ...]
    attempts: tuple[AttemptRecord, ...]
    usage: Usage
    warnings: tuple[CallWarning, ...]
    media: tuple[MediaDecision, ...]
    provider: str
    model: str
    cost: float | None
    trace_id: str
    seconds: float

    @property
    def content(self) -> str:
        """The answer's text."""
        return self.reply.text

    @property
    def message(self) -> Message:
        """The answer as the assistant's message of a conversation; raises `SchemaError` if the answer is empty."""
        message = self.reply.message()
        if message is None:
            raise SchemaError(
                f"the answer is empty (it ended with {self.finish_reason!r}): there is no message", "reply"
            )
        return message

    @property
    def parts(self) -> tuple[Part, ...]:
        """The answer's parts in order: text, reasoning, tool calls, media."""
        return self.reply.parts

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools the model asks to run."""
        return self.reply.tool_calls

    @property
    def reasoning(self) -> str:
        """The model's reasoning, where the provider shows it."""
        return self.reply.reasoning

    @property
    def finish_reason(self) -> FinishReason:
        """Why the model stopped."""
        return self.reply.finish_reason

    def __str__(self) -> str:
        return self.content

    def _repr_html_(self) -> str:
        """The answer as HTML, with how it ended and what was warned of below it."""
        ended = f"{self.provider}/{self.model}: {self.finish_reason}"
        return Displayed._repr_html_(self) + small_print(ended, *map(str, self.warnings))

    def __repr__(self) -> str:
        shown = {
            "output": self.output,
            "tool_calls": self.tool_calls or None,
            "finish_reason": self.finish_reason,
            "model": f"{self.provider}/{self.model}",
            "usage": self.usage,
            "cost": self.cost,
            "media": len(self.media) or None,
            "warnings": len(self.warnings) or None,
        }
        given = [f"{name}={short_repr(value)}" for name, value in shown.items() if value is not None]
        return f"GenerateResponse({', '.join([short_repr(self.content), *given])})"

    def __deepcopy__(self, memo: dict[int, object]) -> GenerateResponse[T]:
        """A copy with an `output` of its own: all else cannot change."""
        return replace(self, output=deepcopy(self.output, memo))
