"""`Leases`: calls of keys with limits. A lease that is never settled, as of a process that was killed, expires."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, case, delete, func, insert, or_, select, update

from .keys import KeyLimits
from .store import Store
from .tables import keys, leases

WINDOW_SECONDS = 60.0
"""How long a call counts: its request from its begin, its tokens from its end."""
_MOST_TOKENS = 10**12
"""What one call can count: numbers of clients and vendors have no end, those of databases have."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call was not let in: `limit` is reached, and may have room in `retry_after` seconds."""

    limit: Literal["requests", "tokens", "calls at once"]
    most: int
    retry_after: float


class Leases:
    """Lets calls in while a key is within its limits, exactly, over all processes that share the database.

    Every method raises `StoreUnavailable`. `now` returns seconds since the epoch. `process` are up to 12 characters
    that name this process among all that share the database.
    """

    def __init__(self, store: Store, now: Callable[[], float] = time.time, process: str = "") -> None:
        self._store = store
        self._now = now
        self._process = process

    def begin(self, name: str, limits: KeyLimits, tokens: int, seconds: float) -> str | Refusal:
        """Reserves `tokens` for a call that takes at most `seconds`; returns its lease's id, or why it may not run.

        A call that needs more tokens than the limit is let in while no others count.
        """
        most = _MOST_TOKENS if limits.tokens_per_minute is None else limits.tokens_per_minute
        reserved = min(tokens, most)
        with self._store.writing() as connection:
            connection.execute(select(keys.c.name).where(keys.c.name == name).with_for_update())
            now = self._now()
            connection.execute(delete(leases).where(leases.c.name == name, _is_past(now)))
            refusal = _refusal(_used(connection, name, now), limits, reserved, now)
            if refusal is not None:
                return refusal
            lease = self._process + uuid.uuid4().hex[len(self._process) :]
            row = {"id": lease, "name": name, "begun": now, "expires": now + seconds, "tokens": reserved}
            connection.execute(insert(leases).values(row))
            return lease

    def settle(self, lease: str, tokens: int) -> None:
        """Ends a lease: its call used `tokens`."""
        with self._store.writing() as connection:
            ended = update(leases).where(leases.c.id == lease)
            connection.execute(ended.values(settled=self._now(), tokens=min(tokens, _MOST_TOKENS)))

    def free(self, process: str) -> None:
        """Ends the leases of a process that was killed: its calls count as if they had used what they reserved."""
        with self._store.writing() as connection:
            held = and_(leases.c.id.startswith(process, autoescape=True), leases.c.settled.is_(None))
            connection.execute(update(leases).where(held).values(settled=self._now()))


def _runs(now: float) -> ColumnElement[bool]:
    return and_(leases.c.settled.is_(None), leases.c.expires > now)


def _is_past(now: float) -> ColumnElement[bool]:
    ended = or_(leases.c.settled <= now - WINDOW_SECONDS, and_(leases.c.settled.is_(None), leases.c.expires <= now))
    return and_(leases.c.begun <= now - WINDOW_SECONDS, ended)


def _used(connection: Connection, name: str, now: float) -> Any:
    """Returns what counts of a key's leases now, and the times from which on less does."""
    begun = leases.c.begun > now - WINDOW_SECONDS
    tokens = or_(_runs(now), leases.c.settled > now - WINDOW_SECONDS)
    return connection.execute(
        select(
            func.coalesce(func.sum(case((begun, 1), else_=0)), 0).label("requests"),
            func.coalesce(func.sum(case((tokens, leases.c.tokens), else_=0)), 0).label("tokens"),
            func.coalesce(func.sum(case((_runs(now), 1), else_=0)), 0).label("running"),
            func.min(case((begun, leases.c.begun))).label("first_begun"),
            func.min(case((leases.c.settled > now - WINDOW_SECONDS, leases.c.settled))).label("first_settled"),
        ).where(leases.c.name == name)
    ).one()


def _refusal(used: Any, limits: KeyLimits, tokens: int, now: float) -> Refusal | None:
    if limits.parallel is not None and used.running >= limits.parallel:
        return Refusal("calls at once", limits.parallel, 1.0)
    if limits.requests_per_minute is not None and used.requests >= limits.requests_per_minute:
        return Refusal("requests", limits.requests_per_minute, used.first_begun + WINDOW_SECONDS - now)
    if limits.tokens_per_minute is not None and used.tokens + tokens > limits.tokens_per_minute:
        wait = 1.0 if used.first_settled is None else used.first_settled + WINDOW_SECONDS - now
        return Refusal("tokens", limits.tokens_per_minute, wait)
    return None
