"""`GenerateResponse`: the result of a call: the reply, with attempts, usage, cost and media decisions.

The messages that the rounds of a tool loop, or of a typed answer, add to a conversation. `EvidenceMap`: the evidence
for the values of a typed answer, by path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Generic, TypeVar

from .. import schema
from .base_error import SchemaError
from .calls import Message
from .json_values import check_items
from .parts import Citation, HostedToolResult, Part, TextPart, ToolCall, ToolResult
from .replies import CallWarning, CostSource, FinishReason, HasDeferredCost, ModelReply, Usage, checked_cost
from .reprs import Immutable, RichDisplay, ShortRepr, short_repr, small_print


def added_messages(
    replies: Sequence[schema.ModelReply],
    steps: Sequence[schema.ToolStep],
    output_attempts: Sequence[schema.OutputAttempt] = (),
    *,
    as_sent: bool = False,
) -> tuple[Message, ...]:
    """Returns the messages that rounds add to a conversation: each reply, then the results of its calls or the
    correction of its answer. Results are left out while one of them is missing. With `as_sent`, an invalid answer in a
    call of the output tool is that call, and its correction the result; otherwise both are text, which needs no such
    tool.
    """
    messages: list[Message] = []
    for index, reply in enumerate(replies):
        attempts = [each for each in output_attempts if each.round == index and each.correction]
        if as_sent and attempts and attempts[0].tool_call is not None:
            messages += _corrected_call(reply, attempts[0].tool_call, attempts[0].correction)
            continue
        message = reply.message()
        messages += [message] if message is not None else []
        results = {step.call.id: step.result for step in steps if step.round == index}
        if reply.tool_calls and all(call.id in results for call in reply.tool_calls):
            messages.append(Message.tool(*(results[call.id] for call in reply.tool_calls)))
        messages += [Message.user(each.correction) for each in attempts]
    return tuple(messages)


def _corrected_call(reply: schema.ModelReply, call: ToolCall, correction: str) -> list[Message]:
    others = tuple(part for part in reply.parts if not isinstance(part, TextPart | ToolCall))
    result = ToolResult.text(call.id, correction, is_error=True)
    return [Message("assistant", (*others, call)), Message.tool(result)]


@dataclass(frozen=True, slots=True, eq=True)
class EvidenceMap(Immutable, Mapping[str, "schema.Evidence"]):
    """The evidence for each value of an answer, by its path: "total", "items[0].price"; "value" if it is one value."""

    entries: tuple[schema.Evidence, ...] = ()
    _by_path: dict[str, schema.Evidence] = field(
        init=False, repr=False, compare=False, default_factory=dict[str, "schema.Evidence"]
    )

    def __post_init__(self) -> None:
        if self.entries == ():  # the default of every response, which needs no `Evidence`
            return
        object.__setattr__(self, "entries", check_items(self.entries, schema.Evidence, "entries"))
        self._by_path.update((each.path, each) for each in self.entries)

    def __getitem__(self, path: str) -> schema.Evidence:
        return self._by_path[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_path)

    def __len__(self) -> int:
        return len(self._by_path)

    @property
    def doubtful(self) -> tuple[schema.Evidence, ...]:
        """What is not verified, or has a quote without the value: each has a `reason`."""
        return tuple(each for each in self.entries if each.reason is not None)


T = TypeVar("T")
_NO_EVIDENCE = EvidenceMap()


@dataclass(frozen=True, slots=True)
class AttemptRecord(Immutable):
    """One attempt: when it began (seconds since the epoch), its duration in seconds, and its error, if it failed."""

    number: int
    started_at: float
    seconds: float
    status: int | None = None
    request_id: str | None = None
    error: str | None = None


def _content(parts: Iterable[Part]) -> Iterator[Part]:
    """Yields parts, and the content of the results of tools that the provider ran."""
    for part in parts:
        yield from part.content if isinstance(part, HostedToolResult) else (part,)


@dataclass(frozen=True, slots=True)
class GenerateResponse(HasDeferredCost, ShortRepr, RichDisplay, Generic[T]):
    """The answer, with the tokens and the cost of all attempts, and media decisions.

    `cost` is in US dollars, exact; it is None for the `cost_reason`. `cost_source` is "vendor" if the provider reported
    it, "computed" from the price list, or "estimate" if that took assumptions. `price_rows` are the digests of the
    price rows that applied. `steps` has one reply for each round, `tool_steps` the tool calls of all rounds with their
    results, `output_attempts` the answers that were not valid; `loop` is the state of a call with `run_tools`, else
    None. `output` is the answer validated as the `response_model`, else None. Read back from JSON, it is JSON data.
    `evidence` has the quote for each of its values, checked, of a call with `evidence=True`. `verification` has the
    figures, names and dates of a text answer, checked, of a call with `verify=True`. `made` has the sound and images
    that backends of plugins made of the answer, since `modalities` names them and the model does not produce them; each
    with its own usage and cost.
    """

    reply: ModelReply
    output: T
    steps: tuple[ModelReply, ...]
    attempts: tuple[AttemptRecord, ...]
    usage: Usage
    warnings: tuple[CallWarning, ...]
    media: tuple[schema.MediaDecision, ...]
    provider: str
    model: str
    cost: Decimal | None
    trace_id: str
    seconds: float
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    tool_steps: tuple[schema.ToolStep, ...] = ()
    output_attempts: tuple[schema.OutputAttempt, ...] = ()
    loop: schema.ToolLoop | None = None
    evidence: EvidenceMap = _NO_EVIDENCE
    verification: schema.Verification | None = None
    made: tuple[schema.MediaResult[schema.MediaPart], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", checked_cost(self.cost))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages to add to the conversation: the answer; with `run_tools` also the replies and results before."""
        return added_messages(self.steps, self.tool_steps, self.output_attempts)

    @property
    def content(self) -> str:
        """The text of the answer, or of the result of a final tool."""
        final = next((step for step in reversed(self.tool_steps) if step.final), None)
        return self.reply.text if final is None else final.result.as_text

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
        """The parts of the answer in order: text, reasoning, tool calls, media."""
        return self.reply.parts

    @property
    def images(self) -> tuple[schema.ImagePart, ...]:
        """The images of the answer in order, also those of tools that the provider ran, and those that a backend made
        of it: `images[0].save("a.png")`.
        """
        return tuple(part for part in self._media() if isinstance(part, schema.ImagePart))

    @property
    def audio(self) -> tuple[schema.AudioPart, ...]:
        """The sound of the answer, in order, also what a backend made of it; `transcript` of each is what is said."""
        return tuple(part for part in self._media() if isinstance(part, schema.AudioPart))

    def _media(self) -> Iterator[Part]:
        yield from _content(self.parts)
        for result in self.made:
            yield from result.parts

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of the answer, in order, as the provider reports them; `sources` finds their places."""
        return tuple(each for part in self.parts if isinstance(part, TextPart) for each in part.citations)

    def sources(self, quote: str | Citation) -> tuple[schema.Source, ...]:
        """Returns the places where a quote stands in the files of the call and the results of its tools, in order.

        Finds whole words and numbers, exactly or up to their form, never approximately; up to 1,000 places in each
        file. Empty if the quote stands nowhere. A `Citation` is searched in the file that it names; if that text is not
        known, the result is what the provider says, as "reported". Takes time linear in the texts; blocks.

        Raises `SchemaError` for a quote that is not found while the text of a file is not known, since the file itself
        was sent: with `verify=True` or `evidence=True` it is read after the answer.
        """
        from .response_sources import find_sources

        return find_sources(self, quote)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the model, in order."""
        return self.reply.tool_calls

    @property
    def pending(self) -> tuple[schema.PendingCall, ...]:
        """The tool calls that wait for an answer, or for a result from elsewhere: `llm.resume(response, answers)`."""
        return () if self.loop is None else self.loop.pending

    @property
    def reasoning(self) -> str:
        """The text of the reasoning, if the provider returns it."""
        return self.reply.reasoning

    @property
    def finish_reason(self) -> FinishReason:
        """Why the model stopped."""
        return self.reply.finish_reason

    def __str__(self) -> str:
        return self.content

    def _repr_html_(self) -> str:
        """Returns the answer as HTML, with its finish reason and warnings below it."""
        ended = f"{self.provider}/{self.model}: {self.finish_reason}"
        return RichDisplay._repr_html_(self) + small_print(ended, *map(str, self.warnings))

    def __repr__(self) -> str:
        shown = {
            "output": self.output,
            "tool_calls": self.tool_calls or None,
            "tool_steps": len(self.tool_steps) or None,
            "loop": None if self.loop is None or self.loop.status == "answered" else self.loop.status,
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
        """Returns a copy with a deep copy of `output`: everything else is immutable."""
        return replace(self, output=deepcopy(self.output, memo))
