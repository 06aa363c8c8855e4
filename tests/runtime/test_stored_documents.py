"""Long documents are compressed where they are stored, and nowhere else is that seen."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from abstractruntime import FunctionProgram, Item, Run, Runtime, Step, Wait, verify_export
from abstractruntime.errors import LedgerError
from abstractruntime.store.tables import VERSION
from tests.runtime.checks import check

LONG = "A page of text that somebody has written, and that a run keeps. " * 40


def keeps(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.wait({"kept": item.payload}, Wait("go"))
    return Step.complete(state["kept"], state=state)


KEEPS = FunctionProgram("keeps", keeps)
Make = Callable[..., Runtime]
COLUMNS = {"abstractruntime_ledger": "body", "abstractruntime_runs": "state", "abstractruntime_inbox": "payload"}


def stored(runtime: Runtime, table: str) -> list[bytes]:
    """Returns what a table has, as it is stored."""
    with runtime.database.reading() as connection:
        found = connection.execute(text(f"SELECT {COLUMNS[table]} FROM {table}")).scalars().all()
    return [bytes(each) for each in found if each is not None]


def store(runtime: Runtime, body: bytes) -> None:
    with runtime.database.writing() as connection:
        connection.execute(text("UPDATE abstractruntime_ledger SET body = :body WHERE seq = 2"), {"body": body})


def kept(runtime: Runtime) -> tuple[Run, bytes]:
    """Returns a run that waits, and its second record as it is stored."""
    run = runtime.start(KEEPS, LONG, id="kept")
    runtime.work()
    return run, max(stored(runtime, "abstractruntime_ledger"), key=len)


def test_long_documents_are_compressed_and_read_as_they_were(make_stored: Make, tmp_path: Path) -> None:
    runtime = make_stored(KEEPS)
    run = runtime.start(KEEPS, LONG, id="kept")
    assert [len(each) < 500 for each in stored(runtime, "abstractruntime_inbox")] == [True]
    runtime.work()
    for table in ("abstractruntime_ledger", "abstractruntime_runs"):
        assert all(len(each) < 1000 for each in stored(runtime, table))
    assert runtime.run("kept").state == {"kept": LONG}
    check(runtime, run.id, KEEPS)
    run.waits[0].answer()
    runtime.work()
    assert run.output == LONG
    assert run.verify().ok
    run.export(tmp_path / "run.zip")
    assert verify_export(tmp_path / "run.zip").ok
    assert run.redact(2)
    assert run.verify().ok
    assert LONG.encode() not in b"".join(stored(runtime, "abstractruntime_ledger"))


def test_documents_that_were_stored_before_are_read(make_stored: Make) -> None:
    runtime = make_stored(KEEPS)
    run, body = kept(runtime)
    store(runtime, zlib.decompress(body))
    with runtime.database.writing() as connection:
        connection.execute(text("UPDATE abstractruntime_version SET version = 1"))
    runtime = make_stored(KEEPS)
    with runtime.database.reading() as connection:
        assert connection.execute(text("SELECT version FROM abstractruntime_version")).scalar() == VERSION == 2
    run = runtime.run("kept")
    assert run.verify().ok
    assert [record.body["item"]["payload"] for record in run.ledger() if record.kind == "step"] == [LONG]


def edited(body: bytes) -> bytes:
    document = json.loads(zlib.decompress(body))
    document["item"]["payload"] = LONG.replace("somebody", "nobody")
    return zlib.compress(json.dumps(document).encode())


def too_long(body: bytes) -> bytes:
    return zlib.compress(bytes(20_000))


def cut(body: bytes) -> bytes:
    return body[:-1]


def with_more(body: bytes) -> bytes:
    return body + b"x"


def damaged(body: bytes) -> bytes:
    return body[:40] + b"\0" + body[41:]


def nothing(body: bytes) -> bytes:
    return b"x"


@pytest.mark.parametrize("change", [edited, cut, with_more, damaged, nothing, too_long])
def test_changes_of_compressed_documents_are_found(
    make_runtime: Make, change: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abstractruntime.store.tables.MAX_BYTES_AROUND", 10_000)
    runtime = make_runtime(KEEPS)
    run, body = kept(runtime)
    store(runtime, change(body))
    assert {problem.seq for problem in run.verify().problems} == {2}
    if change is not edited:
        with pytest.raises(LedgerError, match="record 2 of the run 'kept'"):
            list(run.ledger())
