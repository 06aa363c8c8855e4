"""`GenerateResponse`: the result of a call: the reply, with attempts, usage, cost and media decisions.

`EvidenceMap`: the evidence for the values of a typed answer, by path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..lazy_modules import LazyModule
from .base_error import SchemaError
from .calls import Message
from .codec import HasUserValues
from .costs import CostSource, CostSums, HasDeferredCost, checked_cost, checked_sums
from .json_values import check_items, freeze
from .parts import AudioPart, Citation, HostedToolResult, ImagePart, MediaPart, Part, TextPart, ToolCall
from .replies import CallWarning, FinishReason, ModelReply, Usage
from .reprs import Immutable, RichDisplay, ShortRepr, short_repr

if TYPE_CHECKING:
    from . import evidence, media_decisions, media_results, tool_loops, tool_steps
else:
    evidence = LazyModule("abstractcore.schema.evidence")
    media_decisions = LazyModule("abstractcore.schema.media_decisions")
    media_results = LazyModule("abstractcore.schema.media_results")
    tool_loops = LazyModule("abstractcore.schema.tool_loops")
    tool_steps = LazyModule("abstractcore.schema.tool_steps")


@dataclass(frozen=True, slots=True, eq=True)
class EvidenceMap(Immutable, Mapping[str, "evidence.Evidence"]):
    """The evidence for each value of an answer, by its path: "total", "items[0].price"; "value" if it is one value.

    `entries` are the pieces of evidence by their paths.
    """

    entries: tuple[evidence.Evidence, ...] = ()
    _by_path: dict[str, evidence.Evidence] = field(
        init=False, repr=False, compare=False, default_factory=dict[str, "evidence.Evidence"]
    )

    def __post_init__(self) -> None:
        if self.entries == ():  # the default of every response, which needs no `Evidence`
            return
        object.__setattr__(self, "entries", check_items(self.entries, evidence.Evidence, "entries"))
        self._by_path.update((each.path, each) for each in self.entries)

    def __getitem__(self, path: str) -> evidence.Evidence:
        return self._by_path[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_path)

    def __len__(self) -> int:
        return len(self._by_path)

    @property
    def doubtful(self) -> tuple[evidence.Evidence, ...]:
        """What is not verified, or has a quote without the value: each has a `reason`."""
        return tuple(each for each in self.entries if each.reason is not None)


T = TypeVar("T")
_NO_EVIDENCE = EvidenceMap()


@dataclass(frozen=True, slots=True)
class AttemptRecord(Immutable):
    """One attempt: when it began (seconds since the epoch), its duration in seconds, and its error, if it failed.

    Where a `CallRecord` has several, they have the cost of each in US dollars: `cost` as it was reported or computed,
    `estimated_cost` about what was spent beside it, on a request that left and ended without reporting its tokens.
    Neither is set for an attempt of unknown cost, and for one that got no answer since the provider refused it.
    `seconds_waited` is how long it waited for limits before it began.

    `provider` and `model` are those that were asked, in a call that several models may answer: of a group, or of a
    budget that names another one. Otherwise they are None, and the attempt is of the model of the call.
    """

    number: int
    started_at: float
    seconds: float
    status: int | None = None
    request_id: str | None = None
    error: str | None = None
    cost: Decimal | None = None
    estimated_cost: Decimal | None = None
    seconds_waited: float = 0.0
    provider: str | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        if self.cost is not None or self.estimated_cost is not None:
            object.__setattr__(self, "cost", checked_cost(self.cost))
            object.__setattr__(self, "estimated_cost", checked_cost(self.estimated_cost, "estimated_cost"))


def _content(parts: Iterable[Part]) -> Iterator[Part]:
    """Yields parts, and the content of the results of tools that the provider ran."""
    for part in parts:
        yield from part.content if isinstance(part, HostedToolResult) else (part,)


@dataclass(frozen=True, slots=True)
class GenerateResponse(HasDeferredCost, HasUserValues, ShortRepr, RichDisplay, Generic[T]):
    """The answer, with the tokens and the cost of all attempts, and media decisions.

    `cost` is in US dollars, exact; it is None for the `cost_reason`. `cost_source` is "vendor" if the provider reported
    it, "computed" from the price list, or "estimate" if that took assumptions. `price_rows` are the digests of the
    price rows that applied. `estimated_cost` is about what was spent beside `cost`, on requests that left and ended
    without reporting their tokens; without a `cost`, on all of them. `costs` has the three sums, also what is known
    where `cost` is None; `cost_sums` is None where they follow from the other fields. `steps` has one reply for each
    round, `tool_steps` the tool calls of all rounds with their results, `output_attempts` the answers that were not
    valid; `loop` is the state of a call with `run_tools`, else None. `output` is the answer validated as the
    `response_model`, else None. Read back from JSON, it is JSON data. `evidence` has the quote for each of its values,
    checked, of a call with `evidence=True`. `verification` has the figures, names and dates of a text answer, checked,
    of a call with `verify=True`. `made` has the sound and images that backends of plugins made of the answer, since
    `modalities` names them and the model does not produce them; each with its own usage and cost. An answer of a
    cache has the time at which it was asked for, `cached_at`, in seconds since the epoch, and the `saved_cost` in US
    dollars, as far as prices are known; its `cost` is 0. A response of several rounds has neither: the records of its
    calls do, and `costs.saved` is what all of them saved.
    """

    reply: ModelReply
    output: T
    steps: tuple[ModelReply, ...]
    attempts: tuple[AttemptRecord, ...]
    usage: Usage
    warnings: tuple[CallWarning, ...]
    media: tuple[media_decisions.MediaDecision, ...]
    provider: str
    model: str
    cost: Decimal | None
    trace_id: str
    seconds: float
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    tool_steps: tuple[tool_steps.ToolStep, ...] = ()
    output_attempts: tuple[tool_loops.OutputAttempt, ...] = ()
    loop: tool_loops.ToolLoop | None = None
    evidence: EvidenceMap = _NO_EVIDENCE
    verification: evidence.Verification | None = None
    made: tuple[media_results.MediaResult[MediaPart], ...] = ()
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None
    cached_at: float | None = None
    saved_cost: Decimal | None = None

    def __post_init__(self) -> None:
        if self.saved_cost is not None:
            object.__setattr__(self, "saved_cost", checked_cost(self.saved_cost, "saved_cost"))
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "estimated_cost", checked_cost(self.estimated_cost, "estimated_cost"))
        object.__setattr__(self, "cost_sums", checked_sums(self.cost_sums))

    @property
    def seconds_waited(self) -> float:
        """How long its attempts have waited for limits, in seconds."""
        return sum(attempt.seconds_waited for attempt in self.attempts)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages to add to the conversation: the answer; with `run_tools` also the replies and results before."""
        return tool_loops.added_messages(self.steps, self.tool_steps, self.output_attempts)

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
    def images(self) -> tuple[ImagePart, ...]:
        """The images of the answer in order, also those of tools that the provider ran, and those that a backend made
        of it: `images[0].save("a.png")`.
        """
        return tuple(part for part in self._media() if isinstance(part, ImagePart))

    @property
    def audio(self) -> tuple[AudioPart, ...]:
        """The sound of the answer, in order, also what a backend made of it; `transcript` of each is what is said."""
        return tuple(part for part in self._media() if isinstance(part, AudioPart))

    def _media(self) -> Iterator[Part]:
        yield from _content(self.parts)
        for result in self.made:
            yield from result.parts

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of the answer, in order, as the provider reports them; `sources` finds their places."""
        return tuple(each for part in self.parts if isinstance(part, TextPart) for each in part.citations)

    def sources(self, quote: str | Citation) -> tuple[evidence.Source, ...]:
        """Returns the places where a quote stands in the files of the call and the results of its tools, in order.

        Finds whole words and numbers, exactly or up to their form, never approximately; up to 1,000 places in each
        file. Empty if the quote stands nowhere. A `Citation` is searched in the file that it names; if that text is not
        known, the result is what the provider says, as "reported". Takes time linear in the texts; blocks.

        Raises `SchemaError` for a quote that is not found while the text of a file is not known, since the file itself
        was sent: with `verify=True` or `evidence=True` it is read after the answer.
        """
        from .response_sources import find_sources

        return find_sources(quote, self.media, self.tool_steps)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the model, in order."""
        return self.reply.tool_calls

    @property
    def pending(self) -> tuple[tool_loops.PendingCall, ...]:
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

    def __json_values__(self) -> GenerateResponse[Any]:
        """Returns a copy whose `output` is JSON data; raises `SchemaError` for one of the user's own types."""
        return replace(self, output=freeze(self.output, "output"))

    def __str__(self) -> str:
        return self.content

    def __display__(self) -> Iterator[object]:
        """Yields the answer with what was made of it; below it the tool calls, what it took, and warnings."""
        from . import amounts, displays

        yield from self.parts
        yield from self.made
        if self.tool_steps:
            yield displays.FoldedBlocks(
                amounts.counted(len(self.tool_steps), "tool call"), [displays.TableList(self.tool_steps)]
            )
        ended = f"{self.provider}/{self.model}: {self.finish_reason}"
        cost = amounts.cost_of(self.cost, self.estimated_cost, self.saved_cost)
        facts = [ended, displays.shown_tokens(self.usage), cost, amounts.seconds(self.seconds)]
        yield displays.SmallPrint([", ".join(filter(None, facts)), *map(str, self.warnings)])

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
