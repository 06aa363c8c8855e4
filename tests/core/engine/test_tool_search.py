"""Where deferred tools are searched: by the provider, in this program, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import HostedTool, Message, ModelCall, ModelReply, ToolCall, ToolChoice, ToolResult, ToolSpec
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile
from abstractcore.schema import CachePoint, Lowered, OpaquePart, ToolLoop
from abstractcore.tools.loop_rules import SEARCH_TOOLS, callable_tools, next_call

MAIL = ToolSpec("send_mail", "Sends mail.", defer=True)
SONG = ToolSpec("play_song", "Plays a song.", defer=True)
CLOCK = ToolSpec("clock", "The time.")
TOOLS = (MAIL, CLOCK, SONG)
SEARCHES, UNKNOWN, NONE = ModelProfile(tool_search=True), ModelProfile(), ModelProfile(tool_search=False)
HOSTED = HostedTool("tool_search")


def call(**fields: Any) -> ModelCall:
    return ModelCall("m", fields.pop("messages", (Message.user("hi"),)), "p", **{"tools": TOOLS, **fields})


def lowered(profile: ModelProfile, *, loop: bool = True, **fields: Any) -> Lowered:
    """The call of a first round with a loop, or without one."""
    made = call(**fields)
    return lower(next_call(ToolLoop("loop", made)) if loop else made, profile, ())


def names(found: Lowered) -> list[str]:
    """Deferred tools are marked."""
    return [f"{tool.name}?" if tool.defer else tool.name for tool in found.call.tools]


def codes(found: Lowered) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in found.warnings]


@pytest.mark.parametrize("loop", [True, False])
def test_the_provider_searches_where_it_can(loop: bool):
    found = lowered(SEARCHES, loop=loop)
    assert (found.tool_search, names(found), codes(found)) == ("hosted", ["send_mail?", "clock", "play_song?"], [])
    assert found.call.hosted_tools == (HOSTED,)


@pytest.mark.parametrize("profile", [UNKNOWN, NONE])
def test_a_loop_searches_elsewhere(profile: ModelProfile):
    found = lowered(profile)
    assert (found.tool_search, names(found), codes(found)) == ("client", ["clock", "search_tools"], [])
    assert found.call.hosted_tools == ()


def test_without_a_loop_and_a_search_all_tools_are_sent():
    found = lowered(UNKNOWN, loop=False)
    assert (found.tool_search, names(found)) == (None, ["send_mail", "clock", "play_song"])
    assert codes(found) == [("tools_not_deferred", "tools")]


@pytest.mark.parametrize(
    ("profile", "fields", "expected", "warnings"),
    [
        (SEARCHES, {"tool_search": "client"}, "client", []),
        (SEARCHES, {"tool_search": "hosted"}, "hosted", []),
        (UNKNOWN, {"tool_search": "client"}, "client", []),
        (UNKNOWN, {"tool_search": "hosted"}, "client", [("tool_search_changed", "tool_search")]),
        (UNKNOWN, {"hosted_tools": (HOSTED,)}, "hosted", []),
        (SEARCHES, {"tool_choice": ToolChoice("tool", "search_tools")}, "client", []),
        (SEARCHES, {"tool_format": "hermes"}, "client", [("tools_as_prompt", "tools")]),
        (SEARCHES, {"tools": (CLOCK,), "tool_search": "hosted"}, None, []),
    ],
)
def test_the_call_and_its_tools_decide(profile: ModelProfile, fields: Any, expected: str | None, warnings: list[Any]):
    found = lowered(profile, **fields)
    assert (found.tool_search, codes(found)) == (expected, warnings)
    assert found.call.tool_search is None
    assert (HOSTED in found.call.hosted_tools) == (expected == "hosted")
    if expected == "client":
        assert not any(tool.defer for tool in found.call.tools)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [(SEARCHES, ["send_mail?", "clock", "play_song"]), (UNKNOWN, ["clock", "search_tools", "play_song"])],
)
def test_a_tool_that_must_be_called_is_not_deferred(profile: ModelProfile, expected: list[str]):
    assert names(lowered(profile, tool_choice=ToolChoice("tool", "play_song"))) == expected


def test_a_tool_that_the_conversation_calls_is_known():
    asked = Message("assistant", (ToolCall("1", "play_song", "{}"),))
    history = (Message.user("hi"), asked, Message.tool(ToolResult.text("1", "la")), Message.user("again"))
    assert names(lowered(UNKNOWN, messages=history)) == ["clock", "search_tools", "play_song"]


def test_cache_points_are_on_tools_that_are_in_the_prompt():
    found = lowered(SEARCHES, cache=True)
    assert [tool.cache for tool in found.call.tools] == [None, CachePoint(), None]
    found = lowered(SEARCHES, cache=True, tools=(MAIL, SONG))
    assert [tool.cache for tool in found.call.tools] == [None, None]


def test_lowering_twice_changes_nothing():
    for profile in (SEARCHES, UNKNOWN):
        once = lowered(profile)
        assert lower(once.call, profile, ()).call == once.call


@pytest.mark.parametrize("kind", ["tool_search_call", "tool_search_output"])
def test_what_the_provider_has_found_may_be_called(kind: str):
    """A provider does not say in a common form what it has found: any deferred tool may have been."""
    searched = ModelReply((OpaquePart("p", kind, {}), ToolCall("1", "send_mail", "{}")), "tool_calls")
    loop = ToolLoop("loop", call(), (searched,))
    assert {"send_mail", "play_song"} <= {tool.name for tool in callable_tools(loop)}
    plain = ToolLoop("loop", call(), (ModelReply((ToolCall("1", "send_mail", "{}"),), "tool_calls"),))
    assert {tool.name for tool in callable_tools(plain)} == {"clock", "search_tools"}


def test_tools_found_here_are_added_at_the_end_of_every_round():
    loop = ToolLoop("loop", call(), found=("play_song",))
    made = next_call(loop)
    assert SEARCH_TOOLS in made.tools
    assert names(lower(made, UNKNOWN, ())) == ["clock", "search_tools", "play_song"]
    assert names(lower(made, SEARCHES, ())) == ["send_mail?", "clock", "play_song"]
