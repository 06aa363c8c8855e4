"""Options that Claude models do not support are removed or adjusted, with a warning."""

from typing import Any

import pytest

from abstractcore.schema import CallWarning, Message, ModelCall, Sampling, ToolChoice
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages
from abstractcore_providers.vendors.models.claude import CLAUDE, UNKNOWN_CLAUDE
from abstractcore_providers.vendors.models.family import find_family
from abstractcore_providers.vendors.rules.claude import Asked, ClaudeRules, fit_budget, fit_choice, fit_sampling

ANY, NEWEST = ClaudeRules(), ClaudeRules(accepts_sampling=False, accepts_forced_tools=False)
EITHER = ClaudeRules(one_of_temperature_and_top_p=True)
LOST, DEFAULT, CHANGED = "unsupported_option", "no_effect", "top_p_changed"


@pytest.mark.parametrize(
    ("rules", "thinks", "asked", "warned"),
    [
        (ANY, False, Sampling(9, 0.5, 0.9, 40), {}),
        (ANY, True, Sampling(9, 0.5, 0.99, 40), {"temperature": LOST, "top_k": LOST}),
        (ANY, True, Sampling(9, 1.0, 0.99), {}),
        (ANY, True, Sampling(9, 1.5), {}),
        (NEWEST, False, Sampling(9, 1.0, 0.9, 40), {"temperature": DEFAULT, "top_p": LOST, "top_k": LOST}),
        (NEWEST, True, Sampling(9, 1.5), {"temperature": LOST}),
        (NEWEST, True, Sampling(9, stop=("x",)), {}),
        (ANY, True, Sampling(9, top_p=0.95), {}),
        (NEWEST, True, Sampling(9, top_p=0.5), {"top_p": LOST}),
        (EITHER, False, Sampling(9, 0.5, 0.9, 40), {"top_p": LOST}),
        (EITHER, False, Sampling(9, 1.0, 0.9, 40), {"temperature": DEFAULT}),
        (EITHER, False, Sampling(9, 1.0), {}),
        (EITHER, False, Sampling(9, top_p=0.9), {}),
        (EITHER, True, Sampling(9, 0.5, 0.99), {"temperature": LOST}),
        (EITHER, True, Sampling(9, 1.0, 0.99), {"temperature": DEFAULT}),
    ],
)
def test_unsupported_options_are_removed_with_a_warning(
    rules: ClaudeRules, thinks: bool, asked: Sampling, warned: dict[str, str]
):
    warnings: list[CallWarning] = []
    sent = fit_sampling(asked, rules, thinks, warnings)
    assert [(w.code, w.path, w.requested, w.sent) for w in warnings] == [
        (code, f"sampling.{name}", getattr(asked, name), None) for name, code in warned.items()
    ]
    for name in ("max_output_tokens", "temperature", "top_p", "top_k", "stop"):
        assert getattr(sent, name) == (None if name in warned else getattr(asked, name))


def test_top_p_is_raised_to_the_minimum_for_thinking():
    warnings: list[CallWarning] = []
    assert fit_sampling(Sampling(9, top_p=0.5), ANY, True, warnings) == Sampling(9, top_p=0.95)
    assert [(w.code, w.path, w.requested, w.sent) for w in warnings] == [(CHANGED, "sampling.top_p", 0.5, 0.95)]
    assert fit_sampling(Sampling(9, top_p=0.5), ANY, False, []) == Sampling(9, top_p=0.5)


@pytest.mark.parametrize(
    ("asked", "limit", "sent"),
    [
        (0, None, "off"),
        (0, 5000, "off"),
        (1, None, 1024),
        (1024, None, 1024),
        (2000, None, 2000),
        (2000, 2001, 2000),
        (2000, 2000, 1999),
        (1, 1025, 1024),
        (2000, 1025, 1024),
        (2000, 1024, "off"),
        ("minimal", None, "minimal"),
        ("low", 10, "low"),
        ("high", None, "high"),
        ("off", 10, "off"),
        (None, 10, None),
    ],
)
def test_thinking_budget_is_between_1024_and_max_output_tokens(asked: Asked, limit: int | None, sent: Asked):
    warnings: list[CallWarning] = []
    assert fit_budget(asked, limit, warnings) == sent
    assert [(w.path, w.requested, w.sent) for w in warnings] == ([("thinking", asked, sent)] if sent != asked else [])


