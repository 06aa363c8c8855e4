"""Deletes the bodies of records, and keeps their hashes: the chain stays whole."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from abstractcore.database import Statement
from abstractcore.errors import InvalidInputError

from ..errors import LedgerError, RunError
from ..json_documents import canonical, digest, member, parsed
from ..records import ENDED, chained
from .bodies import artifact_hashes, decoded
from .reading import DAMAGED, not_found
from .store import Store
from .tables import artifacts, ledger, runs

_b = bindparam
_LOCKED_RUN: Final = Statement(select(runs).where(runs.c.id == _b("run")).with_for_update())
_RECORD: Final = Statement(select(ledger).where(ledger.c.run == _b("run"), ledger.c.seq == _b("seq")))
_BODIES: Final = Statement(select(ledger.c.seq, ledger.c.body).where(ledger.c.run == _b("run")))
_JOURNAL: Final = Statement(
    select(ledger)
    .where(
        ledger.c.run == _b("run"), ledger.c.seq > _b("after"), ledger.c.kind == "journal", ledger.c.body.is_not(None)
    )
    .order_by(ledger.c.seq)
)
_ARTIFACT: Final = Statement(
    select(artifacts.c.body).where(artifacts.c.run == _b("run"), artifacts.c.sha256 == _b("sha256"))
)
_DELETE_BODY: Final = Statement(
    update(ledger)
    .where(ledger.c.run == _b("the_run"), ledger.c.seq == _b("the_seq"))
    .values(body=None, redacted=_b("redacted"))
)
_DELETE_ARTIFACT: Final = Statement(
    delete(artifacts).where(artifacts.c.run == _b("the_run"), artifacts.c.sha256 == _b("the_sha256"))
)
_ADD: Final = Statement(insert(ledger).values({column.name: _b(column.name) for column in ledger.c}))
_UPDATE: Final = Statement(
    update(runs)
    .where(runs.c.id == _b("the_run"), runs.c.seq == _b("the_seq"), runs.c.owner.is_(None))
    .values(seq=_b("seq"), head=_b("head"), state=None, output=None, error=None)
)


def redact(store: Store, run: str, seq: int, *, by: str | None = None) -> bool:
    """Deletes the body of a record for good, with its values that are stored apart; False if it was deleted before.

    The record keeps its number, kind, time and hash, so the ledger still verifies. What the run's row has of its state,
    its output and its error is deleted as well, since it is made of what records have; other runs that have got the
    same values, such as a parent, keep them. Such a run can be verified and exported, and not replayed.

    The later beginnings and snapshots of an agent's loop, which repeat what came before, are redacted too. Any other
    record keeps what it has of the same values, such as the arguments of a call in its request, approval and result.

    Only a run that has ended is redacted: nobody holds it, so this transaction stands in for the holder, who alone
    writes a row and a ledger. It locks the row, and appends a record `redacted` with the number, the hash, and `by`.
    Without such a record a body that is missing is a problem. The database may keep the bytes in free pages and its
    log until these are written again: `VACUUM`.

    Raises `RunNotFoundError`, `RunError` for a run that has not ended, `InvalidInputError` for a record that does not
    exist or is itself of a redaction, and `LedgerError` for one that cannot be read.
    """

    def work(connection: Connection) -> bool:
        row = _LOCKED_RUN.first(connection, run=run)
        if row is None:
            raise not_found(run)
        if row.status not in ENDED:
            hint = f"End it first: abstractcore runs cancel {run}"
            raise RunError(f"the run {run!r} has not ended: it cannot be redacted", run=run, hint=hint)
        if row.owner is not None:
            hint = "Redact it again in a moment, when what it has sent is delivered."
            raise RunError(f"the run {run!r} is still held by a worker: it cannot be redacted", run=run, hint=hint)
        record = _RECORD.first(connection, run=run, seq=seq)
        if record is None or record.kind == "redacted":
            problem = "does not exist" if record is None else "reports a redaction, and stays"
            raise InvalidInputError(f"the record {seq} of the run {run!r} {problem}", path="seq")
        if record.body is None:
            return False
        now, number, head = store.now(connection), row.seq, row.head
        for each in (record, *_repeating(connection, run, seq)):
            _delete(connection, run, each)
            data = canonical({"seq": each.seq, "sha256": digest(each.body), "by": by}, "body")
            number += 1
            head = chained(run, number, "redacted", now, digest(data), head)
            _ADD.run(connection, run=run, seq=number, kind="redacted", at=now, body=data, redacted=None, hash=head)
        _UPDATE.run(connection, the_run=run, the_seq=row.seq, seq=number, head=head)
        return True

    return store.database.write(work)


def _delete(connection: Connection, run: str, record: Any) -> None:
    """Deletes a body, and its values that no other record has."""
    apart = _artifacts(run, record.seq, record.body)
    if apart:
        for other in _BODIES.all(connection, run=run):
            if other.seq != record.seq and other.body is not None:
                apart -= _artifacts(run, other.seq, other.body)
    for sha256 in apart:
        _DELETE_ARTIFACT.run(connection, the_run=run, the_sha256=sha256)
    _DELETE_BODY.run(connection, the_run=run, the_seq=record.seq, redacted=digest(record.body))


def _repeating(connection: Connection, run: str, after: int) -> list[Any]:
    """Returns the records after one that repeat what came before: the beginnings and snapshots of an agent's loop."""

    def artifact(sha256: str) -> bytes | None:
        row = _ARTIFACT.first(connection, run=run, sha256=sha256)
        return None if row is None else row.body

    found: list[Any] = []
    for record in _JOURNAL.all(connection, run=run, after=after):
        with _reading(run, record.seq):
            if member(member(decoded(record.body, artifact), "entry"), "kind") == "start":
                found.append(record)
    return found


def _artifacts(run: str, seq: int, body: Any) -> set[str]:
    with _reading(run, seq):
        return {*artifact_hashes(parsed(body))}


@contextmanager
def _reading(run: str, seq: int) -> Generator[None]:
    try:
        yield
    except DAMAGED as error:
        hint = f"See what is wrong: abstractcore runs verify {run}"
        raise LedgerError(f"record {seq} of {run!r} cannot be read: {error}", run=run, seq=seq, hint=hint) from error
