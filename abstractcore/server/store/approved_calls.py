"""`ApprovedCalls`: calls of tools that clients have approved. Each runs once, in one of the processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import delete, insert, null, select, update

from .store import Store, lock
from .tables import approved_calls

RESULT_SECONDS: Final = 3600.0
"""How long results are kept: clients send an answer again soon, or not at all."""


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A call that has begun before, with its result as JSON data; None if it has none, or not any more."""

    result: Mapping[str, Any] | None = field(repr=False)


class ApprovedCalls:
    """Keeps which calls have begun, for `seconds`, and their results, for an hour. A call is known by a digest.

    Every method raises `StoreUnavailable`. `now` returns seconds since the epoch.
    """

    def __init__(self, store: Store, seconds: float, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._seconds = seconds
        self._now = now

    def begin(self, id: str) -> BegunCall | None:
        """Begins a call; returns None if it is to be run by who asks, else what is known of it."""
        now = self._now()
        with self._store.writing() as connection:
            lock(connection, id)
            connection.execute(delete(approved_calls).where(approved_calls.c.expires <= now))
            outdated = update(approved_calls).where(approved_calls.c.result_expires <= now)
            connection.execute(outdated.values(result=null(), result_expires=null()))
            row = connection.execute(select(approved_calls.c.result).where(approved_calls.c.id == id)).first()
            if row is not None:
                return BegunCall(row.result)
            connection.execute(insert(approved_calls).values(id=id, expires=now + self._seconds))
        return None

    def end(self, id: str, result: Mapping[str, Any]) -> None:
        """Keeps the result of a call that has begun."""
        with self._store.writing() as connection:
            ended = update(approved_calls).where(approved_calls.c.id == id)
            connection.execute(ended.values(result=dict(result), result_expires=self._now() + RESULT_SECONDS))
