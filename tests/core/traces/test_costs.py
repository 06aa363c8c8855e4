"""Sums of costs: equal to those of the records, by every name, with tags that have too many values."""

from __future__ import annotations

import logging
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from abstractcore.errors import InvalidInputError
from abstractcore.schema import AttemptRecord, InteractionRecord, ToolRecord, Usage
from abstractcore.telemetry import Recorder
from abstractcore.traces import CostSums, TraceStore
from abstractcore.traces import costs as costs_module
from abstractcore.traces.batches import BatchWriter
from abstractcore.traces.rows import encoded
from abstractcore.traces.spending import KnownSums, SpendChanges, SpendKey
from abstractcore.traces.tables import SUMS, records, spend
from tests.core.traces.stores import NOON, a_call, subscriber_of, write

HOUR = 3_600.0
DAY = 24 * HOUR


def a_run(tool: str, cost: str | None, **changed: Any) -> ToolRecord:
    fields: dict[str, Any] = {"trace_id": f"run-{tool}-{cost}", "parent_id": "0", "call_id": "1", "source": "function"}
    fields |= {"outcome": "done", "started_at": NOON, "seconds": 0.1, "cost": None if cost is None else Decimal(cost)}
    return ToolRecord(tool=tool, **{**fields, **changed})


def an_interaction(trace_id: str, **changed: Any) -> InteractionRecord:
    fields: dict[str, Any] = {"parent_id": None, "kind": "tools", "provider": "vendor", "model": "small"}
    fields |= {"outcome": "done", "streamed": False, "started_at": NOON, "seconds": 1.0, "seconds_to_first": None}
    return InteractionRecord(trace_id=trace_id, **{**fields, "calls": 2, **changed})


def sums_of(store: TraceStore, *by: str, **options: Any) -> dict[tuple[str | None, ...], CostSums]:
    return {tuple(row.group.values()): row.costs for row in store.costs(by=by, **{"since": 0, **options})}


def assert_spend_is_the_sum_of_records(store: TraceStore) -> None:
    with store.database.reading() as connection:
        expected = SpendChanges(KnownSums())
        for row in connection.execute(select(records)):
            expected.add(row)
        wanted = {key: tuple(sums) for key, sums in expected.sums().items()}
        found = {
            tuple(getattr(row, name) for name in SpendKey._fields): tuple(getattr(row, name) for name in SUMS)
            for row in connection.execute(select(spend))
        }
    assert {key: sums for key, sums in found.items() if any(sums)} == {
        tuple(key): sums for key, sums in wanted.items() if any(sums)
    }


def test_known_estimated_and_unknown_are_three_sums(store: TraceStore):
    known, both = a_call(cost="0.1"), a_call(cost="0.2", estimated="0.05")
    write(store, known, both, a_call(cost=None, estimated="0.3"), a_call(cost=None), an_interaction("loop"))
    (row,) = store.costs(since=0)
    assert row.group == {"model": "small"}
    assert row.costs == CostSums(Decimal("0.3"), Decimal("0.35"), 1)
    assert (row.calls, row.failed, row.input_tokens, row.output_tokens) == (4, 0, 40, 20)


def test_groups_by_day_hour_provider_operation_and_outcome(store: TraceStore):
    write(
        store,
        a_call(cost="1", at=NOON),
        a_call(cost="2", at=NOON + HOUR, outcome="failed"),
        a_call(cost="4", at=NOON + DAY, provider="other", operation="embed"),
    )
    assert {key[0]: sums.known for key, sums in sums_of(store, "day").items()} == {"2027-01-15": 3, "2027-01-16": 4}
    assert len(sums_of(store, "hour")) == 3
    assert sums_of(store, "provider", "operation")["other", "embed"].known == 4
    assert sums_of(store, "outcome")["failed",].known == 2
    assert [row.failed for row in store.costs(by=["model"], since=0)] == [1]
    assert sums_of(store, "model", since=NOON + HOUR)["small",].known == 6
    assert sums_of(store, "model", until=NOON + HOUR)["small",].known == 1


