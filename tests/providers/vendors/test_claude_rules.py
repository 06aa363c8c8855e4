"""Options that Claude models do not support are removed or adjusted, with a warning."""

from dataclasses import replace
from typing import Any

import pytest

from abstractcore.engine import lower
from abstractcore.ports import ModelProfile, Thinking
from abstractcore.schema import CallWarning, Message, ModelCall, Sampling, ToolChoice, ToolSpec
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages
from tests.providers.sessions import CATALOGUE

TOOLS = (ToolSpec("f"),)
LOST, DEFAULT, CHANGED = "unsupported_option", "no_effect", "option_changed"


def profile_of(model: str, provider: str = "anthropic") -> ModelProfile:
    """The profile without a recommended limit, and without the warning that the model is retired."""
    return replace(CATALOGUE.profile(provider, model), sampling=None, max_output_tokens=None, retires=None)


OLDEST = profile_of("anthropic.claude-3-7-sonnet-20250219-v1:0", "bedrock")
ANY = replace(
    OLDEST, thinking=Thinking(("minimal", "low", "medium", "high"), (1024, 63_999), budget_within_output=True)
)
"""A model that accepts sampling options, levels and budgets."""
NEWEST, EITHER = profile_of("claude-opus-5-5"), profile_of("claude-opus-4-6")


def lowered(profile: ModelProfile, **fields: Any) -> tuple[ModelCall, tuple[CallWarning, ...]]:
    """The call lowered for this profile, and the warnings."""
    found = lower(ModelCall("m", (Message.user("hi"),), "anthropic", **fields), profile, ())
    return found.call, found.warnings


@pytest.mark.parametrize(
    ("profile", "thinks", "asked", "warned"),
    [
        (ANY, False, Sampling(9, 0.5, 0.9, 40), {}),
        (ANY, True, Sampling(9, 0.5, 0.99, 40), {"temperature": LOST, "top_k": LOST}),
        (ANY, True, Sampling(9, 1.0, 0.99), {}),
        (ANY, True, Sampling(9, 1.5), {"temperature": LOST}),
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
    profile: ModelProfile, thinks: bool, asked: Sampling, warned: dict[str, str]
):
    call, warnings = lowered(profile, sampling=asked, thinking="high" if thinks else None)
    sent = call.sampling
    assert [(w.code, w.path, w.requested, w.sent) for w in warnings] == [
        (code, f"sampling.{name}", getattr(asked, name), None) for name, code in warned.items()
    ]
    for name in ("max_output_tokens", "temperature", "top_p", "top_k", "stop"):
        assert getattr(sent, name) == (None if name in warned else getattr(asked, name))


def test_top_p_is_raised_to_the_minimum_for_thinking():
    call, warnings = lowered(ANY, sampling=Sampling(9, top_p=0.5), thinking="low")
    assert call.sampling == Sampling(9, top_p=0.95)
    assert [(w.code, w.path, w.requested, w.sent) for w in warnings] == [(CHANGED, "sampling.top_p", 0.5, 0.95)]
    assert lowered(ANY, sampling=Sampling(9, top_p=0.5))[0].sampling == Sampling(9, top_p=0.5)


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
def test_thinking_budget_is_between_1024_and_max_output_tokens(asked: Any, limit: int | None, sent: Any):
    call, warnings = lowered(ANY, thinking=asked, sampling=Sampling(limit))
    assert call.thinking == sent
    warned = [] if sent == asked or asked == 0 else [("thinking", asked, sent)]
    assert [(w.path, w.requested, w.sent) for w in warnings] == warned


@pytest.mark.parametrize(
    "name", ["claude-opus-4-1", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "claude-opus-4-6"]
)
def test_models_since_opus_4_1_accept_either_temperature_or_top_p(name: str):
    call, _ = lowered(profile_of(name), sampling=Sampling(9, 0.5, 0.9))
    assert call.sampling == Sampling(9, 0.5)


@pytest.mark.parametrize("choice", [ToolChoice("auto"), ToolChoice("none"), ToolChoice("required")])
@pytest.mark.parametrize(("profile", "thinks"), [(ANY, False), (ANY, True), (NEWEST, False)])
def test_forced_tool_choice_becomes_auto_where_it_is_unsupported(
    choice: ToolChoice, profile: ModelProfile, thinks: bool
):
    changed = choice.mode == "required" and (thinks or profile is NEWEST)
    call, warnings = lowered(profile, tools=TOOLS, tool_choice=choice, thinking=2000 if thinks else None)
    assert call.tool_choice == (ToolChoice("auto") if changed else choice)
    found = [(w.code, w.path, w.requested, w.sent) for w in warnings]
    expected = ("tool_choice_changed", "tool_choice", {"mode": "required"}, {"mode": "auto"})
    assert found == ([expected] if changed else [])


@pytest.mark.parametrize("thinking", [None, "low", "high"])
@pytest.mark.parametrize("model", ["claude-opus-5", "claude-haiku-5-5", "claude-opus-4-8", "claude-sonnet-4-6"])
def test_forced_tool_choice_and_a_level_go_together(model: str, thinking: Any):
    """build-with-claude/thinking: only manual thinking, with a budget, excludes a forced tool call."""
    forced = ToolChoice("required")
    call, warnings = lowered(profile_of(model), tools=TOOLS, tool_choice=forced, thinking=thinking)
    assert (call.tool_choice, call.thinking, warnings) == (forced, thinking, ())


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("claude-opus-4-6", ["low", "medium", "high", "high", "max"]),
        ("claude-opus-4-7", ["low", "medium", "high", "xhigh", "max"]),
        ("claude-opus-5-5", ["low", "medium", "high", "xhigh", "max"]),
    ],
)
def test_levels_of_a_model_are_sent(model: str, sent: list[str]):
    """build-with-claude/effort: max since 4.6, xhigh since 4.7."""
    asked: Any = ("low", "medium", "high", "xhigh", "max")
    assert [lowered(profile_of(model), thinking=level)[0].thinking for level in asked] == sent


