"""`Run` and `RunWait`: a run and its waits, as users hold them. Each reads the database when it is asked."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from abstractcore import PendingCall, ToolAnswer, from_json, to_json
from abstractcore.schema import DisplayTable, FoldedBlocks, RichDisplay, TableList
from abstractcore.schema.amounts import moment

from .errors import NotFinishedError, NotWaitingError, RunError, RunFailedError, RunNotFoundError
from .exports import export_run
from .json_documents import JSON, canonical, member, parsed
from .ledger_checks import LedgerReport
from .programs import INTERRUPTED, Program, check_item_id, check_name
from .records import OpenWait, Record, RunInfo
from .replay import replay
from .signatures import PrivateKey
from .store import Delivery, NewItem, Store
from .store.redaction import redact
from .timeline import shown_question, timeline
from .verification import verify_run

_POLL_SECONDS = 0.05
_MOST_SHOWN = 50
"""How many records of a ledger a notebook shows."""


class Run(RichDisplay):
    """A run. Its properties are read from the database, each time."""

    def __init__(self, store: Store, id: str) -> None:
        self._store = store
        self.id = id

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    def __display__(self) -> Iterator[object]:
        """Yields what is known of it now, with its waits and the last records of its ledger."""
        try:
            info = self.info
        except RunNotFoundError as error:  # deleted since
            yield str(error)
            return
        yield info
        if waits := self.waits:
            yield waits
        rows = timeline(self.ledger(max(0, info.seq - _MOST_SHOWN)), info.created)
        yield FoldedBlocks("Ledger", [DisplayTable([each.cells() for each in rows], info.seq)])

    def __display_row__(self) -> dict[str, object]:
        return self.info.__display_row__()

    @property
    def info(self) -> RunInfo:
        """All that is known of the run."""
        return self._store.run(self.id)

    @property
    def status(self) -> str:
        """`running`, `waiting`, `completed`, `failed` or `cancelled`."""
        return self.info.status

    @property
    def state(self) -> JSON:
        """The state of its program."""
        return self.info.state

    @property
    def output(self) -> JSON:
        """The output of a run that has completed; None otherwise."""
        return self.info.output

    @property
    def error(self) -> JSON:
        """The error of a run that has failed or was cancelled: an object with `type` and `message`."""
        return self.info.error

    @property
    def waits(self) -> list[RunWait]:
        """The open waits, in the order in which they were opened."""
        return TableList(RunWait(self._store, wait) for wait in self._store.waits(self.id))

    @property
    def children(self) -> list[Run]:
        """The runs that it has started."""
        return TableList(Run(self._store, id) for id in self._store.children(self.id))

    def ledger(self, after: int = 0) -> Iterator[Record]:
        """Yields its records after a number, in order."""
        return self._store.records(self.id, after)

    def send(self, key: str, payload: JSON = None, *, id: str | None = None, sender: str | None = None) -> Delivery:
        """Sends an event to this run, which takes it when it waits for `key`."""
        item = NewItem(
            new_id(id),
            "event",
            canonical(payload, "payload"),
            self.id,
            check_name(key, "key"),
            checked_sender(sender),
        )
        return self._store.deliver(item)

    def pause(self, *, by: str | None = None, id: str | None = None) -> Delivery:
        """Takes nothing on for this run until `resume`; an effect that runs is finished."""
        return self._command("pause", None, by, id)

    def resume(self, *, by: str | None = None, id: str | None = None) -> Delivery:
        """Lets a paused run go on."""
        return self._command("resume", None, by, id)

    def cancel(self, reason: str | None = None, *, by: str | None = None, id: str | None = None) -> Delivery:
        """Ends the run and the runs that it has started; an effect that runs is interrupted."""
        return self._command("cancel", {"reason": reason}, by, id)

    def _command(self, key: str, payload: JSON, by: str | None, id: str | None) -> Delivery:
        item = NewItem(new_id(id), "command", canonical(payload, "payload"), self.id, key, checked_sender(by))
        return self._store.deliver(item)

    def verify(self) -> LedgerReport:
        """Returns what is wrong with the run and its ledger; `.check()` raises it."""
        return verify_run(self._store, self.id)

    def replay(self, program: Program) -> JSON:
        """Makes the state again from the ledger, and returns it.

        Raises `ReplayError` if a step gives something else than its record, and `LedgerError` if one was redacted.
        """
        return replay(program, self.ledger(), state=self.state)

    def redact(self, seq: int, *, by: str | None = None) -> bool:
        """Deletes the body of a record of a run that has ended, and keeps its hash; False if it was deleted before."""
        return redact(self._store, self.id, seq, by=checked_sender(by))

    def export(self, path: str | Path, *, private_key: PrivateKey | None = None) -> LedgerReport:
        """Writes the run and its ledger to a new zip file, which can be verified offline; `private_key` signs it.

        Raises `LedgerError` for a run that does not verify, and `InvalidInputError` for a path that exists.
        """
        return export_run(self._store, self.id, path, private_key=private_key)

    def wait_for_output(self, timeout: float | None = None) -> Any:
        """Waits until the run has ended, in this thread, and returns its output.

        Raises `RunFailedError` if it has failed or was cancelled, and `NotFinishedError` after `timeout` seconds.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not (info := self.info).ended:
            if end is not None and time.monotonic() >= end:
                hint = f"See what it does: abstractcore runs show {self.id}"
                raise NotFinishedError(f"the run is {info.status} after {timeout:g} s", run=self.id, hint=hint)
            time.sleep(_POLL_SECONDS)
        if info.status != "completed":
            error = f"{member(info.error, 'type')}: {member(info.error, 'message')}"
            problem = f"the run {self.id!r} {'failed' if info.status == 'failed' else 'was cancelled'}: {error}"
            raise RunFailedError(problem, run=self.id, hint=f"abstractcore runs show {self.id}")
        return info.output