def test_calls_without_a_tag_are_a_group_of_their_own(store: TraceStore):
    write(store, a_call(cost="1", tags={"team": "office"}), a_call(cost="2", tags={"other": "x"}), a_call(cost="4"))
    assert {key[1]: sums.known for key, sums in sums_of(store, "model", "tag:team").items()} == {"office": 1, None: 6}
    assert {key: sums.known for key, sums in sums_of(store, "tag:missing").items()} == {(None,): 7}


def test_two_tags_are_summed_from_the_records(store: TraceStore):
    names = {'a "quoted" name': "x", "team": "office"}
    write(store, a_call(cost="1", tags=names), a_call(cost="2", tags={"team": "office"}), a_run("search", "0.5"))
    found = sums_of(store, "tag:team", 'tag:a "quoted" name')
    assert found["office", "x"].known == 1
    assert found["office", None].known == 2
    assert found[None, None].known == Decimal("0.5")


def test_runs_of_tools_with_a_price_count_and_are_no_calls(store: TraceStore):
    write(store, a_call(cost="1"), a_run("search", "0.5"), a_run("free", None))
    by_model = {row.group["model"]: row for row in store.costs(by=["model"], since=0)}
    assert by_model["small"].costs.known == 1
    assert (by_model[None].costs.known, by_model[None].calls, by_model[None].costs.unknown) == (Decimal("0.5"), 0, 0)
    by_tool = {row.group["tool"]: (row.costs.known, row.calls) for row in store.costs(by=["tool"], since=0)}
    assert by_tool == {"search": (Decimal("0.5"), 1), "free": (0, 1)}


def test_record_with_the_same_id_replaces_the_earlier_one(store: TraceStore):
    first = a_call(cost="1", tags={"team": "office"})
    write(store, first)
    write(store, replace(first, cost=Decimal(3), usage=replace(first.usage, input=7)))
    write(store, first, replace(first, cost=Decimal(4)))
    assert sums_of(store, "tag:team") == {("office",): CostSums(Decimal(4))}
    assert len(store.calls()) == 1
    assert_spend_is_the_sum_of_records(store)


def test_answer_that_was_thrown_away_has_an_outcome_of_its_own(store: TraceStore):
    discarded = a_call(cost="2", discarded=True)
    write(store, a_call(cost="1"), discarded, a_call(cost="4", discarded=True, outcome="failed"))
    found = {key[0]: sums.known for key, sums in sums_of(store, "outcome").items()}
    assert found == {"done": 1, "discarded": 2, "failed": 4}
    assert [(row.calls, row.failed) for row in store.costs(since=0)] == [(3, 1)]
    assert [(row.calls, row.failed) for row in store.costs(by=["tag:a", "tag:b"], since=0)] == [(3, 1)]
    assert (len(store.calls(failed=True)), len(store.calls(failed=False))) == (1, 2)
    assert store.trace(discarded.trace_id).root.record == discarded


def test_attempts_that_others_followed_have_a_line_of_their_own(store: TraceStore):
    attempts = (
        AttemptRecord(1, NOON, 1.0, estimated_cost=Decimal("0.5")),
        AttemptRecord(2, NOON, 1.0, 500, cost=Decimal("0.25")),
        AttemptRecord(3, NOON, 1.0, 200, cost=Decimal(1)),
    )
    call = a_call(cost="1.25", estimated="0.5", attempts=attempts, tags={"team": "office"})
    write(store, call, a_call(cost=None, attempts=attempts), a_call(cost="0.1", attempts=attempts))
    assert store.trace(call.trace_id).root.record == call
    found = {key[0]: (sums.known, sums.estimated) for key, sums in sums_of(store, "outcome").items()}
    assert found == {"done": (Decimal(1), 0), "retried": (Decimal("0.35"), Decimal("0.5"))}
    (row,) = store.costs(by=["tag:team", "model"], since=0)[:1]
    assert (row.costs, row.calls, row.failed) == (CostSums(Decimal("1.25"), Decimal("0.5")), 1, 0)
    scanned = sums_of(store, "tag:team", "outcome", "tag:none")
    assert scanned["office", "done", None] == CostSums(Decimal(1))
    assert scanned["office", "retried", None] == CostSums(Decimal("0.25"), Decimal("0.5"))
    assert scanned == {(*key, None): sums for key, sums in sums_of(store, "tag:team", "outcome").items()}
    write(store, replace(call, attempts=(), cost=Decimal(2), estimated_cost=None))
    assert_spend_is_the_sum_of_records(store)
    assert sums_of(store, "outcome")["retried",] == CostSums(Decimal("0.1"))


