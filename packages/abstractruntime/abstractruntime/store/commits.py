"""The one transaction of a step: records, the new state, waits, items and children; all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from abstractcore.database import Statement, lock

from ..errors import RunExistsError
from ..json_documents import JSON, canonical, canonical_around, digest, parsed
from ..programs import Wait
from ..records import ENDED, Limits, OpenWait, Spent, chained
from . import items
from .bodies import encoded
from .leases import Lease
from .tables import artifacts, ledger, runs, waits

_b = bindparam
_FIELDS: Final = ("status", "state", "output", "error", "paused_at")
"""What a change may have, as its columns have it."""
_LEFT: Final = 1 / 2
"""A commit extends a lease of which less than this part is left: a heartbeat does so before, where there is one."""
_RECORD: Final = Statement(
    insert(ledger).values(
        {**{name: _b(name) for name in ("run", "seq", "kind", "at", "body", "hash")}, "redacted": None}
    )
)
_ARTIFACT: Final = Statement(insert(artifacts).values(run=_b("run"), sha256=_b("sha256"), body=_b("body")))
_HAS_ARTIFACT: Final = Statement(
    select(artifacts.c.sha256).where(artifacts.c.run == _b("run"), artifacts.c.sha256 == _b("sha256"))
)
_CLOSE_WAIT: Final = Statement(delete(waits).where(waits.c.run == _b("the_run"), waits.c.key == _b("the_key")))
_OPEN_WAIT: Final = Statement(
    insert(waits).values(
        {name: _b(name) for name in ("run", "key", "reason", "deadline", "asked", "opened", "position")}
    )
)
_INSERT_RUN: Final = Statement(insert(runs).values({column.name: _b(column.name) for column in runs.c}))
_RELEASE: Final = Statement(update(runs).where(runs.c.id == _b("the_id")).values(owner=None, due_at=_b("due_at")))
RUN: Final = Statement(select(runs).where(runs.c.id == _b("id")))


@lru_cache(maxsize=256)
def _update(*names: str) -> Statement:
    """Returns the statement that writes these columns of a held run: the index of one that is not named stays as it is,
    which is half the pages of a commit.
    """
    is_held = (
        runs.c.id == _b("the_id"), runs.c.fence == _b("the_fence"), runs.c.owner == _b("the_owner"),
        runs.c.seq == _b("the_seq"),
    )  # fmt: skip
    return Statement(update(runs).where(*is_held).values({name: _b(name) for name in names}))


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to create, with the id of its start item, `start:ID`, and the payload of it."""

    id: str
    program: str
    input: bytes
    limits: Limits = field(default_factory=Limits)
    parent: str | None = None
    parent_key: str | None = None
    session: str | None = None
    due_at: float | None = None


@dataclass(slots=True)
class Change:
    """What a transaction changes of a held run. What is `...` stays as it is.

    `waits` are all that are open from then on. With `release` the run is given back, unless there is something to do
    now; `due_at` is the time that it asks for, beside its deadlines.
    """

    records: list[tuple[str, dict[str, JSON]]] = field(default_factory=list[tuple[str, dict[str, JSON]]])
    status: Any = ...
    state: Any = ...
    inflight: Any = ...
    output: Any = ...
    error: Any = ...
    spent: Any = ...
    paused_at: Any = ...
    waits: Sequence[Wait] | None = None
    applied: tuple[int, str] | None = None
    """The number of the item that was taken, and its outcome."""
    refused: tuple[int, str] | None = None
    sends: Sequence[items.NewItem] = ()
    children: Sequence[NewRun] = ()
    release: bool = False
    due_at: float | None = None


def create(connection: Connection, new: NewRun, now: float) -> None:
    """Creates a run, with its first record and its start item."""
    body = {
        "program": new.program,
        "input": digest(new.input),
        "limits": new.limits.to_data(),
        **{name: value for name in ("parent", "session") if (value := getattr(new, name)) is not None},
    }
    data, _ = encoded(body)
    head = chained(new.id, 1, "created", now, digest(data), None)
    due_at = now if new.due_at is None else new.due_at
    _INSERT_RUN.run(
        connection,
        id=new.id, program=new.program, status="running", state=None, inflight=None, seq=1, head=head, due_at=due_at,
        owner=None, fence=0, outbox=0, paused_at=None, parent=new.parent, parent_key=new.parent_key,
        session=new.session, limits=canonical(new.limits.to_data(), "limits"),
        spent=canonical(Spent().to_data(), "spent"), output=None, error=None, created=now, updated=now,
    )  # fmt: skip
    _RECORD.run(connection, run=new.id, seq=1, kind="created", at=now, body=data, hash=head)
    start = items.NewItem(f"start:{new.id}", "start", new.input, new.id, None, new.parent)
    items.INSERT.run(connection, **start.values("queued", now))


