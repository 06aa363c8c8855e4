"""`ApprovalRules`: an approver of ordered rules."""

import fnmatch
import json
import re
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import (
    Allow,
    ApprovalRule,
    ApprovalRules,
    Deny,
    InvalidInputError,
    PendingCall,
    Suspend,
    ToolCall,
    ToolPolicy,
    ToolSpec,
    tool,
)
from abstractcore.tools.policy import _matches
from tests.core.tools.loops import Way, calls, scripted
from tests.properties import examples


def pending(name: str, arguments: dict[str, Any] | None = None, reason: Any = "approval", **flags: Any) -> PendingCall:
    return PendingCall(ToolCall.of("1", name, arguments or {}), reason, tool=ToolSpec(name, **flags))


RULES = [
    ApprovalRule("delete_*", "deny", reason="nothing is deleted"),
    ApprovalRule("write", "allow", {"path": "/tmp/*"}),
    ApprovalRule("write", "suspend", reason="outside of /tmp"),
    ApprovalRule("pay", "allow", {"cents": "5"}),
]


def test_the_first_rule_that_matches_decides_then_read_only_then_the_default():
    rules = ApprovalRules(RULES, default="deny")
    assert rules(pending("delete_all", read_only=True)) == Deny("nothing is deleted")
    assert rules(pending("write", {"path": "/tmp/a"})) == Allow()
    assert rules(pending("write", {"path": "/etc/a"})) == Suspend("outside of /tmp")
    assert rules(pending("write", {})) == Suspend("outside of /tmp")
    assert rules(pending("pay", {"cents": 5})) == Allow()
    assert rules(pending("pay", {"cents": 50})) == Deny()
    assert rules(pending("look", read_only=True)) == Allow()
    assert ApprovalRules(RULES, allow_read_only=False)(pending("look", read_only=True)) == Suspend()


@pytest.mark.parametrize("reason", ["data_flow", "interrupted"])
def test_a_rule_does_not_allow_what_needs_an_answer(reason: Any):
    rules = ApprovalRules([ApprovalRule("*", "allow")])
    assert rules(pending("send", reason=reason)) == Suspend()
    assert ApprovalRules([])(pending("send", reason=reason, read_only=True)) == Suspend()
    asked = ApprovalRules([ApprovalRule("*", "allow")], ask=lambda _: True)
    assert asked(pending("send", reason=reason)) is True


def test_rules_are_data():
    data = json.loads(json.dumps(ApprovalRules(RULES).to_data()))
    assert ApprovalRules(data).rules == tuple(RULES)


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("rules", "rules"),
        ([3], "rules[0]"),
        ([{"tool": "a"}], "rules[0]"),
        ([{"tool": "a", "action": "allow", "when": 1}], "rules[0]"),
        ([{"tool": "a", "action": "run"}], "rules[0].action"),
        ([{"tool": 3, "action": "allow"}], "rules[0].tool"),
        ([{"tool": "*" * 1001, "action": "allow"}], "rules[0].tool"),
        ([{"tool": "a", "action": "allow", "arguments": {"b": 3}}], "rules[0].arguments.b"),
        ([{"tool": "a", "action": "ask"}], "ask"),
    ],
)
def test_an_invalid_rule_is_named(rules: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        ApprovalRules(rules)
    assert caught.value.path == path


@examples(200)
@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_patterns_match_as_fnmatch_does(pattern: str, text: str):
    assert _matches(pattern, text) == bool(re.match(fnmatch.translate(pattern), text))


def test_a_hostile_pattern_is_matched_in_time():
    assert not ApprovalRule("*a" * 500, "allow").matches(pending("a" * 499 + "b" * 1_000_000))


def test_rules_decide_in_a_loop_and_a_question_without_an_answer_denies(way: Way):
    ran: list[str] = []
    released = threading.Event()

    @tool
    def pay(cents: int) -> str:
        """Pays."""
        ran.append(f"pay {cents}")
        return "paid"

    def ask(pending: PendingCall) -> bool:
        return released.wait(60)

    rules = ApprovalRules([ApprovalRule("pay", "allow", {"cents": "5"})], default="ask", ask=ask)
    llm = scripted(calls(("pay", {"cents": 5}), ("pay", {"cents": 500})), "Done.")
    try:
        response = way.generate(llm, tools=[pay], run_tools=ToolPolicy(approve=rules, approve_timeout=0.2))
    finally:
        released.set()
    assert ran == ["pay 5"]
    assert [step.outcome for step in response.tool_steps] == ["done", "denied"]
    assert "no approval in 0.2 s" in response.tool_steps[1].result.as_text