def test_attempt_of_another_member_of_a_group_is_spent_on_its_model(store: TraceStore):
    attempts = (
        AttemptRecord(1, NOON, 1.0, estimated_cost=Decimal("0.5"), provider="p", model="lost"),
        AttemptRecord(2, NOON, 1.0, 200, cost=Decimal(1), provider="p", model="small"),
    )
    write(store, a_call(cost="1", estimated="0.5", model="small", attempts=attempts))
    found = sums_of(store, "model", "outcome")
    assert found == {("small", "done"): CostSums(Decimal(1)), ("lost", "retried"): CostSums(Decimal(0), Decimal("0.5"))}
    assert_spend_is_the_sum_of_records(store)


def test_attempts_of_other_members_are_spent_on_their_models_in_sums_by_several_tags(store: TraceStore):
    def lost(model: str, cost: str | None, estimated: str | None, number: int = 1) -> AttemptRecord:
        known, about = (each and Decimal(each) for each in (cost, estimated))
        return AttemptRecord(number, NOON, 1.0, cost=known, estimated_cost=about, provider="p", model=model)

    tags = {"team": "office", "user": "one"}
    own = AttemptRecord(9, NOON, 1.0, 200, cost=Decimal(1), provider="vendor", model="small")
    attempts = (lost("large", None, "0.5"), lost("small", "0.125", None, 2), lost("old", "0.25", None, 3), own)
    failed = (lost("large", None, "2"), replace(own, cost=None))
    write(
        store,
        a_call(cost="1.375", estimated="0.5", attempts=attempts, tags=tags),
        a_call(cost=None, estimated="3", attempts=failed, outcome="failed", tags=tags),
        a_call(cost="4", tags={"team": "office"}),
        a_run("search", "8", tags=tags),
    )
    for by in (["provider", "model", "outcome"], ["day"]):
        for wanted in ({}, {"model": "p/large"}, {"model": "small"}):
            by_hand = sums_of(store, *by, "tag:team", **wanted)
            scanned: dict[Any, CostSums] = {}
            for (*group, _), sums in sums_of(store, *by, "tag:team", "tag:user", **wanted).items():
                scanned[*group] = scanned.get((*group,), CostSums()) + sums
            assert scanned == by_hand, (by, wanted)
    (row,) = store.costs(by=["model", "tag:team", "tag:user"], since=0, model="large")
    assert (row.costs, row.calls) == (CostSums(estimated=Decimal("2.5")), 0)
    (row,) = store.costs(by=["model"], since=0, model="large", failed=True)
    assert (row.costs, row.calls) == (CostSums(estimated=Decimal(2)), 0)
    assert_spend_is_the_sum_of_records(store)


