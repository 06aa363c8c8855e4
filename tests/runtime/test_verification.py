"""A ledger that was changed by hand is found out, and what was changed is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from abstractruntime import LedgerError, RunNotFoundError, Runtime, verification
from abstractruntime.records import chained
from abstractruntime.verification import verify_run
from tests.runtime.orders import LARGE, ORDER, execute, ordered, waiting_order

Make = Callable[..., Runtime]
BY_HAND = "its hash does not fit what it has, or the record before it"


def found(runtime: Runtime, id: str = "a") -> list[tuple[int, str]]:
    """Returns the problems of a run, all of which name it."""
    problems = runtime.run(id).verify().problems
    assert {problem.run for problem in problems} <= {id}
    return [(problem.seq, problem.message) for problem in problems]


def test_a_run_verifies_at_each_of_its_records(make_stored: Make) -> None:
    runtime = ordered(make_stored)
    run = runtime.start(ORDER, id="a")
    assert run.verify().check().records == 1
    runtime.work()
    assert run.verify().check().records == 3
    run.waits[0].answer()
    runtime.work()
    report = run.verify().check()
    assert (report.ok, report.records, report.head) == (True, 4, run.info.head)


CHANGES: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "edited body": (
        "UPDATE ledger SET body = :body WHERE seq = 2",
        [(2, BY_HAND)],
    ),
    "edited kind": ("UPDATE ledger SET kind = 'ended' WHERE seq = 3", [(3, BY_HAND)]),
    "edited time": ("UPDATE ledger SET at = at + 1 WHERE seq = 3", [(3, BY_HAND)]),
    "edited hash": (
        "UPDATE ledger SET hash = 'x' WHERE seq = 3",
        [(3, BY_HAND), (4, BY_HAND)],
    ),
    "cut middle": ("DELETE FROM ledger WHERE seq = 3", [(3, "record 3 is missing")]),
    "cut middle of two": ("DELETE FROM ledger WHERE seq IN (2, 3)", [(2, "records 2 to 3 are missing")]),
    "cut beginning": ("DELETE FROM ledger WHERE seq = 1", [(1, "record 1 is missing")]),
    "cut tail": (
        "DELETE FROM ledger WHERE seq > 2",
        [(3, "2 records are missing at the end: the run has 4")],
    ),
    "emptied ledger": (
        "DELETE FROM ledger WHERE seq > 0",
        [(1, "4 records are missing at the end: the run has 4")],
    ),
    "cut tail with the row's number": ("UPDATE runs SET seq = 3", [(4, "the run has 3 records, and its ledger 4")]),
    "edited head": ("UPDATE runs SET head = 'x'", [(4, "its hash is not the head of the run")]),
    "body gone": (
        "UPDATE ledger SET body = NULL WHERE seq = 3",
        [(3, BY_HAND), (3, "its body is gone, and no record reports that it was redacted")],
    ),
    "edited program": (
        "UPDATE runs SET program = 'other@1'",
        [(0, "the run has another program than it was created with")],
    ),
    "edited parent": ("UPDATE runs SET parent = 'p'", [(0, "the run has another parent than it was created with")]),
    "edited state": ("UPDATE runs SET state = :body", [(0, "the run has another state than its last step")]),
    "edited output": ("UPDATE runs SET output = :body", [(0, "the run has another output than its last record")]),
    "edited error": ("UPDATE runs SET error = :body", [(0, "the run has another error than its last record")]),
    "edited status": (
        "UPDATE runs SET status = 'failed'",
        [(0, "the run is 'failed', and its last record has completed")],
    ),
    "revived run": (
        "UPDATE runs SET status = 'waiting'",
        [(0, "the run is 'waiting', and its last record has completed")],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_by_hand_is_found(make_stored: Make, change: str) -> None:
    runtime = ordered(make_stored, "a")
    sql, problems = CHANGES[change]
    execute(runtime, sql, **({"body": b'{"item":null}'} if ":body" in sql else {}))
    assert found(runtime) == problems


def test_two_records_that_changed_places_are_found(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a")
    for old, new in ((2, 99), (3, 2), (99, 3)):
        execute(runtime, "UPDATE ledger SET seq = :new WHERE seq = :old", old=old, new=new)
    assert found(runtime) == [(2, BY_HAND), (3, BY_HAND), (4, BY_HAND)]


def test_a_record_of_another_run_is_found(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a", "b")
    execute(runtime, "DELETE FROM ledger WHERE run = 'a' AND seq = 4")
    execute(runtime, "UPDATE ledger SET run = 'a' WHERE run = 'b' AND seq = 4")
    assert found(runtime, "a") == [(4, BY_HAND), (4, "its hash is not the head of the run")]
    assert found(runtime, "b") == [(4, "1 record is missing at the end: the run has 4")]


def test_values_that_are_stored_apart_are_compared_with_their_hash(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a")
    name = sha256(json.dumps(LARGE, ensure_ascii=False).encode()).hexdigest()
    execute(runtime, "UPDATE artifacts SET body = :body", body=b'"other"')
    assert found(runtime) == [(3, f"the bytes of the value {name} do not fit their hash")]
    execute(runtime, "DELETE FROM artifacts WHERE run = 'a'")
    assert found(runtime) == [(3, f"the value {name} of it is missing")]
    with pytest.raises(LedgerError, match=f"the record 3 of the run 'a' cannot be read: the value {name} is missing"):
        [*runtime.run("a").ledger()]


def test_a_value_that_no_record_has_is_compared_too(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a")
    values = {"run": "a", "sha256": "0" * 64, "body": b"1"}
    execute(runtime, "INSERT INTO artifacts (run, sha256, body) VALUES (:run, :sha256, :body)", **values)
    assert found(runtime) == [(0, f"the bytes of the value {'0' * 64} do not fit their hash")]


def test_forged_ledgers_and_rows_fit_together_but_not_the_state(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    last = [*runtime.run("a").ledger()][-1]
    body = json.dumps({**last.body, "output": "forged"}, sort_keys=True, separators=(",", ":")).encode()
    before = [*runtime.run("a").ledger()][-2].hash
    head = chained("a", 4, "step", last.at, sha256(body).hexdigest(), before)
    execute(runtime, "UPDATE ledger SET body = :body, hash = :hash WHERE seq = 4", body=body, hash=head)
    execute(runtime, "UPDATE runs SET head = :hash", hash=head)
    assert found(runtime) == [(0, "the run has another output than its last record")]


def test_all_runs_are_verified_and_ledgers_whose_run_is_gone(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a", "b", "c", "d")
    execute(runtime, "DELETE FROM runs WHERE id = 'b'")
    execute(runtime, "DELETE FROM ledger WHERE run = 'd' AND seq = 4")
    verified = {each.run: [str(problem) for problem in each.problems] for each in runtime.verify()}
    assert verified == {
        "a": [],
        "b": ["run 'b', record 0: the run's row is gone, and its records are there"],
        "c": [],
        "d": ["run 'd', record 4: 1 record is missing at the end: the run has 4"],
    }


def test_runs_that_are_deleted_since_they_were_listed_are_left_out(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a", "b")
    verified = runtime.verify()
    assert next(verified).run == "a"
    runtime.prune(0)
    assert [*verified] == []


@pytest.mark.parametrize("meanwhile", ["redacted", "deleted"])
def test_a_run_that_is_changed_while_it_is_read_is_read_again(
    make_stored: Make, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    runtime = ordered(make_stored, "a")
    read = verification.stored_records

    def stored_records(*arguments: Any) -> Any:
        monkeypatch.setattr(verification, "stored_records", read)
        _ = runtime.run("a").redact(2) if meanwhile == "redacted" else runtime.prune(0)
        return read(*arguments)

    monkeypatch.setattr(verification, "stored_records", stored_records)
    if meanwhile == "redacted":
        assert runtime.run("a").verify().check().records == 5
    else:
        with pytest.raises(RunNotFoundError):
            verify_run(runtime.store, "a")


def test_check_raises_the_first_problem(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    execute(runtime, "DELETE FROM ledger WHERE seq = 2")
    execute(runtime, "UPDATE runs SET head = 'x'")
    with pytest.raises(LedgerError, match=r"run 'a', record 2: record 2 is missing \(and 1 more\)") as caught:
        runtime.run("a").verify().check()
    assert (caught.value.run, caught.value.seq) == ("a", 2)
    assert caught.value.hint == "See all of them: abstractcore runs verify a"


def test_a_run_that_does_not_exist_is_not_verified(make_runtime: Make) -> None:
    runtime = ordered(make_runtime)
    with pytest.raises(RunNotFoundError, match="there is no run 'x'"):
        verify_run(runtime.store, "x")
    assert [*runtime.verify()] == []


DAMAGE: dict[str, tuple[str, Any, list[tuple[int, str]]]] = {
    "body that is no JSON": ("body", b"\xff{", [(3, BY_HAND), (3, "its body is not a JSON object as it is written")]),
    "body with NaN": ("body", b'{"a":NaN}', [(3, BY_HAND), (3, "its body is not a JSON object as it is written")]),
    "body that is nested without end": (
        "body",
        b'{"a":' + b"[" * 100_000,
        [(3, BY_HAND), (3, "its body is not a JSON object as it is written")],
    ),
    "huge body": (
        "body",
        b"[" + b" " * 5_000_000 + b"]",
        [(3, BY_HAND), (3, "its body is not a JSON object as it is written")],
    ),
    "body of text": ("body", "text", [(3, "values of another type than they were written with: body")]),
    "body of a number": ("body", 7, [(3, "values of another type than they were written with: body")]),
    "hash of bytes": ("hash", b"x", [(3, "values of another type than they were written with: hash")]),
    "time of text": ("at", "soon", [(3, "values of another type than they were written with: at")]),
    "infinite time": ("at", float("inf"), [(3, "values of another type than they were written with: at")]),
    "kind of bytes": ("kind", b"step", [(3, "values of another type than they were written with: kind")]),
    "redacted hash beside a body": ("redacted", "x", [(3, "it has a body, and the hash of one that was deleted")]),
    "number of text": (
        "seq",
        "three",
        [(3, "record 3 is missing"), (5, "expected record 5, got one with the number 'three'")],
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_values_of_any_type_are_problems_and_nothing_is_raised(make_runtime: Make, damage: str) -> None:
    runtime = ordered(make_runtime, "a")
    column, value, problems = DAMAGE[damage]
    execute(runtime, f"UPDATE ledger SET {column} = :value WHERE seq = 3", value=value)
    assert found(runtime) == problems


@pytest.mark.parametrize("damage", ["body that is no JSON", "body of text", "body of a number", "time of text"])
def test_reading_a_damaged_record_is_a_typed_error(make_runtime: Make, damage: str) -> None:
    runtime = ordered(make_runtime, "a")
    column, value, _ = DAMAGE[damage]
    execute(runtime, f"UPDATE ledger SET {column} = :value WHERE seq = 3", value=value)
    with pytest.raises(LedgerError, match="the record 3 of the run 'a' cannot be read") as caught:
        [*runtime.run("a").ledger()]
    assert (caught.value.run, caught.value.seq) == ("a", 3)
    assert caught.value.hint == "See what is wrong: abstractcore runs verify a"


@pytest.mark.parametrize("column", ["state", "output", "error", "limits", "spent", "inflight"])
@pytest.mark.parametrize("value", [b"{", "text", 7, b"[]"])
def test_reading_a_damaged_row_is_a_typed_error(make_runtime: Make, column: str, value: Any) -> None:
    runtime = ordered(make_runtime, "a")
    execute(runtime, f"UPDATE runs SET {column} = :value", value=value)
    if value == b"[]" and column != "spent":
        assert runtime.run("a").info.id == "a"
        return
    with pytest.raises(LedgerError, match="the row of the run 'a' cannot be read") as caught:
        runtime.runs()
    assert (caught.value.run, caught.value.seq) == ("a", 0)


@pytest.mark.parametrize(("column", "value"), [("seq", "x"), ("head", b"x"), ("head", b"")])
def test_a_damaged_number_or_head_is_a_problem(make_runtime: Make, column: str, value: Any) -> None:
    runtime = ordered(make_runtime, "a")
    execute(runtime, f"UPDATE runs SET {column} = :value", value=value)
    assert [problem.seq for problem in verify_run(runtime.store, "a").problems] == [0]


def test_damaged_waits_and_items_are_typed_errors(make_runtime: Make) -> None:
    runtime = ordered(make_runtime)
    run = waiting_order(runtime, "a")
    execute(runtime, "UPDATE waits SET asked = 'x' WHERE run = 'a'")
    with pytest.raises(LedgerError, match="the wait of the record 3 of the run 'a' cannot be read"):
        run.waits  # noqa: B018
    execute(runtime, "UPDATE waits SET asked = :asked WHERE run = 'a'", asked=b"{}")
    run.waits[0].answer()
    execute(runtime, "UPDATE inbox SET payload = :payload WHERE kind = 'answer'", payload=b"{")
    (lease,) = runtime.store.claim(["order@1"], "me")
    with pytest.raises(LedgerError, match=r"the item '.*' in the inbox of the run 'a' cannot be read"):
        runtime.store.next_item(lease)


def test_starting_a_run_whose_first_record_is_damaged_is_a_typed_error(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    execute(runtime, "UPDATE ledger SET body = :body WHERE seq = 1", body=b"[]")
    with pytest.raises(LedgerError, match="the record 1 of the run 'a' cannot be read"):
        runtime.start(ORDER, id="a")


def test_ids_that_are_no_text_are_problems(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    execute(runtime, "UPDATE ledger SET run = :run", run=b"\x00")
    problems = [str(problem) for each in runtime.verify() for problem in each.problems]
    assert problems == [
        "run 'a', record 1: 4 records are missing at the end: the run has 4",
        r"""run "b'\\x00'", record 0: its id is no text""",
    ]


ACCOUNT = "the run has spent another amount than its records say: 0 tokens and 0 dollars"


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("limits", b'{"dollars":null,"seconds":null,"steps":200000,"tokens":null}', "the run has other limits"),
        ("limits", b"{", "the run has other limits than it was created with"),
        ("spent", b'{"dollars":"0","steps":3,"tokens":7}', ACCOUNT),
        ("spent", b'{"dollars":"0.01","steps":3,"tokens":0}', ACCOUNT),
        ("spent", b'{"dollars":"-5","steps":3,"tokens":0}', "what the run has spent cannot be counted"),
        ("spent", b"{", "what the run has spent cannot be counted"),
    ],
)
def test_limits_and_an_account_that_were_edited_are_found(
    make_runtime: Make, column: str, value: bytes, problem: str
) -> None:
    runtime = ordered(make_runtime, "a")
    execute(runtime, f"UPDATE runs SET {column} = :value WHERE id = 'a'", value=value)
    (problem_found,) = verify_run(runtime.store, "a").problems
    assert (problem_found.seq, problem_found.message[: len(problem)]) == (0, problem)
