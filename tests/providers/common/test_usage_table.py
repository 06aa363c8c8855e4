"""Counts of tokens by a vendor's names: what was written is read, and what was not reported is absent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import Usage
from abstractcore_providers.common.response_bodies import UsageTable
from tests.properties import examples

NAMES = {
    "input": "in",
    "output": "out",
    "total": "all",
    "cached": "in_details.cached",
    "input_audio": "in_details.audio",
    "output_audio": "out_details.audio",
}
TABLE = UsageTable(NAMES)
APART = UsageTable({"input": "new", "cached": "read", "cache_written": "written"}, cache_apart=True)
COUNTS = st.none() | st.integers(0, 2**53)


@examples(50)
@given(st.fixed_dictionaries({name: COUNTS for name in NAMES if name != "total"}))
def test_what_was_written_is_read(counts: dict[str, int | None]):
    usage = Usage(**counts)
    written = TABLE.write(usage)
    assert TABLE.read(written) == usage
    assert written.get("all") == usage.total


def test_counts_are_written_in_the_order_of_the_table_and_absent_ones_left_out():
    usage = Usage(3, 0, input_audio=1)
    assert list(TABLE.write(usage).items()) == [("in", 3), ("out", 0), ("all", 3), ("in_details", {"audio": 1})]
    assert TABLE.write(Usage()) == {}


@pytest.mark.parametrize("junk", [None, True, -1, 1.0, 2**63, "1", [1], {"cached": 1}])
def test_what_is_no_count_is_not_reported(junk: Any):
    assert TABLE.read({"in": junk, "all": 7, "out_details": {"audio": junk}}) == Usage()
    if not isinstance(junk, dict):
        assert TABLE.read({"in_details": junk}) == Usage()


@pytest.mark.parametrize(
    ("data", "usage"),
    [
        ({"new": 1, "read": 2, "written": 4}, Usage(7, cached=2, cache_written=4)),
        ({"new": 1}, Usage(1)),
        ({"read": 2}, Usage(cached=2)),
    ],
)
def test_input_includes_the_cache_where_the_vendors_does_not(data: dict[str, int], usage: Usage):
    assert APART.read(data) == usage


def test_names_and_missing_counts_are_those_of_the_table():
    assert TABLE.names == {"in", "out", "all", "in_details", "out_details"}
    assert TABLE.missing == ("cache_written", "reasoning")
    with pytest.raises(TypeError, match="not a count: \\['inptu'\\]"):
        UsageTable({"inptu": "in"})


@pytest.mark.parametrize("usage", [Usage(7, cached=2, cache_written=4), Usage(1), Usage(cached=2)])
def test_what_was_written_apart_from_the_cache_is_read(usage: Usage):
    assert APART.read(APART.write(usage)) == usage
