"""The verifier of upstream's rule agrees with hashes that upstream's own code wrote, in upstream_chain.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