@pytest.mark.parametrize(
    "name", ["claude-opus-4-1", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "claude-opus-4-6"]
)
def test_models_since_opus_4_1_accept_either_temperature_or_top_p(name: str):
    assert find_family(name, CLAUDE).rules == EITHER


@pytest.mark.parametrize("choice", [ToolChoice("auto"), ToolChoice("none"), ToolChoice("required")])
@pytest.mark.parametrize(("rules", "thinks"), [(ANY, False), (ANY, True), (NEWEST, False)])
def test_forced_tool_choice_becomes_auto_where_it_is_unsupported(choice: ToolChoice, rules: ClaudeRules, thinks: bool):
    warnings: list[CallWarning] = []
    changed = choice.mode == "required" and (thinks or not rules.accepts_forced_tools)
    assert fit_choice(choice, rules, thinks, warnings) == (ToolChoice("auto") if changed else choice)
    found = [(w.code, w.path, w.requested, w.sent) for w in warnings]
    expected = ("tool_choice_changed", "tool_choice", {"mode": "required"}, {"mode": "auto"})
    assert found == ([expected] if changed else [])


def test_warning_omits_auto_where_it_is_not_sent():
    warnings: list[CallWarning] = []
    assert fit_choice(ToolChoice("tool", "f"), NEWEST, False, warnings, auto_is_sent=False) == ToolChoice("auto")
    assert [warning.sent for warning in warnings] == [None]


def test_unknown_models_have_default_rules():
    for name in ("mine", ""):
        assert find_family(name, CLAUDE, UNKNOWN_CLAUDE).rules == ANY


def lowered(rules: ClaudeRules, **fields: Any) -> tuple[ModelCall, list[tuple[str, Any, Any]]]:
    """The call lowered by these rules, and the warnings: path, requested value, sent value."""
    found = rules.lower(ModelCall("m", (Message.user("hi"),), "anthropic", **fields))
    return found.call, [(w.path, w.requested, w.sent) for w in found.warnings]


def test_unchanged_call_is_the_same_object():
    call = ModelCall("m", (Message.user("hi"),), "anthropic", thinking="high", tool_choice=ToolChoice("auto"))
    assert ANY.lower(call).call is call


def test_mutually_exclusive_options_are_adjusted_together():
    call, warnings = lowered(
        ANY, thinking=9000, sampling=Sampling(5000, 0.5, 0.5, 5), tool_choice=ToolChoice("required")
    )
    assert (call.thinking, call.sampling, call.tool_choice) == (4999, Sampling(5000, top_p=0.95), ToolChoice("auto"))
    assert warnings == [
        ("thinking", 9000, 4999),
        ("sampling.temperature", 0.5, None),
        ("sampling.top_k", 5, None),
        ("sampling.top_p", 0.5, 0.95),
        ("tool_choice", {"mode": "required"}, {"mode": "auto"}),
    ]


def test_thinking_turned_off_for_lack_of_room_keeps_sampling_and_tool_choice():
    call, warnings = lowered(ANY, thinking=9000, sampling=Sampling(900, 0.5), tool_choice=ToolChoice("required"))
    assert (call.sampling, call.tool_choice) == (Sampling(900, 0.5), ToolChoice("required"))
    assert warnings == [("thinking", 9000, "off")]


@pytest.mark.parametrize("parallel", [True, False])
def test_forced_tool_choice_with_parallel_tool_calls_is_removed_instead_of_auto(parallel: bool):
    call, warnings = lowered(NEWEST, tool_choice=ToolChoice("tool", "f"), parallel_tool_calls=parallel)
    assert (call.tool_choice, call.parallel_tool_calls) == (None, parallel)
    assert warnings == [("tool_choice", {"mode": "tool", "tool": "f"}, None)]
    assert [w.path for w in AnthropicMessages().encode(call).warnings] == ["sampling.max_output_tokens"]
