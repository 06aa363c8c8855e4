"""Version requirements, compared with the `packaging` library."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from abstractcore.registry.entry_points import unmet

numbers = st.integers(0, 3)
releases = st.lists(numbers, min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
long_releases = st.lists(numbers, min_size=2, max_size=4).map(lambda parts: ".".join(map(str, parts)))
clauses = st.one_of(
    st.tuples(st.sampled_from(["==", "!=", "<=", ">=", "<", ">"]), releases).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), releases, st.just(".*")).map("".join),
    st.tuples(st.just("~="), long_releases).map("".join),
)


@given(st.lists(clauses, max_size=3), releases)
def test_versions_are_compared_as_in_the_standard(asked, version):
    wanted = ",".join(asked)
    assert (unmet([f"core{wanted}"], "core", version) is None) == SpecifierSet(wanted).contains(Version(version))


@pytest.mark.parametrize(
    ("row", "version", "asked"),
    [
        ("abstract_core>=0.1,<1", "0.1.0", None),
        ("Abstract.Core[local,audio] (>=0.2, <1)", "0.1.0", ">=0.2, <1"),
        ("abstract-core >= 0.2 , < 1", "0.1.0", ">= 0.2 , < 1"),
        ("abstract-core>=0.2", "0.2rc1", None),
        ("abstract-core<0.2", "0.2.dev3", "<0.2"),
        ("abstract-core>=0.2; python_version < '4'", "0.1.0", None),
        ("abstract-core-extras>=0.2", "0.1.0", None),
        ("other>=9", "0.1.0", None),
        ("abstract-core", "0.1.0", None),
        ("abstract-core===0.2", "0.1.0", None),
        ("abstract-core @ file:///core.whl", "0.1.0", None),
        ("!!", "0.1.0", None),
        ("", "0.1.0", None),
    ],
)
def test_requirement_is_parsed_and_ignored_if_invalid(row, version, asked):
    assert unmet(["more>=1", row], "abstract-core", version) == asked
