"""Calls as JSON in code blocks among text: which are run, which stay text, and what is dropped behind them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.engine.reply_reading import ReplyReader, read_reply
from abstractcore.schema import Message, ModelCall, ModelReply, ReplyReading, TextPart
from abstractcore.tools.prompted import TOOL_FORMATS, tool_format
from abstractcore.tools.prompted.fenced_calls import FencedCalls
from tests.core.tools.prompted.messy_outputs import LIMA, OSLO, SEARCH, TOOLS, WEATHER
from tests.properties import examples

READ_ONLY = tuple(replace(tool, read_only=True) for tool in TOOLS)
CALL = ModelCall("m", (Message.user("hi"),), "p")


def block(*items: Any, language: str = "json") -> str:
    value = items[0] if len(items) == 1 else list(items)
    return f"```{language}\n{json.dumps(value, indent=2)}\n```"


def written(name: str = "weather", **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


IN_OSLO, IN_LIMA = written(city="Oslo"), written(city="Lima", days=3)


def reading(text: str, tools: Any = READ_ONLY, *, rescue: bool = True, name: str = "hermes", reason: Any = "stop"):
    given = ReplyReading(name, tools, rescue)
    return read_reply(ModelReply((TextPart(text),), reason, model="m"), ReplyReader(given, CALL))


def codes(reply: ModelReply) -> list[str]:
    return [warning.code for warning in reply.warnings]


@pytest.mark.parametrize("name", [name for name in TOOL_FORMATS if name != "llama3"])
def test_calls_of_read_only_tools_among_text_are_calls(name: str):
    text = f"For Oslo:\n\n{block(IN_OSLO)}\n\nAnd for Lima:\n\n{block(IN_LIMA)}\n"
    found = reading(text, name=name)
    assert [(call.name, call.arguments) for call in found.tool_calls] == [
        ("weather", {"city": "Oslo"}),
        ("weather", {"city": "Lima", "days": 3}),
    ]
    assert (found.text, found.finish_reason) == ("For Oslo:", "tool_calls")
    assert codes(found) == ["tool_call_repaired", "tool_call_repaired", "invented_result_cut"]
    assert "written in a code block among text" in found.warnings[0].message


@pytest.mark.parametrize("language", ["json", "", "tool_call"])
@pytest.mark.parametrize(
    "items", [(IN_OSLO,), (IN_OSLO, IN_LIMA), ({"name": "weather", "parameters": {"city": "Oslo"}},)]
)
def test_block_may_have_any_language_and_several_calls(language: str, items: Any):
    found = reading(f"I look.\n{block(*items, language=language)}")
    assert len(found.tool_calls) == len(items)
    assert found.text == "I look."


def test_what_the_model_expects_of_a_result_is_cut_off():
    text = f"I call it:\n{block(IN_OSLO)}\n\nThe result:\n```\n25 degrees\n```\nIt is 25 degrees in Oslo."
    found = reading(text)
    assert (found.text, len(found.tool_calls)) == ("I call it:", 1)
    assert codes(found) == ["tool_call_repaired", "invented_result_cut"]
    assert "'The result:" in found.warnings[1].message
    assert reading(text, reason="length").finish_reason == "tool_calls"


SHOWN = [
    ("tool that is not read_only", TOOLS, IN_OSLO),
    ("destructive tool", (replace(WEATHER, destructive=True),), IN_OSLO),
    ("unknown argument", READ_ONLY, written(town="Oslo")),
    ("missing argument", READ_ONLY, written(days=3)),
    ("wrong type", READ_ONLY, written(city=5)),
    ("arguments as a text", READ_ONLY, {"name": "weather", "arguments": '{"city": "Oslo"}'}),
    (
        "one of two is not read_only",
        (replace(WEATHER, read_only=True), SEARCH),
        [IN_OSLO, written("search", query="x")],
    ),
]


@pytest.mark.parametrize(("why", "tools", "item"), SHOWN, ids=[why for why, *_ in SHOWN])
def test_other_calls_among_text_stay_text_with_a_warning(why: str, tools: Any, item: Any):
    text = f"You can call it like this:\n\n{block(item)}\n\nThen wait."
    found = reading(text, tools)
    assert (found.text, found.tool_calls, found.finish_reason) == (text, (), "stop")
    assert codes(found) == ["tool_call_as_text"]
    assert "'weather'" in found.warnings[0].message


TEXTS = [
    block({"name": "Ada", "age": 36}),
    block({"name": "weather"}),
    block(written("unknown", x=1)),
    block({**IN_OSLO, "id": 1}),
    block({"city": "Oslo"}),
    "```python\nweather('Oslo')\n```",
    f"````\n{block(IN_OSLO)}\n````",
    f"```\n{json.dumps(IN_OSLO)}\nand more\n```",
    f"```python\nprint(1)\n```\n{json.dumps(IN_OSLO)}\n```\n```",
    f"`{json.dumps(IN_OSLO)}`",
    f"<think>\n{block(IN_OSLO)}\n</think>\nIt is sunny.",
    "```json\n" + "[" * 5000 + "\n```",
    '```json\n{"name": ' + "{" * 5000 + "\n```",
    "``` ``` ````\n`",
]


@pytest.mark.parametrize("text", TEXTS)
def test_other_blocks_are_unchanged(text: str):
    found = reading(f"See: {text}")
    assert (found.text, found.tool_calls, found.warnings) == (f"See: {text}", (), ())


def test_rescue_turns_it_off():
    text = f"I call it:\n{block(IN_OSLO)}"
    assert reading(text, rescue=False).tool_calls == ()
    native = read_reply(ModelReply((TextPart(text),)), ReplyReader(ReplyReading(None, READ_ONLY, True), CALL))
    assert (native.text, native.tool_calls) == (text, ())


def test_block_that_a_limit_cut_stays_text_and_one_without_its_end_is_a_call():
    whole = f"I call it:\n{block(IN_OSLO)}"
    assert reading(whole[:-4], reason="length").text == whole[:-4]
    assert len(reading(whole[:-4]).tool_calls) == 1
    assert reading(whole[:-8]).tool_calls == ()


def test_marked_call_beside_a_block_is_a_call_too():
    both = f"One:\n{block(IN_OSLO)}\n{tool_format('hermes').write_calls([LIMA])}"
    assert [call.arguments for call in reading(both).tool_calls] == [OSLO.arguments, LIMA.arguments]


def test_code_streams_as_it_arrives():
    parser = FencedCalls(READ_ONLY, tool_format("hermes").parser(READ_ONLY))
    assert (
        "".join(map(str, [*parser.feed("Look:\n```python\n"), *parser.feed("print(1)")]))
        == "Look:\n```python\nprint(1)"
    )
    held = FencedCalls(READ_ONLY, tool_format("hermes").parser(READ_ONLY))
    assert held.feed('Look:\n```json\n{"name": "weather", ') == ["Look:"]


PIECES = st.lists(
    st.sampled_from(
        [
            block(IN_OSLO),
            block(IN_OSLO, IN_LIMA),
            block(written(town="x")),
            *TEXTS,
            "\n",
            " and ",
            "`",
            "```",
            "```json\n",
        ]
    )
    | st.sampled_from(
        ['{"name"', "<think>", "</think>", tool_format("hermes").write_calls([OSLO]), "<tool_response>", "\n```\n"]
    )
    | st.text(max_size=5),
    max_size=6,
).map("".join)


@pytest.mark.exhaustive
@examples(300)
@given(PIECES, st.integers(1, 9), st.booleans())
def test_any_split_has_the_same_calls_text_and_names(text: str, size: int, truncated: bool):
    def read(step: int) -> Any:
        parser = FencedCalls(READ_ONLY, tool_format("hermes").parser(READ_ONLY))
        found = [piece for index in range(0, len(text), step) for piece in parser.feed(text[index : index + step])]
        found += parser.finish(truncated=truncated)
        texts = "".join(piece for piece in found if isinstance(piece, str))
        return texts, [piece for piece in found if not isinstance(piece, str)], parser.shown, parser.cut_at

    whole = read(len(text) + 1)
    assert read(size) == whole
    assert read(1) == whole
    if not whole[1] and whole[3] is None:
        assert whole[0] == text
