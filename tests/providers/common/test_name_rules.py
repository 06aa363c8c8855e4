"""The vendors' rules of names, and the names that are sent in place of others."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import ToolCall, ToolSpec
from abstractcore.tools.names import LONGEST_NAME, nearest_name
from abstractcore.tools.prompted import TOOL_FORMATS, ParsedCall, tool_format
from abstractcore_providers.common import name_rules
from abstractcore_providers.common.name_rules import NameRule
from tests.properties import examples

LEGAL = {
    "OPENAI": r"[a-zA-Z0-9_-]{1,64}",
    "ANTHROPIC": r"[a-zA-Z0-9_-]{1,128}",
    "BEDROCK": r"[a-zA-Z0-9_-]{1,64}",
    "GEMINI": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "ANTHROPIC_PROPERTIES": r"[a-zA-Z0-9_.-]{1,64}",
}
"""The vendors' rules as their pages write them."""
RULES: dict[str, NameRule] = {name: getattr(name_rules, name) for name in LEGAL}
NAMES = st.text(max_size=150) | st.text("ab.:-_!0", max_size=150) | st.integers(60, 130).map("a".__mul__)
EVERY_RULE = pytest.mark.parametrize("rule", RULES)


@EVERY_RULE
@examples(100)
@given(name=NAMES)
def test_rules_match_the_vendors_documentation(rule: str, name: str):
    assert RULES[rule].allow(name) == (re.fullmatch(LEGAL[rule], name) is not None)


@EVERY_RULE
@examples(100)
@given(names=st.lists(NAMES | st.sampled_from(["a!", "a?", "a b", "a_b"]), max_size=6))
def test_every_refused_name_gets_a_valid_one_and_all_stay_different(rule: str, names: list[str]):
    found = RULES[rule].replacements(names)
    assert found.keys() == {name for name in names if not RULES[rule].allow(name)}
    sent = [found.get(name, name) for name in dict.fromkeys(names)]
    assert all(map(RULES[rule].allow, sent))
    assert len(set(sent)) == len(sent)


@EVERY_RULE
@examples(100)
@given(name=NAMES, others=st.lists(NAMES, max_size=4))
def test_replacement_depends_on_the_name_alone(rule: str, name: str, others: list[str]):
    alone = RULES[rule].replacements([name])
    assert RULES[rule].replacements([*others, name]).get(name) == alone.get(name)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("get weather!", "get_weather__b7025540"),
        ("get_weather?", "get_weather__dccaccaa"),
        ("a" * 70, f"{'a' * 55}_6bd5e503"),
        ("", "__e3b0c442"),
        ("天気", "___bc79d84d"),
    ],
)
def test_replacements_do_not_change_between_versions(name: str, sent: str):
    """Prompts are cached by vendors, and requests are recorded."""
    assert name_rules.OPENAI.replacements([name]) == {name: sent}


def test_name_that_is_the_replacement_of_another_stays_and_the_other_gets_a_new_one():
    (sent,) = name_rules.OPENAI.replacements(["a b"]).values()
    found = name_rules.OPENAI.replacements([sent, "a b"])
    assert found.keys() == {"a b"}
    assert found["a b"] not in (sent, "a b")
    assert name_rules.OPENAI.allow(found["a b"])


FUNCTION_NAMES = st.from_regex(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}", fullmatch=True)
"""Names that functions may have as tools."""


@given(FUNCTION_NAMES)
def test_every_vendor_accepts_the_names_that_functions_may_have(name: str) -> None:
    assert all(rule.allow(name) for rule in RULES.values())
    assert all(re.fullmatch(legal, name) for legal in LEGAL.values())


@given(st.text(max_size=100))
def test_suggested_name_of_a_function_is_accepted_by_every_vendor(name: str) -> None:
    assert all(rule.allow(nearest_name(name)) for rule in RULES.values())


@pytest.mark.parametrize("written_as", TOOL_FORMATS)
@pytest.mark.parametrize("name", ["get-weather", "_private", "a--b_", "X" * LONGEST_NAME])
def test_prompted_formats_carry_the_names_that_functions_may_have(written_as: str, name: str) -> None:
    chosen = tool_format(written_as)
    parser = chosen.parser([ToolSpec(name)])
    pieces = [*parser.feed(chosen.write_calls([ToolCall.of("call_0_0", name, {"city": "Lima"})])), *parser.finish()]
    calls = [piece for piece in pieces if isinstance(piece, ParsedCall)]
    assert [(call.name, call.arguments_text) for call in calls] == [(name, '{"city": "Lima"}')]
