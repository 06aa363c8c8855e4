"""`abstractcore traces rerun`: stored questions asked again of another model, and what that changed.

Tools are not run: the same calls get the results that are stored.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

import typer

import abstractcore
from abstractcore import AbstractCoreError, CallRecord, InvalidInputError, ModelCall

from ..plugins import ConnectionArguments, model_store, registry
from ..reporting import reported
from ..screen import announce, ask_line, note
from .amounts import UNKNOWN, counted, dollars
from .comparing import Rerun, show_reruns
from .questions import RERUN_TAG, CallKey, StoredQuestion, StoredResults, keys, questions
from .stores import CallChoice, opened

if TYPE_CHECKING:
    from abstractcore import LLM, GenerateResponse, Services

_MOST_ROUNDS: Final = 16


@dataclass(frozen=True, slots=True)
class RerunOptions:
    """The options of `rerun`. `most` is --max-usd."""

    query: str | None
    choice: CallChoice
    most: str | None
    yes: bool


class _Spending:
    """What was spent so far, and the most that may be."""

    def __init__(self, most: Decimal | None) -> None:
        self.most = most
        self.spent = Decimal(0)

    def allows(self, llm: LLM, call: ModelCall) -> bool:
        """Returns whether a request fits into the rest, as far as is known before: its input at least."""
        if self.most is None:
            return True
        estimate = llm.plan_call(call).estimated_cost
        return estimate is not None and self.spent + estimate.low <= self.most and self.spent < self.most


def rerun(options: RerunOptions, connection: ConnectionArguments, place: str | None, *, as_json: bool) -> None:
    """Asks stored questions again, after saying how many they are and about what that costs; prints a table."""
    with reported(as_json=as_json), opened(place) as store:
        most = _amount(options.most)
        if connection.provider is None and connection.model is None:
            raise InvalidInputError("no model is named", hint="Write --model PROVIDER/MODEL.")
        found = questions(store, options.query, options.choice)
        if not found:
            raise InvalidInputError("no stored question matches", hint="Run `abstractcore traces list`.")
        able = [question for question in found if question.missing is None]
        for question in found:
            if question.missing is not None:
                note(f"left out: {question.id}: {question.missing}")
        if not able:
            hint = "Keep all of it from now on: ABSTRACTCORE_TRACES=full."
            raise InvalidInputError("none of these questions can be asked again", hint=hint)
        with _model(connection) as (llm, services):
            _announce(llm, able, most)
            if not options.yes:
                _confirm()
            reruns: list[Rerun] = []
            try:
                with store.keep_for(services.records, "full"):
                    is_stopped = _ask_all(llm, able, _Spending(most), reruns)
            except KeyboardInterrupt:
                show_reruns(reruns, found, is_stopped=False, as_json=as_json)
                raise
        show_reruns(reruns, found, is_stopped=is_stopped, as_json=as_json)
        if is_stopped or any(each.error is not None for each in reruns):
            raise typer.Exit(1)


@contextmanager
def _model(connection: ConnectionArguments) -> Generator[tuple[LLM, Services]]:
    """Yields the other model, and the services whose records are kept."""
    services = abstractcore.Services(models=model_store(), registry=registry())
    given = {name: value for name in ("base_url", "timeout") if (value := getattr(connection, name)) is not None}
    options: dict[str, Any] = given
    try:
        yield abstractcore.create_llm(connection.provider, connection.model, services=services, **options), services
    finally:
        services.close()


def _announce(llm: LLM, found: Sequence[StoredQuestion], most: Decimal | None) -> None:
    """Says how many calls there will be, and about what they cost."""
    cost = _estimate(llm, found)
    if cost is None and most is not None:
        hint = "Leave --max-usd out, or name a model whose prices are known."
        raise InvalidInputError(f"the prices of {llm.provider}/{llm.model} are unknown", path="--max-usd", hint=hint)
    about = UNKNOWN if cost is None else f"{dollars(cost[0])} to {dollars(cost[1])}, if its answers are as long"
    rounds = sum(len(question.calls) for question in found)
    spent = sum((record.cost or Decimal(0) for question in found for record in question.calls), Decimal(0))
    announce(
        f"{counted(len(found), 'question')}, about {counted(rounds, 'call')} of {llm.provider}/{llm.model}; "
        f"estimated cost: {about}; known of what it was: {dollars(spent)}."
    )


def _estimate(llm: LLM, found: Sequence[StoredQuestion]) -> tuple[Decimal, Decimal] | None:
    """Returns about what calls cost, at least and at most, if their answers are as long as those that are stored; None
    if the prices are unknown.
    """
    low = high = Decimal(0)
    for question in found:
        for record in question.calls:
            call = _call(llm, question, record)
            sampling = replace(call.sampling, max_output_tokens=max(1, record.usage.output or 0))
            estimate = llm.plan_call(call.with_(sampling=sampling)).estimated_cost
            if estimate is None:
                return None
            low += estimate.low
            high += estimate.low if estimate.high is None else estimate.high
    return low, high


def _confirm() -> None:
    """Asks whether to go on; raises `typer.Exit` if not, and `InvalidInputError` if nobody can be asked."""
    if not sys.stdin.isatty():
        raise InvalidInputError("nothing was sent: there is no terminal to ask whether to go on", hint="Add --yes.")
    if (ask_line("Go on? [y/N] ") or "").strip().lower() not in ("y", "yes"):
        note("Nothing was sent.")
        raise typer.Exit(1)


def _ask_all(llm: LLM, found: Sequence[StoredQuestion], spending: _Spending, reruns: list[Rerun]) -> bool:
    """Asks questions one after another, and adds what came of them; returns whether the limit has ended that."""
    for question in found:
        result = Rerun(question)
        try:
            _ask(llm, result, spending)
        except (abstractcore.ConfigurationError, abstractcore.AuthenticationError):
            raise
        except AbstractCoreError as error:
            result.error = error
        if result.trace_id is not None or result.error is not None:
            reruns.append(result)
        if result.is_stopped:
            return True
    return False


def _ask(llm: LLM, result: Rerun, spending: _Spending) -> None:
    """Asks one question, with a round for each reply that calls tools which have stored results."""
    call = _call(llm, result.question, result.question.calls[0])
    stored = StoredResults(result.question.tools)
    made: list[CallKey] = []
    for _ in range(_MOST_ROUNDS):
        if not spending.allows(llm, call):
            result.is_stopped = True
            return
        response = _sent(llm, call, verify=result.question.verification is not None)
        _count(result, response, spending)
        made += keys(response.reply.tool_calls)
        result.reply, result.tool_calls, result.unknown_results = response.reply, made, stored.unknown
        result.verification = response.verification
        if not response.reply.tool_calls or not stored:
            return
        answered = (*call.messages, *response.messages, stored.message(response.reply.tool_calls))
        call = call.with_(messages=answered, parent_id=result.trace_id)


def _call(llm: LLM, question: StoredQuestion, record: CallRecord) -> ModelCall:
    """Returns a call of a question for another model: without what only its own provider has."""
    assert record.call is not None
    return record.call.with_(
        provider=llm.provider, model=llm.model, stream=False, strict=False, provider_options={}, parent_id=None,
        trace_context={}, tool_format=None, output_mode=None, tool_search=None, file_store="auto",
        tags={**record.call.tags, **record.tags, RERUN_TAG: question.id},
    )  # fmt: skip


def _sent(llm: LLM, call: ModelCall, *, verify: bool) -> GenerateResponse[Any]:
    """Makes a call; checks its answer as that of the stored one was."""
    if not verify:
        return llm.run(call)
    options: dict[str, Any] = {each.name: getattr(call.sampling, each.name) for each in fields(call.sampling)}
    names = ("tool_choice", "parallel_tool_calls", "thinking", "cache", "media_policy", "tags", "parent_id")
    options |= {name: getattr(call, name) for name in names}
    given = {name: value for name, value in options.items() if value not in (None, ())}
    generate: Any = llm.generate
    return generate(messages=call.messages, tools=call.tools, verify=True, **given)


def _count(result: Rerun, response: GenerateResponse[Any], spending: _Spending) -> None:
    result.trace_id = result.trace_id or response.trace_id
    result.seconds += response.seconds
    result.input_tokens += response.usage.input or 0
    result.output_tokens += response.usage.output or 0
    if response.cost is None:
        result.cost = None
    else:
        spending.spent += response.cost
        result.cost = None if result.cost is None else result.cost + response.cost


def _amount(text: str | None) -> Decimal | None:
    """Returns the dollars of --max-usd; raises `InvalidInputError` for an invalid amount."""
    if text is None:
        return None
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise InvalidInputError(f"expected dollars above 0, got {text!r:.40}", path="--max-usd")
    return amount
