"""Cache points whose prefix is too short: left out with a warning where that is certain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from abstractcore import CachePoint, ImagePart, Message, ModelCall, TextPart, ToolSpec, create_llm
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile
from abstractcore.schema import Blob, HostedTool, OutputSchema, freeze

POINT = CachePoint()
PROFILE = ModelProfile(cache_minimum=1024, cache_points=4)
SHORT = (Message.system("Be brief."), Message.user(TextPart("a" * 500, cache=POINT), "b"))


def warned(profile: ModelProfile = PROFILE, **fields: Any) -> list[tuple[str, str, Any]]:
    call = ModelCall("m", fields.pop("messages", SHORT), "p", **fields)
    found = lower(call, profile, ())
    return [(each.code, each.path, each.requested) for each in found.warnings if each.code == "cache_too_short"]


def test_point_behind_a_short_prefix_is_left_out_with_a_warning():
    found = lower(ModelCall("m", SHORT, "p"), PROFILE, ())
    (warning,) = found.warnings
    reason = "m caches only prefixes of at least 1,024 tokens, and this one is shorter"
    assert warning.message == f"the cache point at messages[1].parts[0] is left out: {reason}"
    assert (warning.code, warning.path) == ("cache_too_short", "messages[1].parts[0].cache")
    assert found.call.messages[1].parts == (TextPart("a" * 500 + "b"),)
    assert lower(found.call, PROFILE, ()) == replace(found, warnings=())


@pytest.mark.parametrize("size", [3, 900, 990, 991, 992, 1023, 1024, 5000])
def test_a_token_has_at_least_one_byte(size: int):
    """Each message may have 16 tokens around it."""
    message = Message.user(TextPart("a" * size, cache=POINT))
    system = Message.system("s")
    assert bool(warned(messages=(system, message))) == (size + 33 < 1024)
    in_utf8 = Message.user(TextPart("€" * (size // 3), cache=POINT))
    assert bool(warned(messages=(system, in_utf8))) == (size // 3 * 3 + 33 < 1024)


def test_later_text_does_not_count_but_system_messages_do():
    point = Message.user(TextPart("a", cache=POINT))
    assert warned(messages=(point, Message.user("b" * 5000)))
    assert not warned(messages=(point, Message.assistant("b"), Message.system("c" * 5000)))
    assert warned(messages=(Message.user(TextPart("a", cache=POINT), "b" * 5000),))


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": (ToolSpec("f"),)},
        {"hosted_tools": (HostedTool("web_search"),)},
        {"output": OutputSchema("answer", {"type": "object"})},
        {"provider_options": freeze({"p": {"system": "long"}})},
        {"messages": (Message.user(ImagePart(Blob("bytes", "image/png", data=b"a")), TextPart("b", cache=POINT)),)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_nothing_is_certain_beside_what_a_provider_adds_and_counts(fields: dict[str, Any]):
    assert not warned(replace(PROFILE, accepts=frozenset({"image"})), **fields)


def test_no_warning_without_a_minimum_or_a_point():
    assert not warned(ModelProfile(cache_points=4))
    assert not warned(messages=(Message.user("a"),))


def test_automatic_points_have_one_warning_if_the_whole_prompt_is_too_short():
    short = (Message.system("Be brief."), Message.user("a"))
    assert warned(messages=short, cache=True) == [("cache_too_short", "cache", True)]
    longer = lower(ModelCall("m", (*short, Message.user("b" * 5000)), "p", cache=True), PROFILE, ())
    assert longer.warnings == ()
    assert [part.cache for message in longer.call.messages for part in message.parts] == [None, None, POINT]
    assert not warned(ModelProfile(cache_minimum=1024, cache_points=0), messages=short, cache=True)


def test_points_without_effect_do_not_count_towards_the_maximum():
    parts = [TextPart(text, cache=POINT) for text in ("a", "b" * 5000, "c")]
    found = lower(ModelCall("m", (Message.user(*parts),), "p"), ModelProfile(cache_minimum=1024, cache_points=1), ())
    codes = [(each.code, each.path) for each in found.warnings]
    assert codes == [
        ("cache_too_short", "messages[0].parts[0].cache"),
        ("cache_left_out", "messages[0].parts[1].cache"),
    ]


def test_provider_without_cache_points_has_its_own_warning():
    found = lower(ModelCall("m", SHORT, "p"), ModelProfile(cache_minimum=1024, cache_points=0), ())
    assert [each.code for each in found.warnings] == ["cache_left_out"]


def test_strict_calls_may_cache_a_prompt_that_is_still_short():
    llm = create_llm("scripted", replies=["a"], facts={"cache_minimum": 1024})
    response = llm.generate("hi", cache=True, strict=True)
    assert [each.code for each in response.warnings] == ["cache_too_short"]
