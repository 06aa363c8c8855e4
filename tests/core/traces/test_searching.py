"""Calls found by columns and words; the tree of a record; scores; exports."""

from __future__ import annotations

import json
import stat
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, MissingExtraError
from abstractcore.schema import CallRecord, InteractionRecord, from_json
from abstractcore.telemetry import Recorder
from abstractcore.traces import TraceStore
from tests.core.traces.stores import NOON, a_call, subscriber_of, write
from tests.core.traces.test_costs import a_run, an_interaction


def found(store: TraceStore, **options: Any) -> list[str]:
    return [call.trace_id for call in store.calls(**options)]


def test_calls_are_found_by_their_columns_newest_first(store: TraceStore):
    calls = [
        a_call(at=NOON, tags={"team": "office", "user": "ann"}),
        a_call(at=NOON + 1, model="large", outcome="failed"),
        a_call(at=NOON + 2, operation="embed", tags={"team": "sales"}),
    ]
    write(store, *calls, an_interaction("loop"), a_run("search", "1"))
    first, second, third = (call.trace_id for call in calls)
    assert found(store) == [third, second, first]
    assert found(store, limit=1) == [third]
    assert found(store, model="large") == found(store, model="vendor/large") == [second]
    assert found(store, model="other/large") == []
    assert found(store, operation="embed") == [third]
    assert found(store, tags={"team": "office", "user": "ann"}) == [first]
    assert found(store, failed=True) == [second]
    assert found(store, failed=False) == [third, first]
    assert found(store, since=NOON + 1) == [third, second]
    assert found(store, until=datetime.fromtimestamp(NOON + 1, UTC)) == [first]
    assert store.calls(limit=1)[0].time == datetime.fromtimestamp(NOON + 2, UTC)


@pytest.mark.parametrize(
    "wanted", [{"tags": [1]}, {"tags": "team"}, {"failed": "yes"}, {"failed": 1}, {"order": []}, {"order": None}]
)
def test_values_of_other_types_are_errors(store: TraceStore, wanted: dict[str, Any]):
    with pytest.raises(InvalidInputError, match=f"^{next(iter(wanted))}: expected"):
        store.calls(**wanted)


def test_calls_that_are_stored_later_are_found_whenever_they_began(store: TraceStore):
    write(store, a_call(at=NOON))
    (before,) = store.calls()
    later, earlier = a_call(at=NOON + 1), a_call(at=NOON - 1)
    write(store, later, earlier)
    assert found(store, after=before.number) == [later.trace_id, earlier.trace_id]
    assert found(store, after=max(call.number for call in store.calls())) == []


def test_calls_are_ordered_and_the_first_ones_skipped(store: TraceStore):
    dear = a_call(at=NOON + 2, cost="0.5", seconds=1.0)
    slow = a_call(at=NOON, cost=None, seconds=9.0)
    estimated = a_call(at=NOON + 1, cost="0.1", estimated="0.2", seconds=3.0)
    for call in (dear, slow, estimated):
        write(store, call)
    first, second, third = (call.trace_id for call in (dear, slow, estimated))
    assert found(store, order="newest") == [first, third, second]
    assert found(store, order="stored") == [third, second, first]
    assert found(store, order="dearest") == [first, third, second]
    assert found(store, order="slowest") == [second, third, first]
    assert found(store, order="slowest", skip=1, limit=1) == [third]
    assert found(store, skip=3) == []


def test_calls_are_found_by_words(store: TraceStore):
    invoice = a_call("Is the invoice of Bremen paid?", "It was paid on Monday.")
    other = a_call("Who wrote the letter?", "Ann; see the invoice.")
    write(store, invoice, other)
    assert set(found(store, text="INVOICE")) == {invoice.trace_id, other.trace_id}
    assert found(store, text="invoice bremen") == [invoice.trace_id]
    assert found(store, text='"invoice of"') == [invoice.trace_id]
    assert found(store, text='"of invoice"') == []
    assert found(store, text="text") == []  # a name of a field
    for hostile in ("it's \"quoted", "a* OR NOT (b", "'; DROP TABLE traces_records; --", "NEAR(a b)", "x:y"):
        assert found(store, text=hostile) == []
    with pytest.raises(InvalidInputError, match="has no words"):
        store.calls(text="*?")


@pytest.mark.parametrize(
    ("question", "words", "excerpt"),
    [
        ("When does the Café open?", "CAFé open", ("When does the ", "Café", " ", "open", "?")),
        ("a  b\n\tc", '"a b"', ("", "a b", " c")),
        ("state of states", "state", ("", "state", " of states")),
        ("a 100% sure thing", "100", ("a ", "100", "% sure thing")),
        (f"{'word ' * 50}here {'more ' * 50}", "here", (f"…{'word ' * 8}", "here", f" {'more ' * 23}…")),
    ],
)
def test_excerpts_have_the_words_in_their_place(store: TraceStore, question: str, words: str, excerpt: tuple[str, ...]):
    call = a_call(question)
    write(store, call, a_call("Nothing of it."))
    assert found(store, text=words) == [call.trace_id]
    assert store.excerpts(words, [call.trace_id, "unknown"]) == {call.trace_id: excerpt}


