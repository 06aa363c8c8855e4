"""`abstractcore traces rerun`: stored questions asked again of another model, and what that changed.

Tools are not run: the same calls get the results that are stored.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from string import hexdigits
from typing import TYPE_CHECKING, Any, Final

import typer

import abstractcore
from abstractcore import Budget, InvalidInputError
from abstractcore.schema.amounts import UNKNOWN, counted, dollars
from abstractcore.traces import Rerun, StoredQuestion, estimate_rerun, find_questions
from abstractcore.traces import rerun as ask_again

from ..plugins import ConnectionArguments, model_store, registry
from ..reporting import reported
from ..screen import announce, ask_line, note
from .comparing import show_reruns
from .stores import CallChoice, opened

if TYPE_CHECKING:
    from abstractcore import LLM, Services
    from abstractcore.traces import TraceStore

_LEAST_BEGINNING: Final = 8


@dataclass(frozen=True, slots=True)
class RerunOptions:
    """The options of `rerun`. `most` is --max-usd."""

    choice: CallChoice
    most: str | None
    yes: bool


def rerun(options: RerunOptions, connection: ConnectionArguments, place: str | None, *, as_json: bool) -> None:
    """Asks stored questions again, after saying how many they are and about what that costs; prints a table."""
    with reported(as_json=as_json), opened(place) as store:
        most = _amount(options.most)
        if connection.provider is None and connection.model is None:
            raise InvalidInputError("no model is named", hint="Write --model PROVIDER/MODEL.")
        arguments: dict[str, Any] = {**options.choice.arguments(), "text": _id(store, options.choice.text)}
        found = find_questions(store, **arguments)
        if not found:
            raise InvalidInputError("no stored question matches", hint=options.choice.why_none(store))
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
                    is_stopped = _ask(llm, able, most, reruns)
            except KeyboardInterrupt:
                show_reruns(reruns, found, is_stopped=False, as_json=as_json)
                raise
        show_reruns(reruns, found, is_stopped=is_stopped, as_json=as_json)
        if is_stopped or any(each.error is not None for each in reruns):
            raise typer.Exit(1)


def _id(store: TraceStore, text: str | None) -> str | None:
    """Returns the id that begins with a text, if that is long enough not to be a word, and only one does."""
    if text is None or len(text) < _LEAST_BEGINNING or not set(text) <= set(hexdigits):
        return text
    ids = store.ids(text, limit=2)
    return ids[0] if len(ids) == 1 else text


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
    cost = estimate_rerun(llm, found)
    if cost is None and most is not None:
        hint = "Leave --max-usd out, or name a model whose prices are known."
        raise InvalidInputError(f"the prices of {llm.provider}/{llm.model} are unknown", path="--max-usd", hint=hint)
    about = (
        UNKNOWN
        if cost is None
        else f"{dollars(cost.low)} to {dollars(cost.high or cost.low)}, if its answers are as long"
    )
    rounds = sum(len(question.calls) for question in found)
    spent = sum((question.costs.known for question in found), Decimal(0))
    announce(
        f"{counted(len(found), 'question')}, about {counted(rounds, 'call')} of {llm.provider}/{llm.model}; "
        f"estimated cost: {about}; known of what it was: {dollars(spent)}."
    )


def _confirm() -> None:
    """Asks whether to go on; raises `typer.Exit` if not, and `InvalidInputError` if nobody can be asked."""
    if not sys.stdin.isatty():
        raise InvalidInputError("nothing was sent: there is no terminal to ask whether to go on", hint="Add --yes.")
    if (ask_line("Go on? [y/N] ") or "").strip().lower() not in ("y", "yes"):
        note("Nothing was sent.")
        raise typer.Exit(1)


def _ask(llm: LLM, found: Sequence[StoredQuestion], most: Decimal | None, reruns: list[Rerun]) -> bool:
    """Asks questions one after another, and adds what each gave; returns whether the limit has ended that."""
    with Budget(most, name="--max-usd") if most is not None else nullcontext():
        for result in ask_again(llm, found):
            if result.trace_id is not None or result.error is not None:
                reruns.append(result)
            if result.is_stopped:
                return True
    return False


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
