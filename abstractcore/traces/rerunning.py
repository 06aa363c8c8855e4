"""Stored questions asked again of another model: `rerun`, about what that costs, and what it changed.

No tool is run: the same calls get the results that are stored. A limit in dollars is a `Budget` around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, Final, Protocol

from ..errors import (
    AbstractCoreError,
    AuthenticationError,
    BudgetExceededError,
    ConfigurationError,
    InvalidInputError,
    ModelStoreError,
)
from ..outputs import output_type
from ..schema import CallRecord, CostRange, GenerateResponse, ModelCall, ModelReply, Plan, TextPart, Verification
from .questions import RERUN_TAG, CallKey, StoredQuestion, StoredResults, keys

__all__ = ["RERUN_TAG", "Rerun", "RerunModel", "estimate_rerun", "rerun"]
_MOST_ROUNDS: Final = 16


class RerunModel(Protocol):
    """The methods of an `LLM` that asking again needs."""

    @property
    def provider(self) -> str:
        """The name of its provider."""
        ...

    @property
    def model(self) -> str:
        """The name of its model."""
        ...

    def plan_call(self, call: ModelCall) -> Plan:
        """Returns the plan of a call, with its estimated cost."""
        ...

    def run(self, call: ModelCall) -> GenerateResponse[None]:
        """Makes a call."""
        ...

    def generate(self, **options: Any) -> GenerateResponse[Any]:
        """Makes a call of its arguments, and checks its answer with `verify=True`.

        `options` are those of `LLM.generate`.
        """
        ...


@dataclass(slots=True)
class Rerun:
    """A question, and the result of asking it again.

    `trace_id` is that of its first call. `cost` is None if the cost of one of its calls is unknown. `unknown_results`
    counts calls of tools without a stored result. `is_stopped` says that a budget has refused the next request.
    """

    question: StoredQuestion
    trace_id: str | None = None
    reply: ModelReply | None = None
    """What the other model answered; None after an error."""
    tool_calls: list[CallKey] = field(default_factory=list[CallKey])
    cost: Decimal | None = Decimal(0)
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    verification: Verification | None = None
    unknown_results: int = 0
    error: AbstractCoreError | None = None
    is_stopped: bool = False

    @property
    def verdict(self) -> str:
        """Whether the answer is "equal" (its words and its calls of tools) or "different"; "failed" or "stopped"."""
        if self.error is not None:
            return "failed"
        if self.is_stopped:
            return "stopped"
        same = _words(self.question.reply) == _words(self.reply)
        return "equal" if same and self.tool_calls == self.question.tool_calls else "different"

    @property
    def is_valid(self) -> bool | None:
        """Whether the answer has the schema that the call had asked for; None if it asked for none, or has none."""
        output = self.question.call.output
        if output is None or self.reply is None:
            return None
        try:
            output_type(output.schema).value(self.reply.text)
        except AbstractCoreError:
            return False
        return True

    def count(self, response: GenerateResponse[Any]) -> None:
        """Adds what a call took and cost."""
        self.trace_id = self.trace_id or response.trace_id
        self.seconds += response.seconds
        self.input_tokens += response.usage.input or 0
        self.output_tokens += response.usage.output or 0
        self.cost = None if self.cost is None or response.cost is None else self.cost + response.cost


def rerun(llm: RerunModel, questions: Iterable[StoredQuestion]) -> Iterator[Rerun]:
    """Asks stored questions again of another model, and yields what each gave; a question that fails is one of them.

    No tool is run: the same call of a tool gets the stored result, another one an error. The calls have the tag
    `rerun_of`. A `Budget` that refuses a request ends it: the last one yielded is then `is_stopped`.

    Raises `InvalidInputError` for a question whose content was not kept (see `StoredQuestion.missing`), and
    `ConfigurationError`, `AuthenticationError` and `ModelStoreError`, which hold for all questions.
    """
    for question in questions:
        if question.missing is not None:
            raise InvalidInputError(f"the question {question.id} cannot be asked again: {question.missing}")
        result = Rerun(question)
        try:
            _ask(llm, result)
        except (ConfigurationError, AuthenticationError, ModelStoreError):
            raise
        except BudgetExceededError:
            result.is_stopped = True
        except AbstractCoreError as error:
            result.error = error
        yield result
        if result.is_stopped:
            return


def estimate_rerun(llm: RerunModel, questions: Iterable[StoredQuestion]) -> CostRange | None:
    """Returns about what asking again costs, if answers are as long as the stored ones; None if prices are unknown.

    Nothing is sent.
    """
    low = high = Decimal(0)
    for question in questions:
        for record in question.calls:
            call = _call(llm, question, record)
            sampling = replace(call.sampling, max_output_tokens=max(1, record.usage.output or 0))
            estimate = llm.plan_call(call.with_(sampling=sampling)).estimated_cost
            if estimate is None:
                return None
            low += estimate.low
            high += estimate.low if estimate.high is None else estimate.high
    return CostRange(low, high)


def _ask(llm: RerunModel, result: Rerun) -> None:
    """Asks one question, with a round for each reply that calls tools which have stored results."""
    call = _call(llm, result.question, result.question.calls[0])
    stored = StoredResults(result.question.tools)
    for _ in range(_MOST_ROUNDS):
        response = _sent(llm, call, verify=result.question.verification is not None)
        result.count(response)
        result.tool_calls += keys(response.reply.tool_calls)
        result.reply, result.verification = response.reply, response.verification
        if not response.reply.tool_calls or not stored:
            return
        answered = (*call.messages, *response.messages, stored.message(response.reply.tool_calls))
        result.unknown_results = stored.unknown
        call = call.with_(messages=answered, parent_id=result.trace_id)


def _call(llm: RerunModel, question: StoredQuestion, record: CallRecord) -> ModelCall:
    """Returns a call of a question for another model: without what only its own provider has."""
    assert record.call is not None
    return record.call.with_(
        provider=llm.provider, model=llm.model, stream=False, strict=False, provider_options={}, parent_id=None,
        trace_context={}, tool_format=None, output_mode=None, tool_search=None, file_store="auto",
        tags={**record.call.tags, **record.tags, RERUN_TAG: question.id},
    )  # fmt: skip


def _sent(llm: RerunModel, call: ModelCall, *, verify: bool) -> GenerateResponse[Any]:
    """Makes a call; checks its answer as that of the stored one was."""
    if not verify:
        return llm.run(call)
    options: dict[str, Any] = {each.name: getattr(call.sampling, each.name) for each in fields(call.sampling)}
    names = ("tool_choice", "parallel_tool_calls", "thinking", "cache", "media_policy", "tags", "parent_id")
    options |= {name: getattr(call, name) for name in names}
    given = {name: value for name, value in options.items() if value not in (None, ())}
    return llm.generate(messages=call.messages, tools=call.tools, verify=True, **given)


def _words(reply: ModelReply | None) -> list[str]:
    """Returns the words of an answer."""
    parts = () if reply is None else reply.parts
    return [word for part in parts if isinstance(part, TextPart) for word in part.text.split()]