def test_excerpt_is_of_the_last_message_that_has_the_words(store: TraceStore):
    call = a_call("The first lamp?", "No lamp.")
    write(store, call)
    assert store.excerpts("lamp", [call.trace_id]) == {call.trace_id: ("No ", "lamp", ".")}
    with pytest.raises(InvalidInputError, match="has no words"):
        store.excerpts("?", [call.trace_id])


def test_words_beside_signs_of_json_are_found(store: TraceStore):
    call = a_call('She said "no\\n" and\ttwice: {"text":"hidden"}\n\U0001f375 caf\u00e9', "A\\ B.")
    write(store, call)
    for word in ("said", "twice", "hidden", "caf\u00e9", "B", '"said no"'):
        assert found(store, text=word) == [call.trace_id]
    assert store.trace(call.trace_id).root.record == call


def test_texts_that_databases_dislike_are_kept(store: TraceStore, recorder: Recorder):
    many = " ".join(f"{number:x}\u00e9" for number in range(60_000))
    texts = ["zero \x00 byte", "\\N", "a\tb\r\nc", "x" * 3_000, many, "\U0001f375", "\u2028", "'\"\\"]
    calls = [a_call(text, text, tags={"note": text[:50], "other": "x"}, at=NOON + at) for at, text in enumerate(texts)]
    with store.keep_for(recorder, "full") as kept:
        for call in calls:
            subscriber_of(recorder)(call)
    assert kept.lost == 0
    assert [store.trace(call.trace_id).root.record for call in calls] == calls
    assert found(store, text="zero byte") == [calls[0].trace_id]
    assert sum(row.calls for row in store.costs(by=["tag:note"], since=0)) == len(texts)
    for call in calls[1:]:
        assert found(store, tags={"note": call.tags["note"]}) == [call.trace_id]


def test_words_of_redacted_records_are_not_indexed(store: TraceStore):
    from abstractcore.traces.rows import encoded

    store._write([encoded(a_call("Is it paid?"), searchable=False)])  # pyright: ignore[reportPrivateUsage]
    assert found(store, text="paid") == []


def test_tree_is_returned_for_each_record_in_it(store: TraceStore):
    records = [
        an_interaction("loop", parent_id="gone", started_at=NOON),
        a_call(trace_id="first", parent_id="loop", at=NOON + 1, cost="1"),
        a_run("search", "0.5", trace_id="run", parent_id="loop", started_at=NOON + 2),
        a_call(trace_id="inside", parent_id="run", at=NOON + 3, cost=None),
        a_call(trace_id="second", parent_id="loop", at=NOON + 4, cost="2"),
    ]
    write(store, *reversed(records), a_call())
    for record in records:
        trace = store.trace(record.trace_id)
        assert [(node.depth, node.name) for node in trace] == [
            (0, "tools"),
            (1, "small"),
            (1, "search"),
            (2, "small"),
            (1, "small"),
        ]
        assert [node.record for node in trace] == records
        assert (trace.costs.known, trace.costs.unknown) == (3.5, 1)
    with pytest.raises(InvalidInputError, match="no record 'gone' is stored"):
        store.trace("gone")


def test_circle_of_parents_ends(store: TraceStore):
    write(store, a_call(trace_id="a", parent_id="b"), a_call(trace_id="b", parent_id="a"))
    assert sorted(node.record.trace_id for node in store.trace("a")) == ["a", "b"]


