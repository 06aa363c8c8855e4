"""`ApprovedCalls`: calls of tools that clients have approved. Each runs once, in one of the processes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, null, select, update

from abstractcore.database import lock, writes

from .tables import ExpiringRows, approved_calls

RESULT_SECONDS: Final = 3600.0
"""How long results are kept: clients send an answer again soon, or not at all."""


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A call that has begun before, with its result as JSON data; None if it has none, or not any more."""

    result: Mapping[str, Any] | None = field(repr=False)


class ApprovedCalls(ExpiringRows):
    """Keeps which calls have begun, for `seconds`, and their results, for an hour. A call is known by a digest.

    Every method raises `DatabaseError`.
    """

    @writes
    def begin(self, connection: Connection, ids: Collection[str]) -> dict[str, BegunCall]:
        """Returns the calls that have begun before, and begins the others, which the caller is to run; if one has begun
        and has no result, it begins none.
        """
        now = self._now()
        for id in sorted(ids):
            lock(connection, id)
        connection.execute(delete(approved_calls).where(approved_calls.c.expires <= now))
        outdated = update(approved_calls).where(approved_calls.c.result_expires <= now)
        connection.execute(outdated.values(result=null(), result_expires=null()))
        rows = connection.execute(
            select(approved_calls.c.id, approved_calls.c.result).where(approved_calls.c.id.in_(ids))
        )
        begun = {row.id: BegunCall(row.result) for row in rows}
        new = [{"id": id, "expires": now + self._seconds} for id in ids if id not in begun]
        if new and all(call.result is not None for call in begun.values()):
            connection.execute(insert(approved_calls), new)
        return begun

    @writes
    def end(self, connection: Connection, id: str, result: Mapping[str, Any]) -> None:
        """Keeps the result of a call that has begun."""
        ended = update(approved_calls).where(approved_calls.c.id == id)
        connection.execute(ended.values(result=dict(result), result_expires=self._now() + RESULT_SECONDS))