def test_what_caches_saved_is_a_sum_of_its_own(store: TraceStore):
    hit: dict[str, Any] = {"cost": "0", "usage": Usage(), "cached_at": NOON}
    calls = [
        a_call(cost="0.5", tags={"team": "office", "user": "one"}),
        a_call(**hit, saved_cost=Decimal("0.5"), tags={"team": "office", "user": "one"}),
        a_call(**hit, saved_cost=Decimal("9000000.000000000001"), tags={"team": "lab"}),
        a_call(**hit, saved_cost=Decimal("9000000"), at=NOON + HOUR),
        a_call(**hit),
    ]
    write(store, *calls)
    total = CostSums(Decimal("0.5"), saved=Decimal("18000000.500000000001"))
    assert sums_of(store) == {(): total}
    assert sums_of(store, "tag:team", "tag:user")["office", "one"] == CostSums(Decimal("0.5"), saved=Decimal("0.5"))
    for by in (["model"], ["tag:team"], ["tag:team", "tag:user"], ["day"], ["outcome"]):
        assert sum(sums_of(store, *by).values(), CostSums()) == total
    assert [store.trace(each.trace_id).root.record for each in calls] == calls
    assert {each.trace_id: each.saved_cost for each in store.calls()} == {
        each.trace_id: each.saved_cost for each in calls
    }
    write(store, replace(calls[2], saved_cost=None))
    assert sums_of(store, "tag:team")["lab",] == CostSums()
    assert_spend_is_the_sum_of_records(store)


def test_interaction_that_is_continued_began_when_it_first_did(store: TraceStore):
    for first, second in (("loop", "loop"), ("other", "other")):
        write(store, an_interaction(first, started_at=NOON, calls=1))
        write(store, an_interaction(second, started_at=NOON + 40 * DAY, calls=3))
    write(store, an_interaction("once", started_at=NOON), an_interaction("once", started_at=NOON + DAY, calls=5))
    for trace_id, calls in (("loop", 3), ("other", 3), ("once", 5)):
        record = store.trace(trace_id).root.record
        assert isinstance(record, InteractionRecord)
        assert (record.started_at, record.calls) == (NOON, calls)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.builds(
            a_call,
            cost=st.none() | st.decimals(0, 10, places=12).map(str),
            estimated=st.none() | st.decimals(0, 10, places=12).map(str),
            saved_cost=st.none() | st.decimals(0, 10, places=12),
            at=st.floats(-1e12, 1e15),
            model=st.sampled_from(["small", "large"]),
            outcome=st.sampled_from(["done", "failed"]),
            tags=st.dictionaries(st.sampled_from(["team", "user"]), st.text(max_size=3), max_size=2),
        ),
        max_size=12,
    ),
    st.integers(1, 5),
)
def test_spend_is_the_sum_of_the_records(tmp_path_factory: pytest.TempPathFactory, calls: list[Any], size: int):
    store = TraceStore(tmp_path_factory.mktemp("spend") / "traces.db")
    for start in range(0, len(calls), size):
        write(store, *calls[start : start + size])
    assert_spend_is_the_sum_of_records(store)
    total = sum((CostSums.of(call) for call in calls), CostSums())
    for by in ("model", "day", "tag:team", "outcome"):
        rows = store.costs(by=[by], since=-1e13)
        assert sum((row.costs for row in rows), CostSums()) == total
        assert sum(row.calls for row in rows) == len(calls)
    store.close()