def test_large_tree_is_cut(store: TraceStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abstractcore.traces.queries._MOST_NODES", 3)
    write(store, an_interaction("loop"), *[a_call(parent_id="loop", at=NOON + number) for number in range(5)])
    trace = store.trace("loop")
    assert (len([*trace]), trace.is_cut) == (3, True)


def test_score_is_replaced_by_that_of_the_same_name(store: TraceStore):
    call = a_call()
    write(store, call)
    store.score(call.trace_id, "good", 0)
    store.score(call.trace_id, "good", 1, "on second thoughts")
    store.score(call.trace_id, "length", 2.5)
    scores = {score.name: (score.value, score.comment) for score in store.trace(call.trace_id).root.scores}
    assert scores == {"good": (1, "on second thoughts"), "length": (2.5, None)}


@pytest.mark.parametrize(
    ("trace_id", "name", "value"),
    [
        ("gone", "good", 1),
        ("", "good", 1),
        ("call", "", 1),
        ("call", "good", float("nan")),
        ("call", "good", None),
        ("call", "good", 10**400),
    ],
)
def test_invalid_score_is_an_error(store: TraceStore, trace_id: str, name: str, value: Any):
    write(store, a_call(trace_id="call"))
    with pytest.raises(InvalidInputError):
        store.score(trace_id, name, value)


def test_names_with_zero_bytes_are_written_and_looked_for_alike(store: TraceStore):
    call = a_call(tags={"te\x00am": "off\x00ice"}, cost="1")
    write(store, call, a_call(cost="2"))
    for name, value in (("te\x00am", "off\x00ice"), ("team", "office")):
        assert found(store, tags={name: value}) == [call.trace_id]
        rows = store.costs(by=[f"tag:{name}"], since=NOON)
        assert [(row.group, row.costs.known) for row in rows] == [({"tag:team": None}, 2), ({"tag:team": "office"}, 1)]
    store.score(call.trace_id, "go\x00od", 1, "as it\x00 should be")
    assert [score.name for score in store.trace(call.trace_id).root.scores] == ["good"]


def test_ids_are_found_by_their_beginning(store: TraceStore):
    write(store, *[a_call(trace_id=id) for id in ("call-1", "call-10", "call-2", "Call-1", "éa", "b%")])
    assert store.ids("call-1") == ["call-1", "call-10"]
    assert store.ids("call-", limit=2) == ["call-1", "call-10"]
    assert [store.ids(each) for each in ("call-3", "C", "é", "b%", "b_", "%")] == [
        [],
        ["Call-1"],
        ["éa"],
        ["b%"],
        [],
        [],
    ]
    assert len(store.ids("")) == 6


def test_ids_are_looked_up_in_the_index(store: TraceStore):
    write(store, *[a_call() for _ in range(3)])
    plan = "EXPLAIN QUERY PLAN" if store.database.dialect == "sqlite" else "SET enable_seqscan = off; EXPLAIN"
    collation = "" if store.database.dialect == "sqlite" else ' COLLATE "C"'
    statement = f"SELECT trace_id FROM traces_records WHERE trace_id{collation} >= '0' ORDER BY trace_id{collation}"
    with store.database.reading() as connection:
        *before, last = plan.split("; ")
        for each in before:
            connection.exec_driver_sql(each)
        rows = connection.exec_driver_sql(f"{last} {statement} LIMIT 1").all()
    assert any("traces_records_by_trace" in str(row) or "trace_id_idx" in str(row) for row in rows)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0),
        ("limit", 2**70),
        ("after", 2**63),
        ("after", "last"),
        ("model", 7),
        ("operation", 7),
        ("text", 7),
        ("tags", {"team": None}),
        ("tags", {"team": "\ud800"}),
        ("model", "\ud800"),
        ("text", "\ud800 word"),
        ("since", 10**400),
        ("until", float("nan")),
        ("order", "oldest"),
        ("skip", -1),
        ("skip", 1.5),
    ],
)
def test_search_for_a_value_of_another_type_is_an_error(store: TraceStore, name: str, value: Any):
    with pytest.raises(InvalidInputError) as raised:
        store.calls(**{name: value})
    assert raised.value.path == ("tags.team" if name == "tags" else name)


def test_export_writes_json_lines_that_are_read_back(store: TraceStore, tmp_path: Path):
    records = [a_call(), an_interaction("loop"), a_run("search", "1")]
    write(store, *records)
    store.score("loop", "good", 1)
    path = tmp_path / "traces.jsonl"
    assert store.export(path) == 3
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [from_json(json.dumps(line["record"])) for line in lines] == records
    assert [score["value"] for score in lines[1]["scores"]] == [1.0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        store.export(path)
    assert store.export(tmp_path / "none.jsonl", since=NOON + 1) == 0


def test_parquet_without_pyarrow_names_the_package(store: TraceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="pip install pyarrow"):
        store.export(tmp_path / "traces.parquet")
    assert [*tmp_path.glob("*.parquet")] == []


def test_parquet_table_has_the_columns(store: TraceStore, tmp_path: Path):
    from pyarrow import parquet

    write(store, a_call(cost="0.000000000001", tags={"team": "office"}), a_call(cost=None, at=1e300))
    path = tmp_path / "traces.parquet"
    assert store.export(path) == 2
    rows = parquet.read_table(path).to_pylist()
    assert [row["cost"] for row in rows] == [Decimal("0.000000000001"), None]
    assert [row["started_at"].year for row in rows] == [2027, 9999]


def test_times_are_read_as_users_write_them(store: TraceStore):
    now = datetime.now(UTC)
    call = a_call(at=(now - timedelta(hours=2)).timestamp())
    write(store, call)
    assert found(store, since="3h") == found(store, since=now - timedelta(days=1)) == [call.trace_id]
    assert found(store, since="1h") == found(store, until="2026-01-01") == []


def test_kinds_of_records_are_told_apart(store: TraceStore):
    write(store, an_interaction("loop"))
    assert isinstance(store.trace("loop").root.record, InteractionRecord)
    assert not isinstance(store.trace("loop").root.record, CallRecord)
    assert store.calls() == []
