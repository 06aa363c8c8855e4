"""`DatabaseLedger`: the accounts of budgets in a database that several processes share.

A killed process leaves nothing reserved: each reservation has an expiry. All transactions lock the row of the account
first, so that two of them never wait for each other.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any, Final

from ..database import (  # first: without SQLAlchemy, it says what to install
    CommitUnknownError,
    Database,
    Schema,
    Statement,
    reads,
    writes,
)

# isort: split
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    MetaData,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from ..ports.budgets import Balance, BudgetAccount

_KEEP_SECONDS: Final = 86_400.0
"""How long the account of a past window is kept: calls that began in it may still run."""
_MOST: Final = 2**63 - 1

_tables = MetaData()
_accounts = Table(
    "budget_accounts",
    _tables,
    Column("key", Text, primary_key=True),
    Column("spent", BigInteger, nullable=False),
    Column("estimated", BigInteger, nullable=False, server_default="0"),
    Column("reserved", BigInteger, nullable=False),
    Column("warned", Boolean, nullable=False),
    Column("ends_at", Float(53), index=True),
)
_reservations = Table(
    "budget_reservations",
    _tables,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("expires_at", Float(53), nullable=False),
    Index("budget_reservations_expiry", "key", "expires_at"),
)


def _add_estimated(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE budget_accounts ADD COLUMN estimated BIGINT NOT NULL DEFAULT 0"))


SCHEMA: Final = Schema("budgets_version", _tables, 2, {2: _add_estimated})

_this = _accounts.c.key == bindparam("account")
_given: Any = bindparam("given", type_=BigInteger)
_held: Any = bindparam("held", type_=BigInteger)
_reserve = Statement(
    update(_accounts)
    .where(_this, _accounts.c.spent + _accounts.c.reserved + _given <= bindparam("most", type_=BigInteger))
    .values(reserved=_accounts.c.reserved + _given)
)
_note = Statement(
    insert(_reservations).values(
        id=bindparam("id"), key=bindparam("account"), amount=bindparam("given"), expires_at=bindparam("expires")
    )
)
_sums = select(_accounts.c.spent, _accounts.c.reserved, _accounts.c.estimated).where(_this)
_balance = Statement(_sums)
_locked = Statement(_sums.with_for_update())
_of_id = _reservations.c.id == bindparam("id")
_found = Statement(select(_reservations.c.amount).where(_of_id))
_ended = Statement(delete(_reservations).where(_of_id))
_settle = Statement(
    update(_accounts)
    .where(_this)
    .values(
        spent=_accounts.c.spent + _given,
        estimated=_accounts.c.estimated + bindparam("part", type_=BigInteger),
        reserved=_accounts.c.reserved - _held,
    )
)
_is_late = (
    _reservations.c.key == bindparam("account"),
    _reservations.c.expires_at <= bindparam("now"),
    _reservations.c.amount > 0,
)
_late = Statement(select(func.coalesce(func.sum(_reservations.c.amount), 0).label("amount")).where(*_is_late))
_expire = Statement(update(_reservations).where(*_is_late).values(amount=0))
_warn = Statement(update(_accounts).where(_this, _accounts.c.warned.is_(False)).values(warned=True))
_is_past = _accounts.c.ends_at <= bindparam("before")
_forget_reservations = Statement(
    delete(_reservations).where(_reservations.c.key.in_(select(_accounts.c.key).where(_is_past).scalar_subquery()))
)
_forget = Statement(delete(_accounts).where(_is_past))
_new: dict[str, Any] = {
    name: Statement(
        dialect.insert(_accounts)
        .values(key=bindparam("account"), spent=0, estimated=0, reserved=0, warned=False, ends_at=bindparam("ends"))
        .on_conflict_do_nothing()
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}


class DatabaseLedger:
    """Accounts in a SQLite file, or in a database by its URL: `sqlite:///budgets.db`, `postgresql://...`, a `Path`, or
    a `Database` that is open. Processes that give the same place share the budgets of the same names.

    Raises the errors of `abstractcore.database`.
    """

    blocks = True

    def __init__(self, place: str | Path | Database) -> None:
        if isinstance(place, Database):
            self.database = place
            place.migrate(SCHEMA)
        else:
            self.database = Database(place, schema=SCHEMA)

    def reserve(self, account: BudgetAccount, amount: int, now: float, expires_at: float) -> int | Balance:
        """As `BudgetLedger.reserve`: one conditional UPDATE, and the reservation with its expiry."""
        id = secrets.randbits(63)
        try:
            return self._reserve(account, id, amount, now, expires_at)
        except CommitUnknownError:
            found = self._reserved(account, id)
            return self._reserve(account, id, amount, now, expires_at) if found is None else found

    @reads
    def _reserved(self, connection: Connection, account: BudgetAccount, id: int) -> int | None:
        """Returns the id of a reservation, if it was committed."""
        return None if _found.first(connection, id=id) is None else id

    @writes
    def _reserve(
        self, connection: Connection, account: BudgetAccount, id: int, amount: int, now: float, expires_at: float
    ) -> int | Balance:
        values = {"account": account.key, "given": min(amount, _MOST // 4), "most": account.limit}
        fits = bool(_reserve.run(connection, **values))
        if not fits and self._makes_room(connection, account, now):
            fits = bool(_reserve.run(connection, **values))
        if not fits:
            return _balance_of(connection, account)
        _note.run(connection, id=id, account=account.key, given=values["given"], expires=expires_at)
        return id

    def settle(self, account: BudgetAccount, id: int, amount: int, estimated: int = 0) -> Balance:
        """As `BudgetLedger.settle`."""
        amount, estimated = min(amount, _MOST // 4), min(estimated, _MOST // 4)
        try:
            return self._end(account, id, amount, estimated)
        except CommitUnknownError:
            return self._end(account, id, amount, estimated)  # without effect if it was committed

    def release(self, account: BudgetAccount, id: int) -> None:
        """As `BudgetLedger.release`."""
        self.settle(account, id, 0)

    @reads
    def balance(self, connection: Connection, account: BudgetAccount, now: float) -> Balance:
        """As `BudgetLedger.balance`."""
        found = _balance_of(connection, account)
        late = _late.first(connection, account=account.key, now=now)
        return found._replace(reserved=found.reserved - int(late.amount))

    @writes
    def mark_warned(self, connection: Connection, account: BudgetAccount) -> bool:
        """As `BudgetLedger.mark_warned`."""
        return _warn.run(connection, account=account.key) > 0

    def close(self) -> None:
        """Closes the connections. Further use opens them again."""
        self.database.close()

    def _makes_room(self, connection: Connection, account: BudgetAccount, now: float) -> bool:
        """Makes an account, or ends its reservations that have expired; returns whether there was one of these."""
        if _locked.first(connection, account=account.key) is None:
            before = now - _KEEP_SECONDS
            _forget_reservations.run(connection, before=before)
            _forget.run(connection, before=before)
            _new[connection.dialect.name].run(connection, account=account.key, ends=account.ends_at)
            return True
        late = int(_late.first(connection, account=account.key, now=now).amount)
        if late:
            _expire.run(connection, account=account.key, now=now)
            _settle.run(connection, account=account.key, given=0, part=0, held=late)
        return late > 0

    @writes
    def _end(self, connection: Connection, account: BudgetAccount, id: int, amount: int, estimated: int) -> Balance:
        before = _locked.first(connection, account=account.key)
        found = _found.first(connection, id=id)
        if before is None or found is None:
            return Balance() if before is None else Balance(*before)
        _ended.run(connection, id=id)
        _settle.run(connection, account=account.key, given=amount, part=estimated, held=found.amount)
        return Balance(before.spent + amount, before.reserved - found.amount, before.estimated + estimated)


def _balance_of(connection: Connection, account: BudgetAccount) -> Balance:
    found = _balance.first(connection, account=account.key)
    return Balance() if found is None else Balance(*found)
