"""Hostile outputs in every format: reasoning with calls, a megabyte of arguments, cut and nested tags, odd names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import ToolCall, ToolSpec
from abstractcore.tools.prompted import TOOL_FORMATS, ParsedCall, Piece, tool_format
from tests.core.tools.prompted.messy_outputs import INVENTED, OSLO, TOOLS, WEATHER_OSLO, accepted, refused
from tests.core.tools.prompted.test_messy_outputs import read
from tests.properties import examples

FORMATS = pytest.mark.parametrize("name", TOOL_FORMATS)
MEGABYTE = 1_000_000
ODD_NAMES = [
    "</tool_call>",
    "<think>",
    "<|call|>",
    "[TOOL_CALLS]",
    "weather report",
    "Action:",
    "<｜tool▁sep｜>",  # noqa: RUF001
    "it's",
    "天气",
]
_MARKERS = [tool_format(name).write_calls([OSLO], TOOLS)[: 12 + 3 * index] for index, name in enumerate(TOOL_FORMATS)]
HOSTILE = st.lists(
    st.text(max_size=12)
    | st.sampled_from([*_MARKERS, *INVENTED.values(), "<think>", "</think>", "<thinking>", "```", "\n", "{", "}"])
    | st.sampled_from([case.output for name in TOOL_FORMATS for case in accepted(name)])
    | st.sampled_from([text for name in TOOL_FORMATS for text in refused(name)]),
    max_size=6,
).map("".join)


def calls_of(pieces: list[Piece]) -> list[tuple[str, Any]]:
    return [(piece.name, json.loads(piece.arguments_text)) for piece in pieces if isinstance(piece, ParsedCall)]


def city_of(call: ParsedCall) -> str:
    """The city of a call; nothing if its arguments cannot be read, which the model is told."""
    try:
        return json.loads(call.arguments_text).get("city", "")
    except ValueError:
        return ""


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


@FORMATS
def test_any_split_of_what_any_model_may_write_has_the_same_pieces(name: str) -> None:
    @examples(60)
    @given(HOSTILE, st.integers(2, 9), st.booleans())
    def check(text: str, size: int, truncated: bool) -> None:
        whole = read(name, text, len(text) + 1, truncated=truncated)
        assert read(name, text, 1, truncated=truncated) == whole
        assert read(name, text, size, truncated=truncated) == whole

    check()


@pytest.mark.parametrize("size", [1, 5, MEGABYTE])
@pytest.mark.parametrize(("opening", "closing"), [("<think>", "</think>"), ("<thinking>", "</thinking>")])
@FORMATS
def test_call_in_reasoning_stays_text(name: str, opening: str, closing: str, size: int) -> None:
    written = tool_format(name).write_calls([OSLO], TOOLS)
    for text in (
        f"{opening}\nI could write\n{written}\nbut no.\n{closing}\n\nIt is sunny.",
        f"Hm. {opening}\n{written}",
        f"{{{opening}\n{written}\n{written}\n{closing}",
        f"{opening} </thin {opening} \n{written}\n{closing}",
    ):
        assert read(name, text, size) == ([text], None)


@pytest.mark.parametrize("size", [1, 5, MEGABYTE])
@FORMATS
def test_call_after_reasoning_is_a_call(name: str, size: int) -> None:
    written = tool_format(name).write_calls([OSLO], TOOLS)
    pieces, _ = read(name, f"<think>\n{written}\n</think>\n{written}", size)
    assert calls_of(pieces) == [WEATHER_OSLO]
    assert text_of(pieces).strip() == f"<think>\n{written}\n</think>"


@FORMATS
def test_tag_of_reasoning_in_arguments_is_an_argument(name: str) -> None:
    chosen = tool_format(name)
    calls = [
        ToolCall.of(f"c{index}", "search", {"query": f"what is {tag}"}) for index, tag in enumerate(["<think>", "x"])
    ]
    pieces, _ = read(name, chosen.write_calls(calls, TOOLS), 3)
    assert calls_of(pieces) == [("search", call.arguments) for call in calls]


@FORMATS
def test_reasoning_streams_as_it_arrives(name: str) -> None:
    parser = tool_format(name).parser(TOOLS)
    assert (
        text_of([*parser.feed("<think>\n"), *parser.feed("I wonder"), *parser.feed(" why.")])
        == "<think>\nI wonder why."
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [4096, MEGABYTE * 2])
@FORMATS
def test_megabyte_of_arguments_is_read_in_linear_work(name: str, size: int) -> None:
    query = ('Ø "quoted" {x} [y] \\ <b> 天气 🌧\n' * (MEGABYTE // 32))[:MEGABYTE]
    chosen = tool_format(name)
    written = chosen.write_calls([ToolCall.of("a", "search", {"query": query})], TOOLS)
    parser: Any = chosen.parser(TOOLS)
    found = [piece for index in range(0, len(written), size) for piece in parser.feed(written[index : index + size])]
    assert calls_of([*found, *parser.finish()]) == [("search", {"query": query})]
    assert parser.visits <= 4 * len(written)


@FORMATS
def test_call_that_ends_anywhere_is_never_another_call(name: str) -> None:
    """A reply without a limit may be completed, with a repair; a truncated one never has a part of an argument."""
    written = tool_format(name).write_calls([OSLO], TOOLS)
    for end in range(len(written)):
        pieces, _ = read(name, written[:end], 1)
        assert read(name, written[:end], MEGABYTE)[0] == pieces
        for call in pieces:
            if isinstance(call, ParsedCall):
                assert call.name == "weather"
                assert "Oslo".startswith(city_of(call)), written[:end]
        truncated, _ = read(name, written[:end], 1, truncated=True)
        assert all(call == WEATHER_OSLO for call in calls_of(truncated)), written[:end]
        assert calls_of(truncated) or text_of(truncated) == written[:end]


@FORMATS
def test_call_split_at_every_character_is_the_same(name: str) -> None:
    text = f"Let me look.\n\n{tool_format(name).write_calls([OSLO], TOOLS)}\nThen I wait."
    whole = read(name, text, MEGABYTE)
    for end in range(len(text)):
        parser = tool_format(name).parser(TOOLS)
        found = [*parser.feed(text[:end]), *parser.feed(text[end:]), *parser.finish()]
        assert (calls_of(found), text_of(found)) == (calls_of(whole[0]), text_of(whole[0]))


@FORMATS
def test_tag_within_a_tag_runs_no_call_twice(name: str) -> None:
    written = tool_format(name).write_calls([OSLO], TOOLS)
    for end in range(1, len(written)):
        pieces, _ = read(name, written[:end] + written, 4)
        assert sum(isinstance(piece, ParsedCall) for piece in pieces) <= 2
        assert read(name, written[:end] + written, 1)[0] == pieces


@FORMATS
def test_result_that_the_model_invents_is_cut_off_after_text_too(name: str) -> None:
    case = next(case for case in accepted(name) if case.cut_at is not None)
    call, invented = case.output[: case.output.index(INVENTED[name])], case.output[case.output.index(INVENTED[name]) :]
    for size in (1, 7, MEGABYTE):
        pieces, cut_at = read(name, f"{call}I wait.\n{invented}\nSo it is sunny.", size)
        assert (cut_at, text_of(pieces).strip()) == (INVENTED[name], "I wait.")


@FORMATS
def test_tool_of_an_odd_name_is_called_or_known_to_be_impossible(name: str) -> None:
    chosen = tool_format(name)
    names = ["get-weather", "a.b", "a:1", "größe", "tool_call", "function", "none", "Action", "123", "x|y", *ODD_NAMES]
    for called in names:
        tool = ToolSpec(called)
        pieces, _ = read_with(tool, name, chosen.write_calls([ToolCall.of("a", called, {"x": 1})], [tool]))
        assert chosen.can_call(called) == (calls_of(pieces) == [(called, {"x": 1})]), called


def read_with(tool: ToolSpec, name: str, text: str) -> tuple[list[Piece], str | None]:
    parser = tool_format(name).parser([tool])
    return [*parser.feed(text), *parser.finish()], parser.cut_at