def commit(connection: Connection, lease: Lease, change: Change, now: float, ttl: float) -> dict[str, Any] | None:
    """Writes a change; returns the new values of the lease's fields, None if the run is held by another one now.

    Items whose id is stored already are not sent again. Raises `RunExistsError` for a child with the id of a run that
    is no child of this one, and `InvalidInputError` for a record that cannot be written.
    """
    events = sorted(wait.key for wait in change.waits or () if wait.reason == "event")
    for key in events:
        lock(connection, f"event:{key}")
    new = {name: value for name in _FIELDS if (value := getattr(change, name)) not in (..., getattr(lease, name))}
    records = _records(connection, lease, change, now)
    if records:
        new |= {"seq": records[-1]["seq"], "head": records[-1]["hash"]}
    sends = _new_items(connection, change)
    outbox = (0 if lease.delivered else lease.outbox) + len(sends)
    if outbox != lease.outbox:
        new["outbox"] = outbox
    columns = {**new, "updated": now}
    if change.inflight is not ...:
        new["inflight"] = inflight = change.inflight
        columns["inflight"] = None if inflight is None else canonical_around(inflight, "inflight")
    if change.spent is not ...:
        new["spent"] = change.spent
        columns["spent"] = canonical(change.spent.to_data(), "spent")
    if lease.held_until < now + ttl * _LEFT:
        new["held_until"] = columns["due_at"] = now + ttl
    changed = _update(*columns).run(
        connection, the_id=lease.run, the_fence=lease.fence, the_owner=lease.owner, the_seq=lease.seq, **columns
    )
    if changed != 1:
        return None
    for record in records:
        _RECORD.run(connection, run=lease.run, **record)
    if change.applied is not None:
        items.close_item(connection, change.applied[0], "applied", change.applied[1])
    if change.refused is not None:
        items.close_item(connection, change.refused[0], "refused", change.refused[1])
    status = new.get("status", lease.status)
    new["waits"] = _change_waits(connection, lease, change, new.get("seq", lease.seq), status in ENDED)
    for key in events:
        items.take_kept(connection, lease.run, key)
    for item in sends:
        items.INSERT.run(connection, **item.values("added", now))
    for child in change.children:
        _create_child(connection, lease, child, now)
    if status in ENDED:
        items.refuse_all(connection, lease.run)
    new["delivered"] = False
    if change.release and not outbox:
        due_at = None if status in ENDED else _due(connection, lease, new, change.due_at, now)
        if due_at is None or due_at > now:
            _RELEASE.run(connection, the_id=lease.run, due_at=due_at)
            new |= {"released": True, "due_at": due_at}
    return new


def _records(connection: Connection, lease: Lease, change: Change, now: float) -> list[dict[str, Any]]:
    """Returns the rows of new records; their large values are stored."""
    seq, head, records = lease.seq, lease.head, list[dict[str, Any]]()
    for kind, body in change.records:
        data, apart = encoded(body)
        seq += 1
        head = chained(lease.run, seq, kind, now, digest(data), head)
        records.append({"seq": seq, "kind": kind, "at": now, "body": data, "hash": head})
        for name, content in apart:
            if _HAS_ARTIFACT.first(connection, run=lease.run, sha256=name) is None:
                _ARTIFACT.run(connection, run=lease.run, sha256=name, body=content)
    return records


def _new_items(connection: Connection, change: Change) -> list[items.NewItem]:
    """Returns the items that a change sends, and that are not stored, each once."""
    by_id: dict[str, items.NewItem] = {}
    for item in change.sends:
        by_id.setdefault(item.id, item)
    return [item for item in by_id.values() if not items.is_stored(connection, item.id)]


def _create_child(connection: Connection, lease: Lease, child: NewRun, now: float) -> None:
    """Creates a child, unless this run has it."""
    found = RUN.first(connection, id=child.id)
    if found is None:
        create(connection, child, now)
    elif (found.parent, found.parent_key) != (child.parent, child.parent_key):
        raise RunExistsError(f"a run {child.id!r} exists, which is no child of this one", run=lease.run)
    elif found.status in ENDED and items.is_closed(connection, f"child:{child.id}"):
        raise RunExistsError(f"the child {child.id!r} has ended, and its end was taken", run=lease.run)


def is_committed(connection: Connection, lease: Lease, change: Change, new: dict[str, Any]) -> bool | None:
    """Whether a change whose COMMIT was interrupted is there; None if the run is not ours.

    One that neither released the run nor has records leaves no trace: it counts as missing, and is made again.
    """
    row = RUN.first(connection, id=lease.run)
    if row is None or row.fence != lease.fence:
        return None
    if new.get("released"):
        return row.owner is None
    return row.seq == new.get("seq")


def _change_waits(
    connection: Connection, lease: Lease, change: Change, seq: int, is_ended: bool
) -> dict[str, OpenWait]:
    """Closes and opens waits; returns those that are open."""
    if change.waits is None and not is_ended:
        return lease.waits
    wanted = {} if is_ended else {wait.key: wait for wait in change.waits or ()}
    still: dict[str, OpenWait] = {}
    for key, wait in lease.waits.items():
        new = wanted.get(key)
        if new is not None and (new.reason, new.deadline, new.asked) == (wait.reason, wait.deadline, wait.asked):
            still[key] = wait
        else:
            _CLOSE_WAIT.run(connection, the_run=lease.run, the_key=key)
    for position, wait in enumerate(wanted.values()):
        if wait.key not in still:
            asked = canonical_around(wait.asked, f"waits.{wait.key}.asked")
            _OPEN_WAIT.run(
                connection, run=lease.run, key=wait.key, reason=wait.reason, deadline=wait.deadline, asked=asked,
                opened=seq, position=position,
            )  # fmt: skip
            still[wait.key] = OpenWait(lease.run, wait.key, wait.reason, wait.deadline, parsed(asked), seq)
    return still


def _due(connection: Connection, lease: Lease, new: dict[str, Any], asked: float | None, now: float) -> float | None:
    """Returns when a worker has to see to a run that has not ended, and is not held any more."""
    items.refuse_answers(connection, lease.run)
    scope = items.scope(new.get("paused_at", lease.paused_at), new.get("inflight", lease.inflight))
    if items.next_item(connection, lease.run, scope) is not None:
        return now
    times = [] if asked is None else [asked]
    if lease.limits.seconds is not None:
        times.append(lease.created + lease.limits.seconds)
    if scope == "all":
        times += [wait.deadline for wait in new["waits"].values() if wait.deadline is not None]
    return min(times, default=None) if scope != "commands" else None
