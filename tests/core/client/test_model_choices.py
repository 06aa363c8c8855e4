"""Lowering for the model: thinking, cache points, hosted tools."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import (
    Blob,
    CachePoint,
    HostedTool,
    ImagePart,
    Message,
    ModelCall,
    Sampling,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    UnsupportedContentError,
    UnsupportedOptionError,
    create_llm,
)
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile, Thinking
from abstractcore.testing import strategies
from tests.chaos_server import completion
from tests.properties import examples

POINT = CachePoint()
CLAUDE = Thinking(budget=(1024, 32000))
ALWAYS = Thinking(budget=(128, 32768), can_be_off=False)
EFFORTS = Thinking(levels=("minimal", "low", "medium", "high"))
O_SERIES = Thinking(levels=("low", "medium", "high"), can_be_off=False)
NONE = Thinking()


def call(*messages: Message, **fields) -> ModelCall:
    return ModelCall("m", messages or (Message.user("hi"),), "p", **fields)


@pytest.mark.parametrize(
    ("asked", "takes", "sent", "warned"),
    [
        (None, EFFORTS, None, False),
        ("high", None, "high", False),
        (7, None, 7, False),
        ("low", CLAUDE, 1024, False),
        ("minimal", ALWAYS, 1024, False),
        ("high", CLAUDE, 24576, False),
        ("xhigh", CLAUDE, 32000, False),
        ("max", CLAUDE, 32000, False),
        (2000, CLAUDE, 2000, False),
        (10, CLAUDE, 1024, True),
        (10**6, CLAUDE, 32000, True),
        ("off", CLAUDE, "off", False),
        (0, CLAUDE, "off", False),
        ("off", ALWAYS, 128, True),
        ("minimal", EFFORTS, "minimal", False),
        ("minimal", O_SERIES, "low", True),
        ("max", O_SERIES, "high", True),
        ("off", O_SERIES, "low", True),
        ("off", EFFORTS, "off", False),
        (1000, EFFORTS, "low", True),
        (2048, EFFORTS, "low", True),
        (9000, EFFORTS, "medium", True),
        (10**6, O_SERIES, "high", True),
        ("off", NONE, None, False),
        ("high", NONE, None, True),
        (4096, NONE, None, True),
    ],
)
def test_thinking_is_translated_for_the_model(asked, takes, sent, warned):
    lowered = lower(call(thinking=asked), ModelProfile(thinking=takes), ())
    assert lowered.call.thinking == sent
    assert [(warning.path, warning.requested, warning.sent) for warning in lowered.warnings] == (
        [("thinking", "off" if asked == 0 else asked, sent)] if warned else []
    )


@pytest.mark.parametrize(
    ("thinking", "limit", "sent"),
    [
        (None, None, 32_000),
        ("off", None, 32_000),
        ("low", None, 33_024),
        (50_000, None, 64_000),
        (50_000, 9000, 9000),
    ],
)
def test_recommended_token_limit_is_raised_by_the_thinking_budget(thinking, limit, sent):
    takes = Thinking(budget=(1024, 63_999), budget_within_output=True)
    profile = ModelProfile(thinking=takes, sampling=Sampling(max_output_tokens=32_000))
    lowered = lower(call(thinking=thinking, sampling=Sampling(max_output_tokens=limit)), profile, ())
    assert lowered.call.sampling.max_output_tokens == sent


def held(call: ModelCall) -> list[str]:
    """Where there are points."""
    tools = [f"tools[{i}]" for i, tool in enumerate(call.tools) if tool.cache]
    return tools + [
        f"messages[{i}].parts[{j}]"
        for i, message in enumerate(call.messages)
        for j, part in enumerate(message.parts)
        if getattr(part, "cache", None)
    ]


TOOL = ToolSpec("look")
SYSTEM, USER = Message.system("s"), Message.user("hi")
PICTURE = ImagePart(Blob.from_bytes(b"x", "image/png"))
TURN = (Message.assistant(ToolCall("c", "look")), Message.tool(ToolResult.text("c", "seen")))


@pytest.mark.parametrize(
    ("asked", "points"),
    [
        (call(cache=True), ["messages[0].parts[0]"]),
        (
            call(Message.system("s"), Message.user("hi"), tools=(TOOL,), cache=True),
            ["messages[0].parts[0]", "messages[1].parts[0]"],
        ),
        (call(tools=(TOOL, ToolSpec("b")), cache=True), ["tools[1]", "messages[0].parts[0]"]),
        (call(USER, *TURN, cache=True), ["messages[2].parts[0]"]),
        (
            call(Message.user("a"), Message.assistant("b"), Message.system("late"), Message.user("c"), cache=True),
            ["messages[3].parts[0]"],
        ),
        (
            call(Message.user("look", ImagePart(Blob.from_bytes(b"x", "image/png"))), cache=True),
            ["messages[0].parts[1]"],
        ),
    ],
)
def test_cache_true_places_points_after_the_stable_prefix_and_the_last_user_message(asked, points):
    lowered = lower(asked, ModelProfile(frozenset({"image"})), ())
    assert held(lowered.call) == points
    assert (lowered.call.cache, lowered.warnings) == (False, ())


def test_explicit_cache_point_is_unchanged():
    asked = call(Message("user", (TextPart("hi", cache=CachePoint(300)),)), cache=True)
    assert lower(asked, ModelProfile(), ()).call.messages[0].parts[0].cache == CachePoint(300)


def test_excess_cache_points_are_dropped_earliest_first_with_a_warning_each():
    def user(text: str) -> Message:
        return Message("user", (TextPart(text, cache=POINT),))

    system = Message("system", (TextPart("s", cache=POINT),))
    asked = call(
        system,
        user("a"),
        Message.assistant("b"),
        user("c"),
        Message.assistant("d"),
        user("e"),
        tools=(replace(TOOL, cache=POINT),),
    )
    lowered = lower(asked, ModelProfile(cache_points=3), ())
    assert held(lowered.call) == ["tools[0]", "messages[0].parts[0]", "messages[5].parts[0]"]
    assert [warning.path for warning in lowered.warnings] == [
        "messages[1].parts[0].cache",
        "messages[3].parts[0].cache",
    ]


def test_provider_with_automatic_caching_gets_no_cache_points():
    lowered = lower(call(cache=True), ModelProfile(cache_points=0), ())
    assert held(lowered.call) == []
    assert [(warning.code, warning.path) for warning in lowered.warnings] == [("cache_left_out", "cache")]


@pytest.mark.exhaustive
@examples(80)
@given(strategies.calls(tool_content=strategies.text_parts()), st.booleans(), st.none() | st.integers(0, 4))
def test_cache_points_never_exceed_the_providers_maximum_and_each_loss_has_a_warning(asked, cache, most):
    if any(getattr(part, "blob", None) for message in asked.messages for part in message.parts):
        asked = asked.with_(messages=(Message.user("hi"),))
    asked = asked.with_(cache=cache)
    lowered = lower(asked, ModelProfile(cache_points=most), ())
    points = held(lowered.call)
    assert most is None or len(points) <= most
    left_out = [warning for warning in lowered.warnings if warning.code == "cache_left_out"]
    if most is None:
        assert left_out == []
        assert len(points) >= len(held(asked))
    elif not cache:
        assert len(left_out) == len(held(asked)) - len(points)


def test_hosted_tool_is_sent(call_style):
    llm = create_llm("scripted", replies=["ok"])
    call_style.generate(llm, "hi", tools=[TOOL, HostedTool("web_search", {"max_uses": 2})])
    (made,) = llm.calls
    assert (made.tools, made.hosted_tools) == ((TOOL,), (HostedTool("web_search", {"max_uses": 2}),))


def test_format_without_hosted_tools_refuses_them_before_sending(call_style, connect, server):
    with pytest.raises(UnsupportedContentError, match=r"hosted_tools\[0\]: .*web_search"):
        call_style.generate(connect(), "hi", tools=[HostedTool("web_search")])
    assert server.requests == []


@pytest.mark.parametrize("options", [{"thinking": 10**6}, {"cache": True}])
def test_strict_mode_refuses_options_that_would_be_changed(call_style, connect, server, options):
    server.always(completion())
    llm = connect(strict=True)
    assert call_style.generate(llm, "hi").content == "hello"
    with pytest.raises(UnsupportedOptionError, match=next(iter(options))):
        call_style.generate(llm, "hi", **options)
    assert len(server.requests) == 1
