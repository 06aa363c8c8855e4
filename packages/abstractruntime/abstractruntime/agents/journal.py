"""`LedgerJournal`: the events of an agent's loop are records of its run."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from abstractcore import from_json, loop_of, to_json
from abstractcore.database import DatabaseError
from abstractcore.errors import InvalidInputError, JournalError, JournalLost
from abstractcore.schema import JournalEntry

from ..effects import EffectContext
from ..errors import LeaseLostError
from ..json_documents import canonical, parsed

_MOST_EVENTS: Final = 50
"""So many events are followed by a snapshot, when the loop next waits."""
_CUT_OFF: Final = ("interrupted", "not_run")
"""Outcomes of calls that a loop does not run, or whose end it does not see."""


class LedgerJournal:
    """A journal in the ledger of a run, for the effect of a context: each event is committed when `append` returns.

    Later effects with the same key in the same run continue the loop. The lease of the run keeps others from writing.

    A loop that ends early, as when its worker is stopped, gives each open call a result, which says that it was cut
    off. A run goes on: the journal leaves these results out, so that calls that had not begun run later, those that
    wait still wait, and nobody guesses what became of one that was running.

    A loop that waits often has a snapshot of its state from time to time, with which reading begins: an answer costs as
    much after a thousand events as after fifty.
    """

    def __init__(self, context: EffectContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._unwritten: list[JournalEntry] = []
        self._entries: list[JournalEntry] | None = None
        """The events from the last snapshot on, once they have been read: nobody else adds some."""

    def open(self) -> Iterable[JournalEntry]:
        """Returns the events from the last snapshot on; raises `JournalError` if the database fails."""
        if self._entries is None:
            try:
                self._entries = self._read()
            except DatabaseError as error:
                raise _unusable(error) from error
        return [*self._entries]

    def _read(self) -> list[JournalEntry]:
        found: list[JournalEntry] = []
        for note in self._context.notes("journal"):
            found.append(from_json(canonical(note, "entry").decode(), JournalEntry))
            if found[-1].kind == "start":
                break
        return found[::-1]

    def append(self, entry: JournalEntry) -> None:
        """Commits an event; raises `JournalLost` if another worker has the run, and `JournalError`.

        The result of a call that was not run is committed with the next event, which says why.
        """
        with self._lock:
            if entry.step is not None and entry.step.outcome in _CUT_OFF:
                self._unwritten.append(entry)
                return
            if entry.status in ("cancelled", "failed"):
                self._unwritten.clear()
            while self._unwritten:
                self._note(self._unwritten[0])
                del self._unwritten[0]
            self._note(entry)
            if entry.status == "suspended" and self._needs_snapshot():
                with suppress(InvalidInputError):  # it is longer than a value may be, and its events are not
                    self._note(JournalEntry("start", loop=loop_of(self)))

    def _needs_snapshot(self) -> bool:
        """Whether there are many events, and all that has begun since the last reply has a result: what became of a
        call is decided by its own events.
        """
        entries = self._entries or ()
        if len(entries) < _MOST_EVENTS:
            return False
        begun: set[str] = set()
        for entry in entries:
            if entry.call is not None:
                begun.add(entry.call.id)
            elif entry.step is not None:
                begun.discard(entry.step.call.id)
            elif entry.reply is not None:
                begun.clear()
        return not begun

    def _note(self, entry: JournalEntry) -> None:
        try:
            self._context.note("journal", parsed(to_json(entry)))
        except LeaseLostError as error:
            raise JournalLost(str(error)) from error
        except DatabaseError as error:
            raise _unusable(error) from error
        if self._entries is not None:
            if entry.kind == "start":  # it stands for all before it
                self._entries.clear()
            self._entries.append(entry)

    def close(self) -> None:
        """Does nothing: the lease lasts until the run is given back."""


def _unusable(error: DatabaseError) -> JournalError:
    return JournalError(f"the ledger cannot be used: {error.message}", hint=error.hint)
