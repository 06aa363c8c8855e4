"""Names of models: variants that mean the same model, and families, which a new version does not belong to."""

import time

import pytest

from abstractcore.catalogue.rows import Families, NameRules

BEDROCK = NameRules(after=("/",), prefixes=("us.", "global."), suffixes=("-v1:0",))


@pytest.mark.parametrize(
    ("rules", "name", "expected"),
    [
        (NameRules(), "nova-2", []),
        (NameRules(), "nova-2-2026-10-07", ["nova-2"]),
        (NameRules(), "nova-2-20261007", ["nova-2"]),
        (NameRules(), "nova-2@20261007", ["nova-2"]),
        (NameRules(), "nova-2-10-2026", ["nova-2"]),
        (NameRules(), "nova-2-13-2026", []),
        (NameRules(), "nova-2-12345678", []),
        (NameRules(), "nova-2-2512", []),
        (NameRules(short_dates=True), "nova-2-2512", ["nova-2"]),
        (NameRules(short_dates=True), "nova-2-2026-10-07", ["nova-2"]),
        (NameRules(), "nova:8b", []),
        (NameRules(tags=True), "nova:8b", ["nova"]),
        (NameRules(), "models/nova", []),
        (NameRules(after=("/",)), "publishers/acme/models/nova", ["nova"]),
        (BEDROCK, "us.acme.nova-20261007-v1:0", ["acme.nova"]),
        (BEDROCK, "arn:aws:bedrock:us-east-1:1:inference-profile/global.acme.nova", ["acme.nova"]),
    ],
)
def test_variants_leave_out_what_the_rules_name_and_dates(rules: NameRules, name: str, expected: list[str]):
    assert list(rules.variants(name))[-len(expected) or 1 :] == expected
    assert name not in rules.variants(name)


def test_variant_with_the_fewest_changes_comes_first():
    assert next(NameRules(tags=True).variants("nova-2026-10-07:free")) == "nova-2026-10-07"


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o-search", "gpt-4o"),
        ("gpt-4o-2030-01-01-preview", "gpt-4o"),
        ("gpt-4o:beta", "gpt-4o"),
        ("gpt-4o@beta", "gpt-4o"),
        ("gpt-4oo", None),
        ("gpt-6", "gpt-6"),
        ("gpt-6-astra", "gpt-6"),
        ("gpt-6.2-astra", None),
        ("gpt-6-2", None),
        ("gpt-6-12-astra", None),
        ("gpt-6-123", "gpt-6"),
        ("gpt-6-4b", "gpt-6"),
        ("gpt-6-1.7b-chat", "gpt-6"),
        ("gpt-6-1.7", None),
        ("Maker/GPT-6-4B", "gpt-6"),
        ("maker/gpt-6:4b", "gpt-6"),
        ("gpt-6/other", None),
        ("claude-opus-5", "claude"),
        ("claude-opus-4-9", "claude"),
        ("claude-opus-4-9-1", "claude"),
        ("claude-opus-4-fast", "claude-opus-4"),
        ("llama", None),
    ],
)
def test_family_ends_at_a_separator_and_does_not_hold_other_versions(name: str, family: str | None):
    assert Families(["gpt-4o", "gpt-6", "claude", "claude-opus-4"]).of([name]) == family


def test_name_of_any_length_takes_time_in_proportion():
    """A server says which model answered. Of a name of this length all beginnings would be 200 GB."""
    long = "gpt-6" + "-a" * 300_000
    began = time.process_time()
    assert Families(["gpt-6"]).of([long, "-" * 600_000]) == "gpt-6"
    assert Families(["gpt-6"]).of(["gpt-6-2" + "-a" * 300_000]) is None
    assert time.process_time() - began < 5


def test_family_of_several_names_is_the_longest():
    assert Families(["acme", "acme.nova", "us"]).of(["us.acme.nova-pro", "acme.nova-pro"]) == "acme.nova"
