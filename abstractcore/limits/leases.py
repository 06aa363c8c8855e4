"""`CallLeases`: the calls of names with limits in a database that several processes share.

A lease that is never settled, as of a process that was killed, expires. So does the turn of a process that waits.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ..database import (  # first: without SQLAlchemy, it says what to install
    Database,
    Schema,
    Statement,
    lock,
    writes,
)

# isort: split
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Index,
    MetaData,
    String,
    Table,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from .counting import WINDOW_SECONDS, LimitReached, Numbers

_MOST_TOKENS: Final = 10**12
"""What one call can count: numbers of clients and vendors have no end, those of databases have."""
_UNKNOWN_SECONDS: Final = 1.0
"""When to ask again for what a running call will free."""
_TURN_SECONDS: Final = 2.0
"""How long a turn lasts beyond the time when its call is to ask again."""
_SAME_TIME: Final = 1.0
"""Calls of two processes whose ranks differ by less are let in as they ask: processes that took turns would be slow."""
_SHORTEST_PAUSE: Final = 0.02
_tables: Final = MetaData()
leases: Final = Table(
    "abstractcore_leases",
    _tables,
    Column("id", String(32), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("begun", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False),
    Column("settled", Float(53)),
    Column("tokens", BigInteger, nullable=False),
    Index("abstractcore_leases_of_key", "name", "begun"),
)
"""The calls of names with limits. `tokens` are those reserved, once it is `settled` those used."""
turns: Final = Table(
    "abstractcore_turns",
    _tables,
    Column("id", String(32), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("rank", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False),
    Index("abstractcore_turns_of_name", "name", "rank"),
)
"""The calls that wait, at most one of each process and name: the lowest rank is the next."""
SCHEMA: Final = Schema("abstractcore_limits_version", _tables, 1)

TokensCount: TypeAlias = Literal["from begin", "until end"]
"""How long the tokens of a call count: for a minute from its begin, or until a minute after its end."""


class Turn(NamedTuple):
    """The place of a call that may wait among those of other processes: the lowest rank is the next."""

    id: str
    rank: float
    is_kept: bool = False
    """Whether the database has it."""


class CallLeases:
    """Lets calls in while a name is within its limits, exactly, over all processes that share the database.

    Every method raises `DatabaseError`. `now` returns seconds since the epoch; a clock that goes back lets what began
    later than now count as begun now. `process` are up to 12 characters that name this process among all that share the
    database.
    """

    def __init__(
        self,
        database: Database,
        now: Callable[[], float] = time.time,
        process: str = "",
        tokens_count: TokensCount = "until end",
    ) -> None:
        self.database = database
        database.migrate(SCHEMA)
        self._now = now
        self._process = process
        self._used = _USED[tokens_count]

    @writes
    def begin(
        self,
        connection: Connection,
        name: str,
        numbers: Numbers,
        tokens: int,
        seconds: float,
        turn: Turn | None = None,
        now: float | None = None,
    ) -> str | LimitReached:
        """Reserves `tokens` for a call that takes at most `seconds`; returns its lease's id, or why it may not run.

        A call that needs more tokens than the limit is let in while no others count. One with a `turn` keeps it until
        it is let in, or for two seconds longer than it was told to wait; calls whose rank is higher by more than a
        second are not let in before.
        """
        most = _MOST_TOKENS if numbers.tokens_per_minute is None else numbers.tokens_per_minute
        reserved = min(tokens, most)
        lock(connection, name)
        now = self._now() if now is None else now
        window = {"name": name, "now": now, "since": now - WINDOW_SECONDS}
        _DELETE_PAST.run(connection, **window)
        used = self._used.first(connection, **window)
        if used.latest is not None and used.latest > now:
            _GO_BACK.run(connection, name=name, now=now)
            used = self._used.first(connection, **window)
        refusal = None if turn is None else _earlier_turn(connection, name, turn, now)
        refusal = refusal or _limit_reached(used, numbers, reserved, now)
        if refusal is not None:
            if turn is not None:
                _keep(connection, name, turn, now, refusal)
            return refusal
        if turn is not None and turn.is_kept:
            _DELETE_TURN.run(connection, id=turn.id)
        lease = self._process + uuid.uuid4().hex[len(self._process) :]
        _INSERT.run(connection, id=lease, name=name, begun=now, expires=now + seconds, tokens=reserved)
        return lease

    @writes
    def settle(self, connection: Connection, lease: str, tokens: int, now: float | None = None) -> None:
        """Ends a lease: its call used `tokens`."""
        _SETTLE.run(connection, lease=lease, now=self._now() if now is None else now, used=min(tokens, _MOST_TOKENS))

    @writes
    def drop(self, connection: Connection, lease: str) -> None:
        """Ends a lease whose call was not sent: it does not count."""
        _DROP.run(connection, lease=lease)

    @writes
    def give_up(self, connection: Connection, turn: Turn) -> None:
        """Ends the turn of a call that waits no more."""
        _DELETE_TURN.run(connection, id=turn.id)

    @writes
    def renew(self, connection: Connection, running: Sequence[str], seconds: float, now: float) -> None:
        """Lets leases that run last for so many seconds from now. One whose end could not be written is not among them,
        and expires.
        """
        for lease in running:
            _RENEW.run(connection, lease=lease, expires=now + seconds)

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
_DELETE_PAST: Final = Statement(
    delete(leases).where(
        leases.c.name == _NAME,
        leases.c.begun <= _SINCE,
        or_(leases.c.settled <= _SINCE, and_(leases.c.settled.is_(None), leases.c.expires <= _NOW)),
    )
)


def _used(tokens_count: Any, first_freed: Any) -> Statement:
    """Returns what counts of a name's leases, and the times from which on less does."""
    return Statement(
        select(
            func.coalesce(func.sum(case((_IS_OF_WINDOW, 1), else_=0)), 0).label("requests"),
            func.coalesce(func.sum(case((tokens_count, leases.c.tokens), else_=0)), 0).label("tokens"),
            func.coalesce(func.sum(case((_RUNS, 1), else_=0)), 0).label("running"),
            func.min(case((_IS_OF_WINDOW, leases.c.begun))).label("first_begun"),
            func.max(leases.c.begun).label("latest"),
            first_freed.label("first_freed"),
        ).where(leases.c.name == _NAME)
    )


