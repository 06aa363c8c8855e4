"""Old records are removed, with what belongs to them alone; sums of costs stay."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, ModelCall, TextPart
from abstractcore.traces import Pruned, TraceStore
from abstractcore.traces.tables import POSTGRESQL
from tests.core.traces.stores import a_call, write

DAY = 86_400.0
TABLES = ("records", "contents", "messages", "scores")


def counts(store: TraceStore) -> dict[str, int]:
    with store.database.reading() as connection:
        found = {name: f"SELECT count(*) FROM traces_{name}" for name in TABLES}
        return {name: connection.exec_driver_sql(sql).scalar_one() for name, sql in found.items()}


def bounded(store: TraceStore, url: str, **bounds: Any) -> TraceStore:
    """Returns another store of the same database."""
    _ = store.database
    return TraceStore(url, **bounds)


def test_records_older_than_the_days_are_removed_with_what_is_theirs_alone(store: TraceStore, url: str):
    now = time.time()
    shared = Message("system", (TextPart("Be kind."),))
    calls = [
        a_call(
            call=ModelCall("small", (shared, Message("user", (TextPart(f"The question of day {age}?"),))), "vendor"),
            at=now - age * DAY,
            cost="1",
        )
        for age in (0.5, 3, 100)
    ]
    write(store, *calls)
    for call in calls:
        store.score(call.trace_id, "good", 1)
    before = counts(store)
    pruning = bounded(store, url, keep_days=2)
    assert pruning.prune() == Pruned(records=2, contents=2)
    assert pruning.prune() == Pruned()
    after = counts(store)
    assert {name: before[name] - after[name] for name in TABLES} == {
        "records": 2,
        "contents": 2,
        "messages": 6,
        "scores": 2,
    }
    assert [call.trace_id for call in store.calls(text="question")] == [calls[0].trace_id]
    assert store.calls(text="100") == []
    assert store.trace(calls[0].trace_id).root.record == calls[0]
    assert sum(row.costs.known for row in store.costs(since=0)) == 3
    pruning.close()


def test_removed_words_are_not_in_the_index(tmp_path: Path):
    store = TraceStore(tmp_path / "traces.db")
    write(store, a_call("Where is the canarybird?", at=time.time() - 2 * DAY), a_call("And the sparrow?"))
    pruning = TraceStore(tmp_path / "traces.db", keep_days=1)
    assert pruning.prune() == Pruned(records=1, contents=1)
    pruning.close()
    with store.database.writing() as connection:
        for command in ("integrity-check", "optimize"):
            connection.exec_driver_sql(f"INSERT INTO traces_texts (traces_texts) VALUES ('{command}')")
        blocks = connection.exec_driver_sql("SELECT block FROM traces_texts_data").scalars().all()
    assert not any(b"canarybird" in block for block in blocks)
    assert (len(store.calls(text="canarybird")), len(store.calls(text="sparrow"))) == (0, 1)
    store.close()


def test_oldest_records_above_the_bytes_are_removed(tmp_path: Path):
    place = tmp_path / "traces.db"
    store = TraceStore(place, keep_bytes=1_200_000)
    for start in range(0, 4_000, 500):
        write(
            store,
            *[
                a_call(f"Question {start + number}?", f"Answer {start}.{number}", at=float(start + number))
                for number in range(500)
            ],
        )
    pruned = store.prune()
    assert pruned.records
    assert pruned.records < 4_000
    calls = store.calls(limit=4_000)
    assert [call.started_at for call in calls] == [float(3_999 - number) for number in range(len(calls))]
    store.close()
    assert place.stat().st_size < 3_000_000


def test_writing_prunes_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = TraceStore(tmp_path / "traces.db", keep_days=1)
    write(store, a_call(at=time.time() - 2 * DAY))
    assert store.calls() == []
    write(store, a_call(at=time.time() - 2 * DAY))
    assert len(store.calls()) == 1
    monkeypatch.setattr("abstractcore.traces.pruning._EVERY_RECORDS", 1)
    write(store, a_call(at=time.time()))
    assert len(store.calls()) == 1
    store.close()


@pytest.mark.process
def test_bytes_of_postgresql_are_not_bounded(postgresql: Any):
    with pytest.raises(InvalidInputError, match="keep_bytes is for SQLite files"):
        TraceStore(postgresql.url, keep_bytes=1)


def test_months_are_partitions_in_postgresql():
    assert POSTGRESQL.records.dialect_options["postgresql"]["partition_by"] == "LIST (month)"
    assert POSTGRESQL.messages.dialect_options["postgresql"]["partition_by"] == "LIST (month)"
