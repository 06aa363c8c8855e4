"""`Store`: the operations on runs, each in one transaction of a database."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, bindparam, exists, func, select

from abstractcore.database import (
    CommitUnknownError,
    ConstraintError,
    Database,
    DatabaseError,
    Listener,
    Retries,
    Statement,
    notify,
)
from abstractcore.ports import Clock

from ..errors import RunExistsError
from ..json_documents import JSON, digest, parsed
from ..programs import Item, WaitReason
from ..records import OpenWait, Record, RunInfo, Spent
from . import claims, commits, items, reading
from .commits import Change, NewRun
from .items import Delivery, NewItem
from .leases import Lease
from .tables import artifacts, inbox, ledger, runs, schema, waits

T = TypeVar("T")
_log = logging.getLogger("abstractruntime")
_b = bindparam
_SERVER_TIME: Final = Statement(select(func.extract("epoch", func.clock_timestamp()).label("now")))
_AFTER: Final = select(ledger).where(ledger.c.run == _b("run"), ledger.c.seq > _b("after"))
_RECORDS: Final = Statement(_AFTER.order_by(ledger.c.seq).limit(_b("limit")))
_RECORDS_OF_KIND: Final = Statement(_AFTER.where(ledger.c.kind == _b("kind")).order_by(ledger.c.seq).limit(_b("limit")))
_LATEST: Final = Statement(
    select(ledger)
    .where(ledger.c.run == _b("run"), ledger.c.seq < _b("before"), ledger.c.kind == _b("kind"))
    .order_by(ledger.c.seq.desc())
    .limit(_b("limit"))
)
_FIRST_RECORD: Final = Statement(select(ledger.c.body).where(ledger.c.run == _b("run"), ledger.c.seq == 1))
_ARTIFACT: Final = Statement(
    select(artifacts.c.body).where(artifacts.c.run == _b("run"), artifacts.c.sha256 == _b("sha256"))
)
_WAITS: Final = Statement(select(waits).where(waits.c.run == _b("run")).order_by(waits.c.opened, waits.c.position))
_INBOX: Final = Statement(select(inbox).where(inbox.c.run == _b("run")).order_by(inbox.c.number))
_CHILDREN: Final = Statement(select(runs.c.id).where(runs.c.parent == _b("parent")).order_by(runs.c.created))
_CHANNEL: Final = "abstractruntime"
"""That of notifications: some run is due."""
_PAGE: Final = 500
"""How many records are read at once."""
_SMALL_PAGE: Final = 50
"""The same, where a reader may need a few only."""
COMMITS: Final = Retries(attempts=60, seconds=30)
"""A database that is started again is gone for seconds: shorter retries would give every run up."""
_UNKNOWN_COMMITS: Final = Retries(attempts=5, seconds=30)
"""Of commits whose reply was lost, and that are not there: a disk that has failed does so each time."""


class Store:
    """The runs of one database. Every method waits for the database, and raises `DatabaseError` if it fails.

    `seconds` is how long a lease lasts. `on_due` is called after a transaction that made a run due, with nothing. What
    `create` and `deliver` made due is announced to other processes, too; what the holder of a lease did, is not.
    `has_one_writer` is True for SQLite, where transactions that write wait for each other.
    """

    def __init__(
        self, database: Database, *, seconds: float = 30.0, clock: Clock | None = None, retries: Retries = COMMITS
    ) -> None:
        database.migrate(schema)
        self.database = database
        self.seconds = seconds
        self.on_due: list[Callable[[], object]] = []
        self.has_one_writer = database.read(lambda connection: connection.dialect.name == "sqlite")
        self._clock = clock
        self._retries = retries

    def now(self, connection: Connection) -> float:
        """Returns the time, in seconds since the epoch: that of the database, for all its workers."""
        if self._clock is not None:
            return self._clock.time_of_day()
        if connection.dialect.name == "sqlite":  # which has no clock but this machine's
            return time.time()
        return float(_SERVER_TIME.first(connection).now)

    def time(self) -> float:
        """Returns the time of the database."""
        return self.database.read(self.now)

    def time_of(self, lease: Lease) -> float:
        """Returns the time of the database for a held run, without asking it."""
        if self._clock is not None:
            return self._clock.time_of_day()
        return lease.now

    def create(self, new: NewRun) -> bool:
        """Creates a run; False if it exists already, with the same program and input.

        Raises `RunExistsError` if it exists with others.
        """

        def work(connection: Connection) -> bool:
            found = commits.RUN.first(connection, id=new.id)
            if found is None:
                commits.create(connection, new, self.now(connection))
                return True
            first = _FIRST_RECORD.first(connection, run=new.id)
            if not reading.is_created_by(first, new.id, new.program, digest(new.input)):
                hint = "Give another id, or the same program and input."
                raise RunExistsError(f"a run {new.id!r} of {found.program} exists", run=new.id, hint=hint)
            return False

        created = self._write(work, is_idempotent=True)
        if created:
            self._notify()
            self.announce()
        return created

    def create_of_event(self, key: str, make: Callable[[JSON], NewRun]) -> str | None:
        """Creates the run that `make` returns for the payload of the first kept event of a key, which is applied by it.

        Returns the id of the run, None without an event. Raises `RunExistsError` for an id that a run has.
        """

        def work(connection: Connection) -> str | None:
            kept = items.first_kept(connection, key)
            if kept is None:
                return None
            new = make(parsed(kept.payload))
            if commits.RUN.first(connection, id=new.id) is not None:
                raise RunExistsError(f"a run {new.id!r} exists", run=new.id)
            commits.create(connection, new, self.now(connection))
            items.begin_run(connection, kept.number, new.id)
            return new.id

        created = self.database.write(work, retries=self._retries)
        if created is not None:
            self._notify()
            self.announce()
        return created

    def deliver(self, item: NewItem) -> Delivery:
        """Stores an item, and gives it to its run, or to all that wait for its key. An id is delivered once.

        Raises `RunNotFoundError` for a run that does not exist.
        """

        def work(connection: Connection) -> Delivery:
            if item.run is not None and commits.RUN.first(connection, id=item.run) is None:
                raise reading.not_found(item.run)
            return items.deliver(connection, item, self.now(connection))

        delivery = self._write(work)
        self._notify()
        self.announce()
        return delivery

    def deliver_sent(self, lease: Lease) -> None:
        """Delivers what a held run has sent, each item in a transaction of its own."""
        while rows := self.database.read(lambda connection: items.added(connection, lease.run)):
            for row in rows:
                self._write(
                    lambda connection, id=row.id: items.deliver_added(connection, id, self.now(connection)),
                    is_idempotent=True,
                )
        lease.delivered = True
        self._notify()

    def announce(self) -> None:
        """Wakes the workers of other processes, which then look for runs that are due. Those of SQLite only poll.

        It is a transaction of its own: no commit of a step is made to wait for others.
        """
        if self.has_one_writer:
            return
        try:
            self.database.write(lambda connection: notify(connection, _CHANNEL), retries=Retries(attempts=1))
        except DatabaseError as error:
            _log.info("other workers were not woken, and will find by polling what is due: %s", error)

    def listen(self, announced: Callable[[], object]) -> Listener | None:
        """Calls `announced`, in a thread, when a process has announced that a run is due; returns what stops that.

        None for SQLite.
        """
        return self.database.listen(_CHANNEL, announced)

    def claim(self, programs: Sequence[str], owner: str, limit: int = 1) -> list[Lease]:
        """Takes up to `limit` runs of these programs, as `name@version`, that are due."""
        return self.database.write(
            lambda connection: claims.claim(connection, programs, owner, limit, self.now(connection), self.seconds),
            retries=self._retries,
        )

    def claim_run(self, run: str, owner: str) -> Lease | None:
        """Takes one run, whether it is due or not; None if another worker holds it."""
        return self._write(
            lambda connection: claims.claim_run(connection, run, owner, self.now(connection), self.seconds)
        )

    def extend(self, leases: Sequence[Lease]) -> None:
        """Lets leases last for another `seconds`; those that are held by others now are marked, and interrupted."""

        def work(connection: Connection) -> tuple[float, list[frozenset[str] | None]]:
            now = self.now(connection)
            return now, [claims.extend(connection, lease, now + self.seconds) for lease in leases]

        now, found = self.database.write(work)
        for lease, commands in zip(leases, found, strict=True):
            if commands is None:
                lease.lose()
                continue
            lease.hold(now, now + self.seconds)
            if commands:
                lease.has_commands = True
                if "cancel" in commands:
                    lease.interruption.set()

    def release(self, lease: Lease, due_at: float | None = None) -> None:
        """Gives a run back as it is, due at once or at a time: whoever claims it finds its effect in flight."""
        with lease.lock:
            if lease.is_held:
                self._write(
                    lambda connection: claims.release(
                        connection, lease, self.now(connection) if due_at is None else due_at
                    ),
                    is_idempotent=True,
                )
                lease.released = True
        self._notify()

    def commit(self, lease: Lease, change: Change) -> None:
        """Writes a change of a held run, all of it or nothing.

        Raises `LeaseLostError` if another worker has the run: nothing is written then.
        """
        with lease.lock:
            if not lease.is_held:
                raise lease.lost_error()
            new = self._committed(lease, change)
            if new is None:
                lease.lose()
                raise lease.lost_error()
            for name, value in new.items():
                setattr(lease, name, value)
        if lease.due_at is not None or change.children:
            self._notify()

    def _committed(self, lease: Lease, change: Change) -> dict[str, Any] | None:
        """Makes a commit; one whose reply was lost is made again if it is not there."""
        found: list[dict[str, Any] | None] = []

        def work(connection: Connection) -> None:
            found.append(commits.commit(connection, lease, change, self.time_of(lease), self.seconds))

        def once() -> dict[str, Any] | None:
            try:
                self._write(work)
            except CommitUnknownError as error:
                if (new := found[-1]) is None:
                    return None
                is_there = self.database.read(
                    lambda connection: commits.is_committed(connection, lease, change, new), retries=self._retries
                )
                if is_there is None:
                    return None
                if not is_there:
                    error.retryable = True
                    raise
            return found[-1]

        return _UNKNOWN_COMMITS.run(once)

    def note(self, lease: Lease, kind: str, body: dict[str, Any]) -> int:
        """Appends a record to the ledger of a held run; returns its number."""
        with lease.lock:
            self.commit(lease, Change(records=[(kind, body)]))
            return lease.seq

    def next_item(self, lease: Lease) -> tuple[Item, int, Spent] | None:
        """Returns the item that a held run takes next, its number, and what a child has spent; None if it waits.

        A deadline that has passed is an item too, without a number in the inbox: 0.
        """
        scope = items.scope(lease.paused_at, lease.inflight)

        def work(connection: Connection) -> tuple[Item, int, Spent] | None:
            row = items.next_item(connection, lease.run, scope)
            now = self.now(connection)
            if row is not None:
                item, spent = reading.item(row, now)
                return item, row.number, spent
            if scope != "all":
                return None
            passed = [wait for wait in lease.waits.values() if wait.deadline is not None and wait.deadline <= now]
            if not passed:
                return None
            wait = min(passed, key=lambda each: (each.deadline, each.key))
            return Item(f"timeout:{lease.run}:{wait.opened}:{wait.key}", "timeout", None, wait.key, now), 0, Spent()

        return self.database.read(work, retries=self._retries)

    def run(self, id: str) -> RunInfo:
        """Returns what is known of a run; raises `RunNotFoundError`."""
        row = self.database.read(lambda connection: commits.RUN.first(connection, id=id))
        if row is None:
            raise reading.not_found(id)
        return reading.run_info(row)

    def runs(
        self,
        *,
        status: str | None = None,
        program: str | None = None,
        session: str | None = None,
        parent: str | None = None,
        reason: WaitReason | None = None,
        limit: int = 100,
    ) -> list[RunInfo]:
        """Returns runs, the newest first. `program` is a name, or `name@version`, `reason` that of an open wait."""
        statement = select(runs).order_by(runs.c.created.desc(), runs.c.id).limit(limit)
        for column, value in ((runs.c.status, status), (runs.c.session, session), (runs.c.parent, parent)):
            if value is not None:
                statement = statement.where(column == value)
        if reason is not None:
            statement = statement.where(exists().where(waits.c.run == runs.c.id, waits.c.reason == reason))
        if program is not None:
            exact = runs.c.program == program
            statement = statement.where(exact | runs.c.program.startswith(f"{program}@", autoescape=True))
        return [
            reading.run_info(row) for row in self.database.read(lambda connection: connection.execute(statement).all())
        ]

    def waits(self, run: str) -> list[OpenWait]:
        """Returns the open waits of a run, in the order in which they were opened."""
        rows = self.database.read(lambda connection: _WAITS.all(connection, run=run))
        return [reading.open_wait(row) for row in rows]

    def inbox(self, run: str) -> list[Any]:
        """Returns the rows of the items of a run, with their state and outcome."""
        return self.database.read(lambda connection: _INBOX.all(connection, run=run))

    def children(self, run: str) -> list[str]:
        """Returns the ids of the runs that a run has started."""
        rows = self.database.read(lambda connection: _CHILDREN.all(connection, parent=run))
        return [row.id for row in rows]

    def records(self, run: str, after: int = 0, *, kind: str | None = None) -> Iterator[Record]:
        """Yields the records of a run after a number, in order, with the values that are stored apart; those of one
        kind, if it is given.
        """
        while page := self._page(run, after, kind):
            yield from page
            after = page[-1].seq

    def _page(self, run: str, after: int, kind: str | None) -> list[Record]:
        def work(connection: Connection) -> list[Record]:
            if kind is None:
                rows = _RECORDS.all(connection, run=run, after=after, limit=_PAGE)
            else:
                rows = _RECORDS_OF_KIND.all(connection, run=run, after=after, limit=_PAGE, kind=kind)
            return _read(connection, run, rows)

        return self.database.read(work)

    def latest(self, run: str, kind: str) -> Iterator[Record]:
        """Yields the records of a run of one kind, the newest first, with the values that are stored apart. They are
        read in small pages, as they are taken.
        """
        before = 2**31 - 1
        while page := self.database.read(lambda connection, before=before: _latest(connection, run, kind, before)):
            yield from page
            before = page[-1].seq

    def seconds_until_due(self, programs: Sequence[str]) -> float | None:
        """Returns how long it takes until a run of these programs is due, 0 if one is; None if none will be."""

        def work(connection: Connection) -> float | None:
            due_at = claims.next_due(connection, programs)
            return None if due_at is None else max(0.0, due_at - self.now(connection))

        return self.database.read(work)

    def due_programs(self) -> dict[str, int]:
        """Returns how many runs of each program are due, whoever knows the program."""
        return self.database.read(lambda connection: claims.due_programs(connection, self.now(connection)))

    def _write(self, work: Callable[[Connection], T], *, is_idempotent: bool = False) -> T:
        """Makes a transaction. One that has collided with another in a unique id finds its row the next time; so does
        one that is idempotent, if the reply to its COMMIT was lost.
        """
        try:
            return self.database.write(work, retries=self._retries)
        except ConstraintError:
            return self.database.write(work, retries=self._retries)
        except CommitUnknownError:
            if not is_idempotent:
                raise
            return self.database.write(work, retries=self._retries)

    def _notify(self) -> None:
        for made_due in self.on_due:
            made_due()


def _latest(connection: Connection, run: str, kind: str, before: int) -> list[Record]:
    rows = _LATEST.all(connection, run=run, before=before, limit=_SMALL_PAGE, kind=kind)
    return _read(connection, run, rows)


def _read(connection: Connection, run: str, rows: Sequence[Any]) -> list[Record]:
    def artifact(sha256: str) -> bytes | None:
        found = _ARTIFACT.first(connection, run=run, sha256=sha256)
        return None if found is None else found.body

    return [reading.record(row, artifact) for row in rows]