_USED: Final = {
    "from begin": _used(_IS_OF_WINDOW, func.min(case((_IS_OF_WINDOW, leases.c.begun)))),
    "until end": _used(
        or_(_RUNS, leases.c.settled > _SINCE), func.min(case((leases.c.settled > _SINCE, leases.c.settled)))
    ),
}
_GO_BACK: Final = Statement(
    update(leases)
    .where(leases.c.name == _NAME, leases.c.begun > _NOW)
    .values(begun=_NOW, settled=case((leases.c.settled > _NOW, _NOW), else_=leases.c.settled))
)
_INSERT: Final = Statement(
    insert(leases).values({name: bindparam(name) for name in ("id", "name", "begun", "expires", "tokens")})
)
_IS_LEASE = leases.c.id == bindparam("lease", type_=String)
_SETTLE: Final = Statement(update(leases).where(_IS_LEASE).values(settled=_NOW, tokens=bindparam("used")))
_RENEW: Final = Statement(
    update(leases).where(_IS_LEASE, leases.c.settled.is_(None)).values(expires=bindparam("expires"))
)
_DROP: Final = Statement(delete(leases).where(_IS_LEASE))
_ID = bindparam("id", type_=String)
_EARLIER: Final = Statement(
    select(func.min(turns.c.expires).label("expires")).where(
        turns.c.name == _NAME,
        turns.c.rank < bindparam("rank", type_=Float(53)),
        turns.c.id != _ID,
        turns.c.expires > _NOW,
    )
)
_DELETE_TURN: Final = Statement(delete(turns).where(turns.c.id == _ID))
_DELETE_PAST_TURNS: Final = Statement(delete(turns).where(turns.c.name == _NAME, turns.c.expires <= _NOW))
_INSERT_TURN: Final = Statement(
    insert(turns).values({name: bindparam(name) for name in ("id", "name", "rank", "expires")})
)


def _earlier_turn(connection: Connection, name: str, turn: Turn, now: float) -> LimitReached | None:
    found = _EARLIER.first(connection, name=name, rank=turn.rank - _SAME_TIME, id=turn.id, now=now)
    if found.expires is None:
        return None
    asks_at = found.expires - _TURN_SECONDS
    return LimitReached("turn", 0, min(_UNKNOWN_SECONDS, max(_SHORTEST_PAUSE, asks_at - now)))


def _keep(connection: Connection, name: str, turn: Turn, now: float, refusal: LimitReached) -> None:
    """Writes a turn, in place of an earlier one of the same call, and removes those of calls that ask no more. Of what
    may be free earlier than expected, a call that waits asks often: a killed one is in the way for a moment only.
    """
    seconds = refusal.retry_after if refusal.limit == "requests" else min(refusal.retry_after, _UNKNOWN_SECONDS)
    _DELETE_PAST_TURNS.run(connection, name=name, now=now)
    _DELETE_TURN.run(connection, id=turn.id)
    expires = now + seconds + _TURN_SECONDS
    _INSERT_TURN.run(connection, id=turn.id, name=name, rank=turn.rank, expires=expires)


def _limit_reached(used: Any, numbers: Numbers, tokens: int, now: float) -> LimitReached | None:
    most = numbers.parallel
    if most is not None and used.running >= most:
        return LimitReached("calls at once", most, _UNKNOWN_SECONDS)
    most = numbers.requests_per_minute
    if most is not None and used.requests >= most:
        return LimitReached("requests", most, used.first_begun + WINDOW_SECONDS - now)
    most = numbers.tokens_per_minute
    if most is not None and used.tokens + tokens > most:
        wait = _UNKNOWN_SECONDS if used.first_freed is None else used.first_freed + WINDOW_SECONDS - now
        return LimitReached("tokens", most, wait)
    return None