def test_tag_with_too_many_values_is_folded_and_says_so(
    store: TraceStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("abstractcore.traces.spending.MOST_VALUES", 3)
    monkeypatch.setattr(costs_module, "_warned", set())
    caplog.set_level(logging.WARNING, "abstractcore.traces")
    for start in (0, 4):
        write(store, *[a_call(cost="1", tags={"user": f"ann-{number}"}) for number in range(start, start + 4)])
    write(store, a_call(cost="1", tags={"user": "ann-0"}), a_call(cost="1", tags={"user": "other"}))
    rows = {(row.group["tag:user"], row.is_folded): row.costs.known for row in store.costs(by=["tag:user"], since=0)}
    assert rows == {("ann-0", False): 2, ("ann-1", False): 1, ("ann-2", False): 1, ("other", True): 6}
    assert caplog.text.count("the tag 'user' has over") == 1
    assert sums_of(store, "model") == {("small",): CostSums(Decimal(10))}


def test_names_of_tags_that_are_too_many_leave_a_bounded_table_and_right_sums(
    store: TraceStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("abstractcore.traces.spending.MOST_NAMES", 3)
    monkeypatch.setattr(costs_module, "_warned", set())
    caplog.set_level(logging.WARNING, "abstractcore.traces")
    first = [a_call(cost="1", tags={"team": "office", f"n{number}": "x"}) for number in range(50)]
    later = [a_call(cost="2", at=NOON + HOUR, tags={"late": "y"}), a_call(cost="4", tags={"team": "home", "late": "y"})]
    write(store, *first, *later)
    another_process = BatchWriter(store.database)  # knows nothing, and replaces them
    another_process.write([encoded(call, searchable=False) for call in (*first, *later)])
    with store.database.reading() as connection:
        assert len(connection.execute(select(spend)).all()) < 15
    found = {(row.group["tag:team"], row.is_folded): row.costs.known for row in store.costs(by=["tag:team"], since=0)}
    assert found == {("office", False): 50, ("home", False): 4, (None, False): 2}
    for name in ("late", "n49"):  # the calls of the first hour may have it
        rows = store.costs(by=[f"tag:{name}"], since=0)
        assert sum(row.costs.known for row in rows) == 56
        assert [row.costs.known for row in rows if row.is_folded] == [52]
    assert sums_of(store, "tag:late")["y",] == CostSums(Decimal(2))
    assert sums_of(store, "tag:n0")["x",] == CostSums(Decimal(1))
    assert [row.costs.known for row in store.costs(by=["model"], since=0)] == [56]
    assert caplog.text.count("calls of an hour have over") == 1


LONG = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(5_000))
"""More than an index of PostgreSQL takes, and than compression makes small."""


def test_tags_that_are_too_long_for_sums_of_their_own_lose_no_cost(
    store: TraceStore, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(costs_module, "_warned", set())
    caplog.set_level(logging.WARNING, "abstractcore.traces")
    calls = [
        a_call(cost=cost, tags=tags)
        for cost, tags in (("1", {"user": "ann"}), ("2", {"user": LONG}), ("4", {LONG: "ann"}), ("8", {LONG: LONG}))
    ]
    with store.keep_for(recorder, "full") as kept:
        for call in calls:
            subscriber_of(recorder)(call)
        assert kept.flush(60)
        write(store, *calls)  # replaces them
    assert (kept.lost, len(store.calls(tags={"user": LONG}))) == (0, 1)
    rows = {(row.group["tag:user"], row.is_folded): row.costs.known for row in store.costs(by=["tag:user"], since=0)}
    assert rows == {("ann", False): 1, ("other", True): 2, (None, False): 12}
    assert [row.costs.known for row in store.costs(since=0)] == [15]
    assert [row.costs.known for row in store.costs(since=0, tags={"user": LONG})] == [2]
    assert [row.costs.known for row in store.costs(since=0, tags={LONG: "ann"})] == [4]
    assert sum(row.costs.known for row in store.costs(by=[f"tag:{LONG}"], since=0)) == 15
    assert [line.count("or one of over 200 characters") for line in caplog.messages] == [1, 1]
    assert LONG not in caplog.text


def test_sums_above_what_an_integer_of_a_database_holds_are_exact(store: TraceStore):
    cost = "9000000.000000000001"
    write(store, *[a_call(cost=cost, at=NOON + number * HOUR, tags={"a": "b", "c": "d"}) for number in range(3)])
    for by in (["model"], ["tag:a"], ["tag:a", "tag:c"]):
        (row,) = [row for row in store.costs(by=by, since=0) if row.calls]
        assert row.costs.known == 3 * Decimal(cost)


@pytest.mark.parametrize(("cost", "printed"), [("10", "10"), ("100.000", "100"), ("0.0004", "0.0004")])
def test_amount_is_printed_without_an_exponent(store: TraceStore, cost: str, printed: str):
    write(store, a_call(cost=cost, estimated=cost))
    (row,) = store.costs(since=0)
    assert (str(row.costs.known), str(row.costs.estimated)) == (printed, printed)


def test_tag_with_an_empty_name_is_not_counted_twice(store: TraceStore):
    write(store, a_call(cost="1", tags={"": "x", "team": "a"}), a_call(cost="2"))
    assert sums_of(store, "model") == {("small",): CostSums(Decimal(3))}
    assert sums_of(store, "tag:team") == {("a",): CostSums(Decimal(1)), (None,): CostSums(Decimal(2))}
    (row,) = store.costs(by=[], since=0)
    assert (row.calls, row.input_tokens) == (2, 20)


def test_million_tag_values_leave_a_bounded_table(store: TraceStore):
    writer = BatchWriter(store.database)
    for start in range(0, 5_000, 1_000):
        calls = [a_call(call=None, reply=None, tags={"user": str(start + number)}) for number in range(1_000)]
        writer.write([encoded(call, searchable=False) for call in calls])
    rows = store.costs(by=["tag:user"], since=0)
    assert len(rows) == 1_001
    assert sum(row.calls for row in rows) == 5_000


@pytest.mark.parametrize("most_values", [2, 1_000])
def test_sums_of_some_calls_are_those_of_the_calls_that_are_found(
    store: TraceStore, monkeypatch: pytest.MonkeyPatch, most_values: int
):
    monkeypatch.setattr("abstractcore.traces.spending.MOST_VALUES", most_values)
    teams = ("office", "lab", "field", "sea")
    calls = [
        a_call(cost=str(number), model=model, tags={"team": team, "user": "ann"}, outcome=outcome)
        for number, (model, team, outcome) in enumerate(
            [
                (model, team, outcome)
                for model in ("small", "large")
                for team in teams
                for outcome in ("done", "failed")
            ],
            1,
        )
    ]
    tool = ToolRecord("t", "l", "small", "1", "function", "done", NOON, 1.0, tags={"team": "lab"}, cost=Decimal(100))
    write(store, *calls, tool)
    for filters in (
        {"model": "small"},
        {"model": "vendor/large", "failed": True},
        *({"model": "small", "tags": {"team": team}} for team in teams),
        {"model": "large", "tags": {"team": "sea", "user": "ann"}, "failed": False},
        {"model": "large", "tags": {"team": "none"}},
    ):
        found = sum((call.cost for call in store.calls(**filters) if call.cost), Decimal(0))
        for by in (["model"], ["tag:team"], ["tag:user", "day"]):
            assert sum((row.costs.known for row in store.costs(by=by, since=NOON, **filters)), Decimal(0)) == found


def test_names_are_those_of_the_sums(store: TraceStore):
    write(
        store,
        a_call(tags={"team": "office", "user": "ann"}),
        a_call(model="large", provider="other", tags={"team": "lab"}),
        ToolRecord("tool-1", "loop-1", "calendar", "1", "function", "done", NOON, 1.0, tags={"team": "field"}),
    )
    found = {of: store.names(of) for of in ("model", "provider", "operation", "tool", "tag", "tag:team", "tag:other")}
    assert found == {
        "model": ["large", "small"],
        "provider": ["other", "vendor"],
        "operation": ["chat"],
        "tool": ["calendar"],
        "tag": ["team", "user"],
        "tag:team": ["field", "lab", "office"],
        "tag:other": [],
    }
    with pytest.raises(InvalidInputError, match="there are no names of 'colour'"):
        store.names("colour")


@pytest.mark.parametrize("by", ["price", "tag:", "tag", 3])
def test_unknown_name_is_an_error(store: TraceStore, by: Any):
    with pytest.raises(InvalidInputError, match="cannot be summed by"):
        store.costs(by=[by])


def test_more_names_than_a_database_can_join_are_an_error(store: TraceStore):
    with pytest.raises(InvalidInputError, match="costs cannot be summed by 5,000 names at once"):
        store.costs(by=[f"tag:{number}" for number in range(5_000)])


@pytest.mark.parametrize("since", ["yesterday", "7 moons", True, float("nan"), object()])
def test_what_is_no_time_is_an_error(store: TraceStore, since: Any):
    with pytest.raises(InvalidInputError, match="is not a time"):
        store.costs(since=since)
