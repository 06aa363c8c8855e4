"""The tables of models: each row is found by its names and has a source."""

import pytest

from abstractcore_providers.vendors.models.bedrock import BEDROCK
from abstractcore_providers.vendors.models.claude import CLAUDE, UNKNOWN_CLAUDE
from abstractcore_providers.vendors.models.family import UNKNOWN, ModelFamily, find_family
from abstractcore_providers.vendors.openai_compatible import VENDORS

TABLES: dict[str, tuple[ModelFamily, ...]] = {
    "anthropic": CLAUDE,
    "bedrock": BEDROCK,
    **{vendor.name: vendor.families for vendor in VENDORS if vendor.families},
}


@pytest.mark.parametrize("table", TABLES)
def test_every_name_matches_its_own_row(table: str):
    for family in TABLES[table]:
        assert family.names
        for name in family.names:
            assert find_family(name, TABLES[table]) is family, f"an earlier row hides {name}"


@pytest.mark.parametrize("table", TABLES)
def test_every_row_has_a_source_url(table: str):
    assert [family.names for family in TABLES[table] if not family.source.startswith("https://")] == []


def test_unknown_name_gets_the_default():
    assert find_family("mine", CLAUDE, UNKNOWN_CLAUDE) is UNKNOWN_CLAUDE
    assert find_family("mine", CLAUDE) is UNKNOWN
    assert not UNKNOWN.profile.known
    assert find_family("", ()) is UNKNOWN
