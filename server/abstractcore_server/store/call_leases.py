"""`CallLeases`: calls of keys with limits. A lease that is never settled, as of a process that was killed, expires."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Float, String, and_, bindparam, case, delete, func, insert, or_, select, update

from abstractcore.database import Statement, writes

from .keys import KeyLimits
from .tables import Store, keys, leases

WINDOW_SECONDS = 60.0
"""How long a call counts: its request from its begin, its tokens from its end."""
_MOST_TOKENS = 10**12
"""What one call can count: numbers of clients and vendors have no end, those of databases have."""


@dataclass(frozen=True, slots=True)
class LimitReached:
    """Why a call was not let in: `limit` is reached, and may have room in `retry_after` seconds."""

    limit: Literal["requests", "tokens", "calls at once"]
    most: int
    retry_after: float


class CallLeases:
    """Lets calls in while a key is within its limits, exactly, over all processes that share the database.

    Every method raises `DatabaseError`. `now` returns seconds since the epoch. `process` are up to 12 characters
    that name this process among all that share the database.
    """

    def __init__(self, store: Store, now: Callable[[], float] = time.time, process: str = "") -> None:
        self.database = store
        self._now = now
        self._process = process

    @writes
    def begin(
        self, connection: Connection, name: str, limits: KeyLimits, tokens: int, seconds: float
    ) -> str | LimitReached:
        """Reserves `tokens` for a call that takes at most `seconds`; returns its lease's id, or why it may not run.

        A call that needs more tokens than the limit is let in while no others count.
        """
        most = _MOST_TOKENS if limits.tokens_per_minute is None else limits.tokens_per_minute
        reserved = min(tokens, most)
        _LOCK_KEY.first(connection, name=name)
        now = self._now()
        window = {"name": name, "now": now, "since": now - WINDOW_SECONDS}
        _DELETE_PAST.run(connection, **window)
        refusal = _limit_reached(_USED.first(connection, **window), limits, reserved, now)
        if refusal is not None:
            return refusal
        lease = self._process + uuid.uuid4().hex[len(self._process) :]
        _INSERT.run(connection, id=lease, name=name, begun=now, expires=now + seconds, tokens=reserved)
        return lease

    @writes
    def settle(self, connection: Connection, lease: str, tokens: int) -> None:
        """Ends a lease: its call used `tokens`."""
        _SETTLE.run(connection, lease=lease, now=self._now(), used=min(tokens, _MOST_TOKENS))

    @writes
    def free(self, connection: Connection, process: str) -> None:
        """Ends the leases of a process that was killed: its calls count as if they had used what they reserved."""
        held = and_(leases.c.id.startswith(process, autoescape=True), leases.c.settled.is_(None))
        connection.execute(update(leases).where(held).values(settled=self._now()))


_NAME, _NOW, _SINCE = (
    bindparam("name", type_=String),
    bindparam("now", type_=Float(53)),
    bindparam("since", type_=Float(53)),
)
_RUNS = and_(leases.c.settled.is_(None), leases.c.expires > _NOW)
_IS_OF_WINDOW = leases.c.begun > _SINCE
_LOCK_KEY = Statement(select(keys.c.name).where(keys.c.name == _NAME).with_for_update())
_DELETE_PAST = Statement(
    delete(leases).where(
        leases.c.name == _NAME,
        leases.c.begun <= _SINCE,
        or_(leases.c.settled <= _SINCE, and_(leases.c.settled.is_(None), leases.c.expires <= _NOW)),
    )
)
_USED = Statement(
    select(
        func.coalesce(func.sum(case((_IS_OF_WINDOW, 1), else_=0)), 0).label("requests"),
        func.coalesce(func.sum(case((or_(_RUNS, leases.c.settled > _SINCE), leases.c.tokens), else_=0)), 0).label(
            "tokens"
        ),
        func.coalesce(func.sum(case((_RUNS, 1), else_=0)), 0).label("running"),
        func.min(case((_IS_OF_WINDOW, leases.c.begun))).label("first_begun"),
        func.min(case((leases.c.settled > _SINCE, leases.c.settled))).label("first_settled"),
    ).where(leases.c.name == _NAME)
)
"""What counts of a key's leases, and the times from which on less does."""
_INSERT = Statement(
    insert(leases).values({name: bindparam(name) for name in ("id", "name", "begun", "expires", "tokens")})
)
_SETTLE = Statement(
    update(leases).where(leases.c.id == bindparam("lease", type_=String)).values(settled=_NOW, tokens=bindparam("used"))
)


def _limit_reached(used: Any, limits: KeyLimits, tokens: int, now: float) -> LimitReached | None:
    if limits.parallel is not None and used.running >= limits.parallel:
        return LimitReached("calls at once", limits.parallel, 1.0)
    if limits.requests_per_minute is not None and used.requests >= limits.requests_per_minute:
        return LimitReached("requests", limits.requests_per_minute, used.first_begun + WINDOW_SECONDS - now)
    if limits.tokens_per_minute is not None and used.tokens + tokens > limits.tokens_per_minute:
        wait = 1.0 if used.first_settled is None else used.first_settled + WINDOW_SECONDS - now
        return LimitReached("tokens", limits.tokens_per_minute, wait)
    return None
