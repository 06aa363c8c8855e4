"""`abstractcore runs start`, `answer`, `pause`, `resume` and `cancel`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from abstractcore.errors import InvalidInputError
from abstractcore_cli.toolkit import json_line, reported, write

from ..errors import NotWaitingError
from ..handles import Run, RunWait
from ..records import Limits
from ..store import Delivery
from .stores import json_of, open_store, programs_and_effects, seconds_of

_ANSWERS: Final = "--allow, --deny, --edit JSON, --result JSON, --repeat, --skip or --payload JSON"


@dataclass(frozen=True, slots=True)
class NewRunOptions:
    """The options of `start`."""

    payload: str | None
    text: str | None
    id: str | None
    session: str | None
    steps: int | None
    tokens: int | None
    dollars: str | None
    seconds: float | None
    delay: str | None

    def input(self) -> Any:
        """Returns the input of the run."""
        if self.text is not None and self.payload is not None:
            raise InvalidInputError("give the input as JSON or as --text, not both", path="--text")
        return self.text if self.payload is None else json_of(self.payload, "INPUT")

    def limits(self) -> Limits:
        """Returns the limits of the run."""
        given: dict[str, Any] = {"tokens": self.tokens, "seconds": self.seconds, "dollars": self.dollars}
        if self.steps is not None:
            given["steps"] = self.steps
        return Limits(**given)


def start(program: str, options: NewRunOptions, programs: Sequence[str] | None, store: str, *, as_json: bool) -> None:
    """Starts a run, and prints its id."""
    with reported(as_json=as_json):
        known, _ = programs_and_effects(programs or ())
        due_at = None if options.delay is None else time.time() + seconds_of(options.delay, "--delay")
        with open_store(store, make=True, programs=known) as runtime:
            run = runtime.start(
                program, options.input(), id=options.id, session=options.session, limits=options.limits(), due_at=due_at
            )
            if as_json:
                info = run.info
                write(json_line({"run": run.id, "program": info.program, "status": info.status, "exit_code": 0}))
            else:
                write(f"{run.id}\n")


@dataclass(frozen=True, slots=True)
class Answer:
    """The options of `answer`, of which one is given."""

    allow: bool
    deny: bool
    edit: str | None
    result: str | None
    repeat: bool
    skip: bool
    payload: str | None
    reason: str

    def check(self) -> None:
        """Raises `InvalidInputError` unless one answer is given."""
        given = [self.allow, self.deny, self.repeat, self.skip]
        given += [each is not None for each in (self.edit, self.result, self.payload)]
        if sum(given) != 1:
            raise InvalidInputError(f"give one of {_ANSWERS}", path="answer")
        if self.reason and not (self.deny or self.skip):
            raise InvalidInputError("only --deny and --skip have a reason", path="--reason")

    def give(self, wait: RunWait, by: str | None) -> Delivery:
        """Answers a wait."""
        if self.allow:
            return wait.allow(by=by)
        if self.deny:
            return wait.deny(self.reason, by=by)
        if self.repeat:
            return wait.repeat(by=by)
        if self.skip:
            return wait.skip(self.reason, by=by)
        if self.edit is not None:
            arguments: Any = json_of(self.edit, "--edit")
            if type(arguments) is not dict:
                raise InvalidInputError("expected a JSON object, the arguments of the call", path="--edit")
            return wait.edit(cast("dict[str, Any]", arguments), by=by)
        if self.result is not None:
            return wait.result(json_of(self.result, "--result"), by=by)
        return wait.answer(json_of(str(self.payload), "--payload"), by=by)


def answer(run: str, key: str | None, given: Answer, by: str | None, store: str, *, as_json: bool) -> None:
    """Answers a wait of a run."""
    with reported(as_json=as_json):
        given.check()
        with open_store(store) as runtime:
            wait = _wait(runtime.run(run), key)
            is_answered = any(
                (row.kind, row.key, row.state) == ("answer", wait.key, "queued") for row in runtime.store.inbox(run)
            )
            delivery = given.give(wait, by)
            line = f"sent the answer to {wait.key!r} of {run}: a worker applies it, unless another one came first"
            if is_answered:
                line = f"{wait.key!r} of {run} was answered before: that answer counts, and this one will be refused"
            _show(delivery, run, line, as_json=as_json)


def _wait(run: Run, key: str | None) -> RunWait:
    waits = {wait.key: wait for wait in run.waits}
    if key is None and len(waits) == 1:
        (key,) = waits
    if key not in waits:
        if not waits:
            raise NotWaitingError(f"the run {run.id!r} waits for no answer: it is {run.status}", run=run.id)
        problem = "name the wait" if key is None else f"the run {run.id!r} does not wait for {key!r}"
        raise NotWaitingError(f"{problem}; it waits for: {', '.join(waits)}", run=run.id)
    return waits[key]


def command(
    name: Literal["pause", "resume", "cancel"],
    run: str,
    by: str | None,
    reason: str | None,
    store: str,
    *,
    as_json: bool,
) -> None:
    """Sends a run a command."""
    with reported(as_json=as_json), open_store(store) as runtime:
        handle = runtime.run(run)
        if name == "cancel":
            delivery = handle.cancel(reason, by=by)
        else:
            delivery = handle.pause(by=by) if name == "pause" else handle.resume(by=by)
        if delivery.state == "refused":
            raise NotWaitingError(f"the run {run!r} takes no {name}: {delivery.outcome}", run=run)
        _show(delivery, run, f"sent {name} to {run}: a worker applies it", as_json=as_json)


def _show(delivery: Delivery, run: str, line: str, *, as_json: bool) -> None:
    if as_json:
        write(json_line({"run": run, "item": delivery.id, "state": delivery.state, "exit_code": 0}))
    else:
        write(f"{line}\n")