def test_a_budget_is_a_level_where_the_model_has_no_budgets():
    assert lowered(profile_of("claude-opus-4-6"), thinking=2000)[0].thinking == 2000
    call, (warning,) = lowered(profile_of("claude-opus-4-7"), thinking=9000)
    assert (call.thinking, warning.code) == ("medium", "thinking_changed")


def test_unchanged_call_is_the_same_object():
    call = ModelCall("m", (Message.user("hi"),), "anthropic", thinking="high", tool_choice=ToolChoice("auto"))
    assert lower(call, ANY, ()).call is call


def test_mutually_exclusive_options_are_adjusted_together():
    call, warnings = lowered(
        ANY, thinking=9000, sampling=Sampling(5000, 0.5, 0.5, 5), tools=TOOLS, tool_choice=ToolChoice("required")
    )
    assert (call.thinking, call.sampling, call.tool_choice) == (4999, Sampling(5000, top_p=0.95), ToolChoice("auto"))
    assert [(w.path, w.requested, w.sent) for w in warnings] == [
        ("thinking", 9000, 4999),
        ("sampling.temperature", 0.5, None),
        ("sampling.top_p", 0.5, 0.95),
        ("sampling.top_k", 5, None),
        ("tool_choice", {"mode": "required"}, {"mode": "auto"}),
    ]


def test_thinking_turned_off_for_lack_of_room_keeps_sampling_and_tool_choice():
    choice = ToolChoice("required")
    call, warnings = lowered(ANY, thinking=9000, sampling=Sampling(900, 0.5), tools=TOOLS, tool_choice=choice)
    assert (call.sampling, call.tool_choice) == (Sampling(900, 0.5), choice)
    assert [(w.path, w.requested, w.sent) for w in warnings] == [("thinking", 9000, "off")]


@pytest.mark.parametrize("parallel", [True, False])
def test_forced_tool_choice_with_parallel_tool_calls_is_removed_instead_of_auto(parallel: bool):
    forced = ToolChoice("tool", "f")
    call, warnings = lowered(NEWEST, tools=TOOLS, tool_choice=forced, parallel_tool_calls=parallel)
    assert (call.tool_choice, call.parallel_tool_calls) == (None, parallel)
    assert [(w.path, w.requested, w.sent) for w in warnings] == [("tool_choice", {"mode": "tool", "tool": "f"}, None)]
    assert [w.path for w in AnthropicMessages().encode(call).warnings] == ["sampling.max_output_tokens"]
