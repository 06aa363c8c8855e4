"""The inbox: items are stored before anything else happens to them, and each gets an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from abstractcore.database import Statement, lock

from ..programs import INTERRUPTED, ItemKind
from ..records import ENDED
from .tables import LONGEST_OUTCOME, inbox, runs, waits

Scope: TypeAlias = Literal["all", "in flight", "commands"]
"""What a run takes: all that it waits for; only commands and the decision about its effect, while it has one; only
commands."""
_b = bindparam
_QUEUED: Final = inbox.c.state == "queued"
_HAS_WAIT: Final = exists().where(waits.c.run == inbox.c.run, waits.c.key == inbox.c.key)
INSERT: Final = Statement(
    insert(inbox).values(
        {name: _b(name) for name in ("id", "run", "key", "kind", "payload", "state", "sender", "created")}
    )
)
_BY_ID: Final = Statement(select(inbox).where(inbox.c.id == _b("id")))
_ADDED: Final = Statement(
    select(inbox).where(inbox.c.sender == _b("sender"), inbox.c.state == "added").order_by(inbox.c.number).limit(100)
)
_RUN: Final = Statement(
    select(runs.c.id, runs.c.status, runs.c.owner, runs.c.paused_at, runs.c.inflight)
    .where(runs.c.id == _b("id"))
    .with_for_update()
)
_WAIT: Final = Statement(select(waits.c.reason).where(waits.c.run == _b("run"), waits.c.key == _b("key")))
_LISTENERS: Final = Statement(
    select(waits.c.run).where(waits.c.key == _b("key"), waits.c.reason == "event").order_by(waits.c.run)
)
_PLACE: Final = Statement(
    update(inbox)
    .where(inbox.c.number == _b("the_number"))
    .values(run=_b("run"), state=_b("state"), outcome=_b("outcome"))
)
_REFUSE: Final = Statement(
    update(inbox)
    .where(inbox.c.number == _b("the_number"))
    .values(run=_b("run"), state="refused", outcome=_b("outcome"), payload=None)
)
_DUE: Final = Statement(update(runs).where(runs.c.id == _b("the_id")).values(due_at=_b("due_at")))
_OF_RUN: Final = select(inbox).where(inbox.c.run == _b("run"), _QUEUED)
_ORDER: Final = (case((inbox.c.kind == "command", 0), else_=1), inbox.c.number)
_IS_COMMAND: Final = inbox.c.kind == "command"
_IS_DECISION: Final = and_(inbox.c.kind == "answer", inbox.c.key == INTERRUPTED, _HAS_WAIT)
_TAKES: Final[dict[Scope, ColumnElement[bool]]] = {
    "all": or_(_IS_COMMAND, inbox.c.kind == "start", _HAS_WAIT),
    "in flight": or_(_IS_COMMAND, _IS_DECISION),
    "commands": _IS_COMMAND,
}
_NEXT: Final = {
    scope: Statement(_OF_RUN.where(condition).order_by(*_ORDER).limit(1)) for scope, condition in _TAKES.items()
}
_REFUSE_ANSWERS: Final = Statement(
    update(inbox)
    .where(inbox.c.run == _b("the_run"), _QUEUED, and_(inbox.c.kind == "answer", ~_HAS_WAIT))
    .values(state="refused", outcome="the wait is not open", payload=None)
)
_REFUSE_ALL: Final = Statement(
    update(inbox)
    .where(inbox.c.run == _b("the_run"), _QUEUED)
    .values(state="refused", outcome="the run has ended", payload=None)
)
_APPLY: Final = Statement(
    update(inbox)
    .where(inbox.c.number == _b("the_number"), _QUEUED)
    .values(state=_b("state"), outcome=_b("outcome"), payload=None)
)
_LARGE_PAYLOAD: Final = 500
"""The payload whose space SQLite is made to use again: an UPDATE leaves it empty in its page, a DELETE joins pages."""
_TAKE_LARGE: Final = Statement(
    delete(inbox)
    .where(inbox.c.number == _b("the_number"), _QUEUED, func.length(inbox.c.payload) > _LARGE_PAYLOAD)
    .returning(*inbox.c)
)
_PUT_BACK: Final = Statement(insert(inbox).values({column.name: _b(column.name) for column in inbox.c}))
_KEPT: Final = Statement(
    select(inbox.c.number, inbox.c.payload)
    .where(inbox.c.key == _b("key"), inbox.c.state == "kept")
    .order_by(inbox.c.number)
    .limit(1)
)
_BEGIN: Final = Statement(
    update(inbox)
    .where(inbox.c.number == _b("the_number"))
    .values(run=_b("run"), state="applied", outcome="begins the run", payload=None)
)
_HAS_ITEM: Final = Statement(
    select(inbox.c.number)
    .where(inbox.c.run == _b("run"), _QUEUED, inbox.c.key == _b("key"), inbox.c.kind != "command")
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to store. Without `run` it is an event for whoever waits for `key`."""

    id: str
    kind: ItemKind
    payload: bytes
    run: str | None = None
    key: str | None = None
    sender: str | None = None

    def values(self, state: str, created: float) -> dict[str, Any]:
        """Returns the columns of its row."""
        return {
            "id": self.id,
            "run": self.run,
            "key": self.key,
            "kind": self.kind,
            "payload": self.payload,
            "state": state,
            "sender": self.sender,
            "created": created,
        }


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of an item: `queued` for a run, `kept` for the first run that waits for its key, `refused` with the
    reason as its `outcome`, or `repeated`: an item of this id was stored before, and this one was not. `runs` are those
    that have it now.
    """

    id: str
    state: Literal["queued", "kept", "refused", "repeated"]
    outcome: str | None = None
    runs: tuple[str, ...] = ()


def is_stored(connection: Connection, id: str) -> bool:
    """Whether an item of this id was stored before."""
    return _BY_ID.first(connection, id=id) is not None


def is_closed(connection: Connection, id: str) -> bool:
    """Whether an item of this id was applied or refused."""
    row = _BY_ID.first(connection, id=id)
    return row is not None and row.state in ("applied", "refused")


def deliver(connection: Connection, item: NewItem, now: float) -> Delivery:
    """Stores an item and delivers it."""
    if is_stored(connection, item.id):
        return Delivery(item.id, "repeated")
    INSERT.run(connection, **item.values("added", now))
    return route(connection, _BY_ID.first(connection, id=item.id), now)


def added(connection: Connection, sender: str) -> list[Any]:
    """Returns rows of items that a run has sent, and that are not delivered."""
    return _ADDED.all(connection, sender=sender)


def deliver_added(connection: Connection, id: str, now: float) -> Delivery | None:
    """Delivers a stored item; None if it was delivered before."""
    row = _BY_ID.first(connection, id=id)
    return None if row.state != "added" else route(connection, row, now)


def route(connection: Connection, row: Any, now: float) -> Delivery:
    """Gives a stored item to its run, or to all that wait for its key."""
    if row.run is not None:
        return _to_run(connection, row, row.run, now)
    lock(connection, f"event:{row.key}")
    listening = [each.run for each in _LISTENERS.all(connection, key=row.key)]
    got: list[str] = []
    for run in listening:
        copy = row
        if got:
            id = f"copy:{row.id}>{run}"
            values = NewItem(id, row.kind, row.payload, run, row.key, row.sender).values("added", now)
            INSERT.run(connection, **values)
            copy = _BY_ID.first(connection, id=id)
        if _to_run(connection, copy, run, now).state == "queued":
            got.append(run)
    if got:
        return Delivery(row.id, "queued", None, tuple(got))
    _PLACE.run(connection, the_number=row.number, run=None, state="kept", outcome=None)
    return Delivery(row.id, "kept")


def _to_run(connection: Connection, row: Any, run: str, now: float) -> Delivery:
    found = _RUN.first(connection, id=run)
    if found is None:
        return _refused(connection, row, run, "there is no such run")
    if found.status in ENDED:
        return _refused(connection, row, run, f"the run has ended: it was {found.status}")
    is_open = row.kind in ("start", "command") or _WAIT.first(connection, run=run, key=row.key) is not None
    if row.kind == "answer" and found.owner is None and not is_open:
        return _refused(connection, row, run, f"the run does not wait for {row.key!r}")
    _PLACE.run(connection, the_number=row.number, run=run, state="queued", outcome=None)
    if found.owner is None and next_item(connection, run, scope(found.paused_at, found.inflight)) is not None:
        _DUE.run(connection, the_id=run, due_at=now)
    return Delivery(row.id, "queued", None, (run,))


def scope(paused_at: float | None, inflight: object) -> Scope:
    """Returns what a run takes."""
    if paused_at is not None:
        return "commands"
    return "all" if inflight is None else "in flight"


def _refused(connection: Connection, row: Any, run: str, outcome: str) -> Delivery:
    _REFUSE.run(connection, the_number=row.number, run=run, outcome=outcome)
    return Delivery(row.id, "refused", outcome)


def next_item(connection: Connection, run: str, scope: Scope) -> Any:
    """Returns the row of the item that a run takes next: commands first; None without one."""
    return _NEXT[scope].first(connection, run=run)


def refuse_answers(connection: Connection, run: str) -> None:
    """Refuses queued answers to waits that are not open."""
    _REFUSE_ANSWERS.run(connection, the_run=run)


def refuse_all(connection: Connection, run: str) -> None:
    """Refuses what is queued for a run that ends."""
    _REFUSE_ALL.run(connection, the_run=run)


def close_item(connection: Connection, number: int, state: str, outcome: str) -> bool:
    """Gives a queued item its outcome; False if it has one."""
    outcome = outcome[:LONGEST_OUTCOME]
    if connection.dialect.name == "sqlite" and (row := _TAKE_LARGE.first(connection, the_number=number)) is not None:
        closed = {"payload": None, "state": state, "outcome": outcome}
        return _PUT_BACK.run(connection, **{**row._asdict(), **closed}) == 1
    return _APPLY.run(connection, the_number=number, state=state, outcome=outcome) == 1


def take_kept(connection: Connection, run: str, key: str) -> None:
    """Gives the first kept event of a key to a run that waits for it, and that has no other item for it."""
    kept = _KEPT.first(connection, key=key)
    if kept is not None and _HAS_ITEM.first(connection, run=run, key=key) is None:
        _PLACE.run(connection, the_number=kept.number, run=run, state="queued", outcome=None)


def first_kept(connection: Connection, key: str) -> Any:
    """Returns the number and the payload of the first kept event of a key, which nobody else takes until the end of the
    transaction; None without one.
    """
    lock(connection, f"event:{key}")
    return _KEPT.first(connection, key=key)


def begin_run(connection: Connection, number: int, run: str) -> None:
    """Applies a kept event: it begins a run."""
    _BEGIN.run(connection, the_number=number, run=run)
