"""A profile decides which options are sent: each change has a warning, and nothing else changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import (
    CachePoint,
    CallWarning,
    HostedTool,
    Message,
    ModelCall,
    Sampling,
    TextPart,
    ToolChoice,
    ToolSpec,
    UnsupportedContentError,
)
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile, Thinking
from abstractcore.schema import Lowered, OutputSchema, canonical_json, from_data
from abstractcore.schema.base_error import shown
from abstractcore.testing.changes import changed_as_warned, full_data
from tests.properties import examples

LEVELS = Thinking(("low", "high"), on_by_default=True)
TOOL = ToolSpec("look")
FORCED, AUTO = ToolChoice("required"), ToolChoice("auto")
SCHEMA = OutputSchema("answer", {"type": "object"})
LOST, NO_EFFECT, CHANGED = "unsupported_option", "no_effect", "option_changed"


def call(**fields: Any) -> ModelCall:
    return ModelCall("m", fields.pop("messages", (Message.user("hi"),)), "p", **fields)


def lowered(profile: ModelProfile, **fields: Any) -> Lowered:
    return lower(call(**fields), profile, ())


def warned(found: Lowered) -> list[tuple[str, str, Any, Any]]:
    return [(each.code, each.path, each.requested, each.sent) for each in found.warnings]


@pytest.mark.parametrize(
    ("facts", "thinking", "asked", "sent", "code"),
    [
        ({"refused": {"temperature"}}, None, {"temperature": 0.5}, None, LOST),
        ({"refused": {"temperature"}}, None, {"temperature": 1}, None, NO_EFFECT),
        ({"refused": {"presence_penalty"}}, None, {"presence_penalty": 0}, None, NO_EFFECT),
        ({"refused": {"stop"}}, None, {"stop": ("x",)}, (), LOST),
        ({"refused": {"temperature"}}, None, {"top_p": 0.5}, 0.5, None),
        ({"refused_with_thinking": {"top_k"}}, None, {"top_k": 5}, None, LOST),
        ({"refused_with_thinking": {"top_k"}}, "low", {"top_k": 5}, None, LOST),
        ({"refused_with_thinking": {"top_k"}}, "off", {"top_k": 5}, 5, None),
        ({"refused_with_level": {"high": {"top_p"}}}, "high", {"top_p": 0.5}, None, LOST),
        ({"refused_with_level": {"high": {"top_p"}}}, "max", {"top_p": 0.5}, None, LOST),
        ({"refused_with_level": {"high": {"top_p"}}}, "low", {"top_p": 0.5}, 0.5, None),
        ({"no_effect": {"seed"}}, None, {"seed": 7}, None, NO_EFFECT),
        ({"ranges": {"temperature": (0, 1)}}, None, {"temperature": 1.5}, 1.0, CHANGED),
        ({"ranges": {"temperature": (0, 1)}}, None, {"temperature": 0.5}, 0.5, None),
        ({"ranges": {"top_k": (1, 40)}}, None, {"top_k": 100}, 40, CHANGED),
        ({"ranges_with_thinking": {"top_p": (0.95, 1)}}, "low", {"top_p": 0.5}, 0.95, CHANGED),
        ({"ranges_with_thinking": {"top_p": (0.95, 1)}}, "off", {"top_p": 0.5}, 0.5, None),
        ({"ranges_with_thinking": {"temperature": (1, 1)}}, "low", {"temperature": 0.5}, None, LOST),
        ({"ranges_with_thinking": {"temperature": (1, 1)}}, "low", {"temperature": 1.0}, 1.0, None),
        (
            {"ranges": {"top_p": (0.5, 1)}, "ranges_with_thinking": {"top_p": (0.9, 1)}},
            "low",
            {"top_p": 0.7},
            0.9,
            CHANGED,
        ),
        ({"max_output_tokens": 4096}, None, {"max_output_tokens": 9000}, 4096, CHANGED),
        ({"max_output_tokens": 4096}, None, {"max_output_tokens": 4096}, 4096, None),
    ],
)
def test_refused_sampling_option_is_left_out_or_changed(facts: Any, thinking: Any, asked: Any, sent: Any, code: Any):
    ((name, value),) = asked.items()
    found = lowered(ModelProfile(thinking=LEVELS, **facts), sampling=Sampling(**asked), thinking=thinking)
    assert getattr(found.call.sampling, name) == sent
    requested = list(value) if name == "stop" else value
    expected = (code, f"sampling.{name}", requested, sent if code == CHANGED else None)
    of_sampling = [each for each in warned(found) if each[1] != "thinking"]
    assert of_sampling == ([expected] if code else [])


@pytest.mark.parametrize(
    ("asked", "sent", "code"),
    [
        (Sampling(temperature=0.5, top_p=0.9), Sampling(temperature=0.5), (LOST, "top_p", 0.9)),
        (Sampling(temperature=1, top_p=0.9), Sampling(top_p=0.9), (NO_EFFECT, "temperature", 1)),
        (Sampling(temperature=0.5), Sampling(temperature=0.5), None),
        (Sampling(top_p=0.9), Sampling(top_p=0.9), None),
    ],
)
def test_of_two_options_that_exclude_each_other_the_first_stays(asked: Sampling, sent: Sampling, code: Any):
    found = lowered(ModelProfile(refused_together=(("temperature", "top_p"),)), sampling=asked)
    assert found.call.sampling == sent
    assert warned(found) == ([(code[0], f"sampling.{code[1]}", code[2], None)] if code else [])


@pytest.mark.parametrize(
    ("facts", "fields", "code"),
    [
        ({"refused": {"tool_choice"}}, {"tool_choice": FORCED}, LOST),
        ({"refused": {"parallel_tool_calls"}}, {"parallel_tool_calls": True}, LOST),
        ({"no_effect": {"parallel_tool_calls"}}, {"parallel_tool_calls": False}, NO_EFFECT),
        ({"parallel_tools": False}, {"parallel_tool_calls": True}, LOST),
        ({"parallel_tools": False}, {"parallel_tool_calls": False}, NO_EFFECT),
        ({"refused": {"thinking"}}, {"thinking": "high"}, LOST),
        ({"no_effect": {"thinking"}}, {"thinking": "high"}, NO_EFFECT),
    ],
)
def test_refused_option_of_the_call_is_left_out(facts: Any, fields: Any, code: str):
    ((name, value),) = fields.items()
    found = lowered(ModelProfile(**facts), tools=(TOOL,), **fields)
    assert getattr(found.call, name) is None
    shown = {"mode": "required"} if name == "tool_choice" else value
    assert warned(found) == [(code, name, shown, None)]


@pytest.mark.parametrize(
    ("accepts", "thinking", "sent"),
    [
        ("always", "high", "high"),
        ("without_thinking", "high", "off"),
        ("without_thinking", None, "off"),
        ("without_thinking", "off", "off"),
        ("thinking_unset", "high", None),
        ("thinking_unset", None, None),
        ("thinking_unset", "off", "off"),
    ],
)
def test_tools_exclude_thinking_as_the_profile_says(accepts: Any, thinking: Any, sent: Any):
    profile = ModelProfile(thinking=LEVELS, tools=accepts, tools_provider="other")
    found = lowered(profile, tools=(TOOL,), thinking=thinking)
    assert found.call.thinking == sent
    assert warned(found) == ([] if sent == thinking else [("thinking_changed", "thinking", thinking, sent)])
    assert all("'other' has both" in each.message for each in found.warnings)
    assert lowered(profile, thinking=thinking).call.thinking == thinking


def test_level_that_tools_exclude_has_one_warning():
    found = lowered(ModelProfile(thinking=LEVELS, tools="without_thinking"), tools=(TOOL,), thinking="medium")
    assert warned(found) == [("thinking_changed", "thinking", "medium", "off")]


@pytest.mark.parametrize(
    ("provider", "tool_format", "hint"),
    [("other", None, "Use the provider 'other'"), (None, "native", "Choose another model")],
)
def test_tools_that_are_never_accepted_are_refused(provider: str | None, tool_format: str | None, hint: str):
    profile = ModelProfile(tools="never", tools_provider=provider)
    with pytest.raises(UnsupportedContentError, match="tools: m accepts no tools at the provider 'p'") as caught:
        lowered(profile, tools=(TOOL,), tool_format=tool_format)
    assert hint in (caught.value.hint or "")
    assert lowered(profile).warnings == ()


@pytest.mark.parametrize(
    ("accepts", "thinking", "changed"),
    [
        ("always", "high", False),
        ("never", "off", True),
        ("without_thinking", "high", True),
        ("without_thinking", None, True),
        ("without_thinking", "off", False),
        ("without_budget", 2000, True),
        ("without_budget", "high", False),
        ("without_budget", None, False),
    ],
)
@pytest.mark.parametrize("choice", [FORCED, ToolChoice("tool", "look"), AUTO, ToolChoice("none"), None])
def test_forced_tool_call_becomes_auto_where_it_is_refused(accepts: Any, thinking: Any, changed: bool, choice: Any):
    takes = Thinking(("low", "high"), (1024, 9000), on_by_default=True)
    profile = ModelProfile(thinking=takes, forced_tools=accepts)
    found = lowered(profile, tools=(TOOL,), tool_choice=choice, thinking=thinking)
    changed = changed and choice is not None and choice.mode in ("required", "tool")
    assert found.call.tool_choice == (AUTO if changed else choice)
    assert [each[0] for each in warned(found)] == (["tool_choice_changed"] if changed else [])
    assert lowered(profile, tool_choice=choice, thinking=thinking).call.tool_choice == choice


@pytest.mark.parametrize(
    ("takes", "asked", "sent", "code"),
    [
        (Thinking(on_by_default=True), "high", "high", None),
        (Thinking(on_by_default=True), "off", "off", None),
        (Thinking(on_by_default=True, can_be_off=False), "off", None, "thinking_changed"),
        (Thinking(("low", "max"), (1024, 8000)), "max", "max", None),
        (Thinking(("low", "max"), (1024, 8000)), 2000, 2000, None),
        (Thinking(("low", "max"), (1024, 8000)), 9000, 8000, "thinking_changed"),
        (Thinking(("low", "high"), can_be_off=False), "off", "low", "thinking_changed"),
        (Thinking(budget=(1024, 64_000)), "xhigh", 32_768, None),
        (Thinking(budget=(1024, 64_000)), "max", 64_000, None),
        (Thinking(budget=(1024, 64_000), budget_within_output=True), "max", 59_904, None),
        (Thinking(budget=(1024, 2000), budget_within_output=True), "max", 1500, None),
    ],
)
def test_thinking_is_sent_as_the_model_takes_it(takes: Thinking, asked: Any, sent: Any, code: Any):
    found = lowered(ModelProfile(thinking=takes), thinking=asked)
    assert found.call.thinking == sent
    assert warned(found) == ([(code, "thinking", asked, sent)] if code else [])


@pytest.mark.parametrize(("can_be_off", "sent"), [(True, "off"), (False, None)])
def test_budget_without_room_in_the_output_turns_thinking_off(can_be_off: bool, sent: Any):
    takes = Thinking(budget=(1024, 9000), can_be_off=can_be_off, budget_within_output=True)
    found = lowered(ModelProfile(thinking=takes), thinking="high", sampling=Sampling(1024))
    assert found.call.thinking == sent
    assert warned(found) == [("thinking_changed", "thinking", "high", sent)]
    fitting = lowered(ModelProfile(thinking=takes), thinking="high", sampling=Sampling(1025))
    assert warned(fitting) == [("thinking_changed", "thinking", "high", 1024)]


def test_recommended_limit_with_a_budget_stays_within_the_models_maximum():
    takes = Thinking(budget=(1024, 64_000), budget_within_output=True)
    profile = ModelProfile(thinking=takes, sampling=Sampling(32_000), max_output_tokens=40_000)
    found = lowered(profile, thinking=20_000)
    assert (found.call.sampling.max_output_tokens, found.warnings) == (40_000, ())
    budget_apart = replace(profile, thinking=replace(takes, budget_within_output=False))
    assert lowered(budget_apart, thinking=20_000).call.sampling.max_output_tokens == 32_000


def test_cache_points_behind_tools_are_removed_where_they_are_refused():
    tool = ToolSpec("f", "F.", cache=CachePoint())
    found = lowered(ModelProfile(cache_tools=False), tools=(TOOL, tool))
    assert found.call.tools == (TOOL, replace(tool, cache=None))
    assert warned(found) == [("cache_left_out", "tools[1].cache", {}, None)]
    automatic = lowered(ModelProfile(cache_tools=False), tools=(TOOL,), cache=True)
    assert (automatic.call.tools, automatic.warnings) == ((TOOL,), ())
    assert automatic.call.messages[0].parts[0].cache == CachePoint()


@pytest.mark.parametrize(
    ("times", "asked", "sent"),
    [
        (("5m",), 3600, 300),
        (("5m",), 60, 300),
        (("5m",), None, None),
        (("5m", "1h"), 301, 3600),
        (("1h", "5m"), 99_999, 3600),
        (("30m", "12h"), 1800, 1800),
        ((), 77, 77),
    ],
)
def test_time_to_live_of_a_cache_point_becomes_one_that_the_model_has(times: Any, asked: Any, sent: Any):
    message = Message.user(TextPart("a", cache=CachePoint(asked)), "b")
    tool = replace(TOOL, cache=CachePoint(asked))
    found = lowered(ModelProfile(cache_times=times), messages=(message, Message.user("c")), tools=(tool,))
    assert found.call.messages[0].parts == (TextPart("a", cache=CachePoint(sent)), TextPart("b"))
    assert found.call.tools == (replace(TOOL, cache=CachePoint(sent)),)
    paths = ("tools[0]", "messages[0].parts[0]") if asked != sent else ()
    assert warned(found) == [("cache_time_changed", f"{path}.cache.ttl", asked, sent) for path in paths]


@pytest.mark.parametrize(
    ("facts", "fields", "instructed"),
    [
        ({"structured_output": "none", "tools": "never"}, {}, True),
        ({"structured_output": "json"}, {}, False),
        ({"structured_output": "schema"}, {"tools": (TOOL,)}, False),
        ({"output_with_tools": False}, {}, False),
        ({"output_with_tools": False, "tools": "always"}, {"output_mode": "prompted", "tools": (TOOL,)}, True),
        ({"output_with_tools": False}, {"hosted_tools": (HostedTool("web_search"),)}, True),
    ],
)
def test_schema_that_cannot_be_sent_becomes_an_instruction(facts: Any, fields: Any, instructed: bool):
    messages = (Message.system("s"), Message.user("hi"))
    found = lowered(ModelProfile(**facts), messages=messages, output=SCHEMA, **fields)
    if not instructed:
        assert (found.call.output, found.call.messages, found.warnings) == (SCHEMA, messages, ())
        return
    first, instruction, last = found.call.messages
    assert (found.call.output, first, last) == (None, *messages)
    assert instruction.role == "system"
    assert instruction.text.endswith('{"type":"object"}')
    warnings = [] if "output_mode" in fields else [("schema_as_instruction", "output")]
    assert [(each.code, each.path) for each in found.warnings] == warnings


@pytest.mark.parametrize(("day", "retired"), [(20_777, False), (20_778, True), (20_779, True)])
def test_retired_model_has_a_warning_from_its_date(day: int, retired: bool):
    profile = ModelProfile(retires="2026-11-21", replaced_by="n")
    found = lower(call(), profile, (), day * 86_400.0)
    assert [(each.code, each.path) for each in found.warnings] == ([("retired_model", "model")] if retired else [])
    assert all("2026-11-21: use 'n' instead" in each.message for each in found.warnings)
    assert lower(call(), profile, ()).warnings == ()
    assert found.call == call()


NAMES = st.frozensets(
    st.sampled_from(
        [
            *("temperature", "top_p", "top_k", "seed", "stop", "presence_penalty", "top_logprobs"),
            *("tool_choice", "parallel_tool_calls", "thinking", "max_output_tokens"),
        ]
    ),
    max_size=4,
)
RANGES = st.dictionaries(
    st.sampled_from(["temperature", "top_p"]), st.sampled_from([(0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]), max_size=2
)
THINKING = st.builds(
    Thinking,
    st.sampled_from([(), ("low", "medium", "high"), ("high", "max")]),
    st.sampled_from([None, (1024, 8000), (0, 500)]),
    st.booleans(),
    st.booleans(),
    budget_within_output=st.booleans(),
)
PROFILES = st.builds(
    ModelProfile,
    thinking=st.none() | THINKING,
    max_output_tokens=st.none() | st.just(5000),
    tools=st.sampled_from([None, "always", "without_thinking", "thinking_unset"]),
    parallel_tools=st.sampled_from([None, True, False]),
    forced_tools=st.sampled_from([None, "always", "without_thinking", "without_budget", "never"]),
    refused=NAMES,
    refused_with_thinking=NAMES,
    refused_with_level=st.dictionaries(st.sampled_from(["low", "high", "max"]), NAMES, max_size=1),
    refused_together=st.sampled_from([(), (("temperature", "top_p"),), (("top_p", "temperature"), ("seed", "top_k"))]),
    no_effect=NAMES,
    ranges=RANGES,
    ranges_with_thinking=RANGES,
    cache_points=st.sampled_from([None, 0, 1]),
    cache_times=st.sampled_from([(), ("5m",), ("5m", "1h")]),
    cache_tools=st.booleans(),
)
POINTS = st.none() | st.sampled_from([CachePoint(), CachePoint(400)])
CALLS = st.builds(
    call,
    messages=st.builds(lambda point: (Message.user(TextPart("hi", cache=point)),), POINTS),
    tools=st.sampled_from([(), (TOOL,), (replace(TOOL, cache=CachePoint(400)),)]),
    tool_choice=st.sampled_from([None, FORCED, AUTO]),
    parallel_tool_calls=st.sampled_from([None, True, False]),
    sampling=st.builds(
        Sampling,
        st.sampled_from([None, 700, 9000]),
        st.sampled_from([None, 0.7, 1, 1.5]),
        st.sampled_from([None, 0.7, 1]),
        st.sampled_from([None, 5]),
        st.sampled_from([None, 7]),
        st.sampled_from([(), ("x",)]),
        st.sampled_from([None, 0, 0.5]),
    ),
    thinking=st.sampled_from([None, "off", "low", "high", "xhigh", "max", 2000, 20_000]),
)


@examples(300)
@given(PROFILES, CALLS)
def test_each_change_has_a_warning_and_a_lowered_call_is_not_changed_again(profile: ModelProfile, asked: ModelCall):
    found = lower(asked, profile, ())
    changed: Any = changed_as_warned(full_data(asked), found.warnings)
    expected = from_data(ModelCall, changed)
    if expected.thinking != found.call.thinking:
        assert isinstance(found.call.thinking, int) or expected.thinking == "off"
        expected = expected.with_(thinking=found.call.thinking)
    assert canonical_json(expected) == canonical_json(found.call)
    again = lower(found.call, profile, ())
    assert (again.call, again.warnings) == (found.call, ())
    assert [each.message for each in found.warnings if not names_both_values(each)] == []


def names_both_values(warning: CallWarning) -> bool:
    """Returns whether a message names what was requested, and what is sent or that nothing is."""
    requested, sent = (json.loads(json.dumps(value)) for value in (warning.requested, warning.sent))
    if ".cache" in warning.path and not warning.path.endswith(".ttl"):
        return f"the cache point at {warning.path.removesuffix('.cache')} is left out" in warning.message
    name = warning.path.rpartition(".")[2]
    start = f"{name} is " if requested is None else f"{name}={shown(requested)} "
    end = " left out: " if sent is None else f" {shown(sent)}: "
    return f"{start}" in warning.message and end in warning.message


@pytest.mark.parametrize(
    ("takes", "asked", "message"),
    [
        (LEVELS, "minimal", "thinking='minimal' becomes 'low': this model supports the thinking levels low, high"),
        (Thinking(("low",), can_be_off=False), "off", "thinking='off' becomes 'low': thinking cannot be turned off"),
        (Thinking(budget=(10, 20)), 5, "thinking=5 becomes 10: this model's thinking budget is 10 to 20 tokens"),
        (Thinking(), "high", "thinking='high' is left out: this model does not support thinking"),
    ],
)
def test_warning_of_thinking_names_what_was_asked_and_what_is_sent(takes: Thinking, asked: Any, message: str):
    (warning,) = lowered(ModelProfile(thinking=takes), thinking=asked).warnings
    assert warning.message.startswith(message)


def test_warning_of_thinking_that_was_not_asked_for_names_what_is_sent():
    (warning,) = lowered(ModelProfile(thinking=LEVELS, tools="without_thinking"), tools=(TOOL,)).warnings
    assert warning.message == "thinking is set to 'off': m accepts tools only without thinking"
