"""`LoopJournal`: notes what happens in a running loop, and catches up with what an earlier process noted."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from ..errors import JournalError, JournalLost
from ..ports import CallContext, Journal, Runtime
from ..schema import JournalEntry, ToolLoop, ToolStep, digest
from ..tools.file_journal import loop_after


class LoopJournal:
    """The journal of one loop while it runs. `open` comes first; `end` is the last."""

    def __init__(self, journal: Journal, runtime: Runtime) -> None:
        self._journal = journal
        self._runtime = runtime
        self._noted: set[tuple[int, str]] = set()
        self._round = 0
        self._requests = 0
        self._is_open = False
        self._opening = threading.Lock()
        self._is_locked = False
        self._is_given_up = False
        self._failure: BaseException | None = None
        self._is_behind = False

    async def open(self, given: ToolLoop | None) -> ToolLoop | None:
        """Returns the state of the loop that the journal holds; None for an empty journal.

        `given` is the state that will be continued, None for a new loop. Raises `JournalError` for a journal of another
        loop, and one that lacks what `given` has.
        """
        try:
            found = await self._runtime.call(self._open_journal, kind="files")
        except BaseException:
            self._give_up()
            raise
        try:
            if found is not None:
                _check_same(found, given)
        except JournalError:
            self._journal.close()
            raise
        self._is_open = True
        state = found or given
        if state is not None:
            self._noted = _ids(state.steps)
            self._round, self._requests = len(state.replies), state.requests
        return found

    def _open_journal(self) -> ToolLoop | None:
        entries = self._journal.open()
        try:
            found = loop_after(entries)
        except BaseException:
            self._journal.close()
            raise
        with self._opening:
            self._is_locked = not self._is_given_up
        if not self._is_locked:
            self._journal.close()
        return found

    def _give_up(self) -> None:
        """Closes the journal: a cancelled call does not wait for the thread that opens it, which may go on."""
        with self._opening:
            self._is_given_up = True
        if self._is_locked:
            self._journal.close()

    async def note(self, entry: JournalEntry) -> None:
        """Notes an event; it is on the disk when this returns."""
        if entry.step is not None:
            self._noted.add((entry.step.round, entry.step.call.id))
        if entry.reply is not None:
            self._round, self._requests = self._round + 1, 0
        await self._runtime.call(self._append, entry, kind="files")

    async def note_request(self, context: CallContext) -> None:
        """Notes that a request of the current round is about to leave."""
        self._requests += 1
        call = digest(context.call)
        await self.note(JournalEntry("request", round=self._round, number=self._requests, digest=call))

    def _append(self, entry: JournalEntry) -> None:
        """Writes an event. Nothing more is written when the journal was lost, or failed in a way that it did not
        foresee: whether it has the event, and whose it is, is not known then. Without the start or a reply of the
        loop, later events would make no sense.
        """
        if self._failure is not None:
            raise self._failure
        try:
            self._journal.append(entry)
        except BaseException as error:
            if isinstance(error, JournalLost) or not isinstance(error, JournalError):
                self._failure = error
            elif entry.step is not None:
                self._noted.discard((entry.step.round, entry.step.call.id))  # `end` tries again
            elif entry.kind in ("start", "reply"):
                self._is_behind = True
            raise

    async def finish(self, loop: ToolLoop) -> None:
        """As `end`, without blocking."""
        await self._runtime.call(self.end, loop, kind="files")

    def end(self, loop: ToolLoop) -> None:
        """Notes steps that have not been noted, the status of the loop and what it has used; closes the journal."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            if self._failure is not None or self._is_behind:
                return
            for step in loop.steps:
                if (step.round, step.call.id) not in self._noted:
                    self._append(JournalEntry("step", step=step))
            self._append(
                JournalEntry(
                    "end",
                    usage=loop.usage,
                    cost=loop.cost,
                    cost_source=loop.cost_source,
                    cost_reason=loop.cost_reason,
                    price_rows=loop.price_rows,
                    estimated_cost=loop.estimated_cost,
                    cost_sums=loop.cost_sums,
                    status=loop.status,
                )
            )
        finally:
            self._journal.close()


def _check_same(found: ToolLoop, given: ToolLoop | None) -> None:
    if given is None:
        hint = "Continue it: llm.resume(FileJournal(path).loop(), ...). Or give each call a file of its own."
        raise JournalError(f"the journal holds another loop, {found.id} ({found.status}).", hint=hint)
    if given.id != found.id:
        raise JournalError(
            f"the journal holds the loop {found.id}, and not {given.id}.", hint="Give the journal of this loop."
        )
    if len(given.replies) > len(found.replies) or _ids(given.steps) - _ids(found.steps):
        raise JournalError(
            "the journal lacks rounds or calls of the given loop, which was continued without it.",
            hint="Give an empty journal.",
        )


def _ids(steps: Iterable[ToolStep]) -> set[tuple[int, str]]:
    return {(step.round, step.call.id) for step in steps}
