"""`LedgerJournal`: the events of an agent's loop are records of its run."""

from __future__ import annotations

from collections.abc import Iterable

from abstractcore import from_json, to_json
from abstractcore.database import DatabaseError
from abstractcore.errors import JournalError, JournalLost
from abstractcore.schema import JournalEntry

from ..effects import EffectContext
from ..errors import LeaseLostError
from ..json_documents import canonical, parsed


class LedgerJournal:
    """A journal in the ledger of a run, for the effect of a context: each event is committed when `append` returns.

    Later effects with the same key in the same run continue the loop. The lease of the run keeps others from writing.
    """

    def __init__(self, context: EffectContext) -> None:
        self._context = context

    def open(self) -> Iterable[JournalEntry]:
        """Returns the events so far; raises `JournalError` if the database fails."""
        try:
            notes = self._context.notes("journal")
        except DatabaseError as error:
            raise _unwritten(error) from error
        return [from_json(canonical(note, "entry").decode(), JournalEntry) for note in notes]

    def append(self, entry: JournalEntry) -> None:
        """Commits an event; raises `JournalLost` if another worker has the run, and `JournalError`."""
        try:
            self._context.note("journal", parsed(to_json(entry)))
        except LeaseLostError as error:
            raise JournalLost(str(error)) from error
        except DatabaseError as error:
            raise _unwritten(error) from error

    def close(self) -> None:
        """Does nothing: the lease lasts until the run is given back."""


def _unwritten(error: DatabaseError) -> JournalError:
    return JournalError(f"the ledger cannot be used: {error.message}", hint=error.hint)