class RunWait(RichDisplay):
    """An open wait of a run. One of its methods answers it; `by` says who did."""

    def __init__(self, store: Store, wait: OpenWait) -> None:
        self._store = store
        self.run = wait.run
        self.key = wait.key
        self.reason = wait.reason
        self.deadline = wait.deadline
        self.asked = wait.asked
        self.opened = wait.opened

    def __repr__(self) -> str:
        return f"RunWait({self.run!r}, {self.key!r}, {self.reason!r})"

    def __display_row__(self) -> dict[str, object]:
        until = None if self.deadline is None else moment(self.deadline)
        return {
            "run": self.run, "waits for": self.key, "reason": self.reason, "until": until,
            "asked": shown_question(self.asked),
        }  # fmt: skip

    @property
    def call(self) -> Any:
        """The tool call that waits. Raises `RunError` for a wait of another kind."""
        return self._pending().call

    def answer(self, payload: JSON = None, *, by: str | None = None, id: str | None = None) -> Delivery:
        """Answers with any JSON. Raises `NotWaitingError` if the run does not wait for it any more.

        An answer with an id that was given before is `repeated`, and not given.
        """
        item = NewItem(new_id(id), "answer", canonical(payload, "payload"), self.run, self.key, checked_sender(by))
        delivery = self._store.deliver(item)
        if delivery.state == "refused":
            raise NotWaitingError(
                f"the answer to {self.key!r} of the run {self.run!r} was refused: {delivery.outcome}", run=self.run,
                hint=f"See what it waits for: abstractcore runs show {self.run}",
            )  # fmt: skip
        return delivery

    def allow(self, *, by: str | None = None) -> Delivery:
        """Lets the tool call run."""
        return self._answer_call(self._pending().allow(), by)

    def deny(self, reason: str = "", *, by: str | None = None) -> Delivery:
        """Refuses the tool call; the model is given the reason."""
        return self._answer_call(self._pending().deny(reason), by)

    def edit(self, arguments: dict[str, JSON], *, by: str | None = None) -> Delivery:
        """Lets the tool call run with other arguments."""
        return self._answer_call(self._pending().edit(arguments), by)

    def respond(self, *answers: dict[str, JSON] | None, by: str | None = None) -> Delivery:
        """Answers the questions of a tool, in their order; None declines one."""
        return self._answer_call(self._pending().respond(*answers), by)

    def result(self, value: JSON = None, *, by: str | None = None) -> Delivery:
        """Gives the result of a tool call that ran elsewhere, as text, or of an interrupted effect, as JSON.

        `value` is the result, as JSON data.
        """
        if self._is_effect:
            return self.answer({"decision": "result", "value": value}, by=by)
        return self._answer_call(self._pending().result(value if isinstance(value, str) else to_text(value)), by)

    def repeat(self, *, by: str | None = None) -> Delivery:
        """Lets an interrupted effect or tool call begin again."""
        if self._is_effect:
            return self.answer({"decision": "repeat"}, by=by)
        return self.allow(by=by)

    def skip(self, reason: str = "", *, by: str | None = None) -> Delivery:
        """Goes on without an interrupted effect or tool call."""
        if self._is_effect:
            return self.answer({"decision": "skip", "reason": reason}, by=by)
        return self.deny(reason, by=by)

    @property
    def _is_effect(self) -> bool:
        return self.key == INTERRUPTED

    def _pending(self) -> PendingCall:
        pending = member(self.asked, "pending")
        if pending is None:
            hint = "Answer it with .answer(...)."
            raise RunError(f"the wait {self.key!r} is not of a tool call", run=self.run, hint=hint)
        return from_json(canonical(pending, "pending").decode(), PendingCall)

    def _answer_call(self, answer: ToolAnswer, by: str | None) -> Delivery:
        return self.answer({"answer": parsed(to_json(answer))}, by=by)


def new_id(given: str | None) -> str:
    """Returns the id of an item: the one that was given, or a new one."""
    return uuid.uuid4().hex if given is None else check_item_id(given, "id")


def checked_sender(by: str | None) -> str | None:
    """Returns who sends an item; raises `InvalidInputError` for an invalid name."""
    return None if by is None else check_name(by, "by")


def to_text(value: JSON) -> str:
    """Returns JSON as a tool's result has it."""
    return canonical(value, "result").decode()
