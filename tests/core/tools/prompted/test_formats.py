"""Properties of all formats: calls read as they were written, the same in pieces, in linear work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Blob, ImagePart, TextPart, ToolCall, ToolChoice, ToolResult, ToolSpec
from abstractcore.tools.prompted import TOOL_FORMATS, ParsedCall, tool_format
from tests.core.tools.prompted.messy_outputs import INVENTED, LIMA, OSLO, TIME, TOOLS, accepted, refused
from tests.core.tools.prompted.test_messy_outputs import read
from tests.properties import examples

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,30}", fullmatch=True)
TEXTS = st.text() | st.sampled_from(
    [
        "5",
        "true",
        "null",
        '"',
        "'",
        "`",
        "```",
        "\nx\n",
        "</parameter>",
        "</arg_value>",
        "</tool_call>",
        "<arg_key>",
        '<|"|>',
        '"\\u003c"',
        "</function>\n</tool_call>",
        "<|call|>",
        "\nObservation: x",
        "\\",
        "\\n",
        "{",
        "]",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
CALLS = st.lists(st.tuples(NAMES, st.dictionaries(NAMES | TEXTS, VALUES, max_size=3)), min_size=1, max_size=3)
WHAT_MODELS_WRITE = {
    name: st.lists(
        st.sampled_from([*(case.output for case in accepted(name)), *refused(name)])
        | st.sampled_from(["\n", " ", "```", "```json\n", "{", "}", "[", "(", '"', "'", "<", "weather", "text. ", "; "])
        | st.sampled_from([INVENTED[name], tool_format(name).write_calls([OSLO])[:20], "Action: ", "<|message|>"]),
        max_size=6,
    ).map("".join)
    for name in TOOL_FORMATS
}


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_written_calls_are_read_as_they_were(name: str) -> None:
    chosen = tool_format(name)

    @examples(60)
    @given(CALLS)
    def check(given_calls: list[tuple[str, dict[str, Any]]]) -> None:
        calls = [ToolCall.of(f"call_0_{i}", called, values) for i, (called, values) in enumerate(given_calls)]
        parser = chosen.parser([ToolSpec(called) for called in {called for called, _ in given_calls}])
        found = parser.feed(chosen.write_calls(calls)) + parser.finish()
        assert all(isinstance(piece, ParsedCall) and piece.repair is None for piece in found), found
        read_calls = [(p.name, json.loads(p.arguments_text)) for p in found if isinstance(p, ParsedCall)]
        assert read_calls == [(call.name, call.arguments) for call in calls]

    check()


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_any_split_of_a_text_has_the_same_pieces(name: str) -> None:
    @examples(60)
    @given(WHAT_MODELS_WRITE[name], st.integers(2, 9))
    def check(text: str, size: int) -> None:
        whole = read(name, text, len(text) + 1)
        assert read(name, text, 1) == whole
        assert read(name, text, size) == whole

    check()


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_text_without_a_marker_is_returned_at_once_and_unchanged(name: str) -> None:
    @examples(60)
    @given(st.text(st.characters(exclude_characters="<[{`:", exclude_categories=["Cs"])))
    def check(text: str) -> None:
        parser = tool_format(name).parser(TOOLS)
        found = parser.feed(text)
        assert "".join(map(str, [*found, *parser.finish()])) == text
        if name not in ("react", "harmony"):  # whose markers begin with letters
            assert "".join(map(str, found)).rstrip() == text.rstrip()

    check()


HALF_OPEN = {
    "hermes": "<tool_cal",
    "qwen_coder": "<function=",
    "llama3": '{"na',
    "pythonic": "[weath",
    "mistral": "[TOOL_CALL",
    "gemma3": "```tool",
    "gemma4": "<|tool_cal",
    "kimi_k2": "<|tool_call_beg",
    "glm": "<tool_call>wea ",
    "deepseek": "<｜tool▁call▁be",  # noqa: RUF001
    "minimax": "<invoke name",
    "harmony": "<|chan",
    "react": "\nAction",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_half_open_tags_are_visited_in_linear_work(name: str, size: int) -> None:
    def visits(length: int) -> int:
        parser: Any = tool_format(name).parser(TOOLS)
        text = (HALF_OPEN[name] * length)[:length]
        for index in range(0, length, size):
            parser.feed(text[index : index + size])
        parser.finish()
        return parser.visits

    assert visits(32_000) <= 1.1 * 8 * visits(4_000)
    assert visits(32_000) <= 50 * 32_000


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_call_of_a_truncated_reply_stays_text(name: str) -> None:
    written = tool_format(name).write_calls([OSLO], TOOLS)
    cut = written[: written.index("Oslo") + 2]
    assert read(name, cut, 5, truncated=True) == ([cut], None)


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_description_names_tools_and_choices(name: str) -> None:
    chosen = tool_format(name)
    described = chosen.describe(TOOLS)
    assert all(tool.name in described for tool in TOOLS)
    assert "The weather of a city." in described
    assert "answer them in plain text" in described
    assert "must call weather" in chosen.describe(TOOLS, ToolChoice("tool", "weather"))
    assert "must call at least one" in chosen.describe(TOOLS, ToolChoice("required"))
    assert "one call at a time" in chosen.describe(TOOLS, None, False)
    assert "several calls" in chosen.describe(TOOLS, None, True)
    assert "several calls" in chosen.describe(TOOLS, None, True, examples=True)
    assert f"{TOOLS[0].name}, {TOOLS[1].name}" in chosen.describe(TOOLS, examples=True)
    none = chosen.describe(TOOLS, ToolChoice("none"))
    assert "Do not call" in none
    assert chosen.how not in none


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_results_name_errors_and_files(name: str) -> None:
    image = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png"))
    results = [
        ("weather", ToolResult("a", (TextPart("sunny"),))),
        ("now", ToolResult("b", (TextPart("no clock"),), is_error=True)),
        ("search", ToolResult("c", (TextPart("a picture: "), image))),
    ]
    written = tool_format(name).write_results(results)
    assert written.index("sunny") < written.index("Error: no clock") < written.index("[image 1]")


def test_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="unknown format of tools 'nosuch'") as raised:
        tool_format("nosuch")
    assert "native, hermes, qwen_coder" in str(raised.value)


def test_several_calls_are_one_turn() -> None:
    for name in TOOL_FORMATS:
        written = tool_format(name).write_calls([OSLO, LIMA, TIME], TOOLS)
        pieces, _ = read(name, written, 3)
        assert [piece.name for piece in pieces if isinstance(piece, ParsedCall)] == ["weather", "weather", "now"], name
