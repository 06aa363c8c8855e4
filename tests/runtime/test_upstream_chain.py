"""The verifier of the upstream rule agrees with hashes that upstream wrote, in upstream_chain.json, and with ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abstractruntime import Effect, EffectContext, FunctionProgram, Item, Run, Runtime, Step
from tests.runtime.upstream_chain import bad_records, chained, record_hash

RECORDS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "upstream_chain.json").read_text(encoding="utf-8"))
FIRST, SECOND, THIRD = RECORDS
HASHES = [
    "bc0ded7aac1d931687fab059f8dd3ee6b22f512e12af944e2436d9cbedc2a5bd",
    "2269cc243c5bbdc264fcb6f5b4be59e61819040507cb38b1582d33cf4985e8b3",
    "9a28e9b7187693ea7222d1684d7428947aba1c0a42b44f5a235267f4bbf7d0bd",
]


def test_hashes_are_those_that_upstream_wrote() -> None:
    assert [record_hash(record) for record in RECORDS] == HASHES
    assert [record["record_hash"] for record in RECORDS] == HASHES


def test_a_chain_of_upstream_is_valid_and_made_alike() -> None:
    assert bad_records(RECORDS) == []
    assert chained(RECORDS) == RECORDS


@pytest.mark.parametrize(
    ("records", "bad"),
    [
        pytest.param([{**FIRST, "node_id": "other"}, SECOND, THIRD], [0], id="edit"),
        pytest.param([FIRST, {**SECOND, "error": "x"}, THIRD], [1], id="edit inside"),
        pytest.param([SECOND, FIRST, THIRD], [0, 1, 2], id="swap"),
        pytest.param([FIRST, THIRD], [1], id="cut middle"),
        pytest.param([SECOND, THIRD], [0], id="cut head"),
        pytest.param([FIRST, SECOND, THIRD, THIRD], [3], id="record twice"),
        pytest.param([{**FIRST, "record_hash": None}], [0], id="no hash"),
        pytest.param([{key: FIRST[key] for key in FIRST if key != "error"}], [0], id="no null"),
    ],
)
def test_a_changed_chain_is_found(records: list[dict[str, Any]], bad: list[int]) -> None:
    assert bad_records(records) == bad


def test_a_cut_tail_and_a_signature_are_not_found_by_the_rule() -> None:
    assert bad_records(RECORDS[:-1]) == []
    assert bad_records([]) == []
    assert bad_records([{**record, "signature": "x"} for record in RECORDS]) == []


def test_our_ledger_is_a_chain_by_the_rule(make_runtime: Callable[..., Runtime]) -> None:
    runtime = make_runtime(TELLING, effects={"tell": tell})
    run = runtime.start(TELLING, "Größe", id="run ö")
    runtime.work()
    records = exported(run)
    assert len(records) > 2
    assert bad_records(records) == []
    assert records[-1]["record_hash"] == run.info.head


@pytest.mark.parametrize("change", [{"body": "0" * 64}, {"at": 1}, {"kind": "other"}, {"seq": 9}, {"run": "other"}])
def test_a_change_of_our_ledger_is_found_by_the_rule(
    make_runtime: Callable[..., Runtime], change: dict[str, Any]
) -> None:
    runtime = make_runtime(TELLING, effects={"tell": tell})
    run = runtime.start(TELLING, "x")
    runtime.work()
    first, second, *rest = exported(run)
    assert bad_records([first, {**second, **change}, *rest]) == [1]


def telling(state: Any, item: Item) -> Step:
    """Tells its input, and completes with the result."""
    return Step.do({}, Effect("tell", item.payload)) if item.kind == "start" else Step.complete(item.payload)


def tell(context: EffectContext, payload: Any) -> Any:
    """Returns what is told."""
    return payload


TELLING = FunctionProgram("telling", telling)


def exported(run: Run) -> list[dict[str, Any]]:
    """Returns the ledger of a run as upstream's verifier takes it: what is hashed of each record, and its hash."""
    records: list[dict[str, Any]] = []
    for record in run.ledger():
        hashed = {
            "run": record.run, "seq": record.seq, "kind": record.kind, "at": round(record.at * 1e6),
            "body": record.body_sha256, "prev_hash": records[-1]["record_hash"] if records else None,
        }  # fmt: skip
        records.append({**hashed, "record_hash": record.hash})
    return records
