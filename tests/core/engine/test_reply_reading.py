"""Calls in the text of replies: a stream accumulates to what the whole reply is read as, at every split."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.engine.reply_reading import ReplyReader, read_reply
from abstractcore.schema import (
    Blob,
    Citation,
    Delta,
    FinishReason,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    ReasoningDelta,
    ReasoningPart,
    ReplyEnd,
    ReplyReading,
    ReplyStart,
    TextDelta,
    TextPart,
    ToolCall,
    ToolSpec,
    UsageDelta,
    accumulate,
    deltas_of,
)
from abstractcore.tools.prompted import TOOL_FORMATS, tool_format
from tests.core.tools.prompted.messy_outputs import LIMA, OSLO, TOOLS, accepted, refused
from tests.properties import examples

CALL = ModelCall("m", (Message.user("hi"),), "p")
HERMES = ReplyReading("hermes", TOOLS, True)
RESCUE = ReplyReading(None, TOOLS, True)
WRITTEN = tool_format("hermes").write_calls([OSLO], TOOLS)


def reading(text: str, given: ReplyReading = HERMES, reason: FinishReason = "stop") -> ModelReply:
    """The reply of one text, read."""
    return read_reply(ModelReply((TextPart(text),), reason, model="m"), ReplyReader(given, CALL))


def split(deltas: list[Delta], size: int) -> list[Delta]:
    """The same deltas with their texts in pieces."""
    found: list[Delta] = []
    for delta in deltas:
        if isinstance(delta, TextDelta | ReasoningDelta):
            found += [replace(delta, text=delta.text[i : i + size]) for i in range(0, len(delta.text), size)]
        else:
            found.append(delta)
    return found


def in_batches(deltas: list[Delta], sizes: list[int], given: ReplyReading) -> tuple[ModelReply, list[Delta], list[str]]:
    """What a stream of `deltas` in batches of `sizes` is read as, with its deltas and the codes of its warnings."""
    reader = ReplyReader(given, CALL)
    out: list[Delta] = []
    index = turn = 0
    while index < len(deltas):
        size = sizes[turn % len(sizes)]
        out += reader.feed(deltas[index : index + size])
        index, turn = index + size, turn + 1
    out += reader.finish()
    return accumulate(out), out, [warning.code for warning in reader.warnings]


READ_ONLY = tuple(replace(tool, read_only=True) for tool in TOOLS)
BLOCK = '```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```'
WRITTEN_BY_MODELS = [
    *(case.output for name in TOOL_FORMATS for case in accepted(name)),
    *(text for name in TOOL_FORMATS for text in refused(name)),
    *("text ", "`", "{", "[", "\n", "<think>", "</think>", "```\n", BLOCK, f"I call\n{BLOCK}\n", "<tool_response>"),
]
PARTS = st.lists(
    st.lists(st.sampled_from(WRITTEN_BY_MODELS), min_size=1, max_size=3).map("".join).filter(bool).map(TextPart)
    | st.just(ReasoningPart("I think <tool_call>", origin="p/m"))
    | st.just(ToolCall("native", "now", "{}"))
    | st.just(ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png"))),
    max_size=4,
)


@examples(400)
@given(
    PARTS,
    st.integers(1, 12),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.sampled_from(
        [
            RESCUE,
            replace(RESCUE, single=True),
            *(ReplyReading(name, READ_ONLY, rescue) for name in TOOL_FORMATS for rescue in (True, False)),
            *(ReplyReading(name, READ_ONLY, True, single=True) for name in TOOL_FORMATS),
        ]
    ),
    st.sampled_from(["stop", "length", "tool_calls", "refusal"]),
)
def test_stream_accumulates_to_the_whole_reply_as_read(
    parts: list[Any], size: int, sizes: list[int], given: Any, reason: Any
):
    parts = [part for i, part in enumerate(parts) if not (isinstance(part, ToolCall) and part in parts[:i])]
    reply = ModelReply(tuple(parts), reason, model="m")
    whole = read_reply(reply, ReplyReader(given, CALL))
    found, deltas, codes = in_batches(split(deltas_of(reply), size), sizes, given)
    assert found == replace(whole, warnings=())
    assert codes == [warning.code for warning in whole.warnings]
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))
    blocks = [delta.block for delta in deltas if not isinstance(delta, ReplyStart | UsageDelta | ReplyEnd)]
    assert blocks == sorted(blocks)
    assert set(blocks) == set(range(len(set(blocks))))


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_calls_of_every_format_are_calls_of_the_reply(name: str):
    text = tool_format(name).write_calls([OSLO, LIMA], TOOLS)
    found = reading(text, ReplyReading(name, TOOLS, True))
    assert found.tool_calls == (OSLO, LIMA)
    assert found.parts == found.tool_calls
    assert found.finish_reason == "tool_calls"
    assert found.warnings == ()


def test_text_without_calls_is_unchanged():
    citations = (Citation("a", start=0, end=3),)
    reply = ModelReply((ReasoningPart("hm"), TextPart("It is <b>sunny</b>.", citations)), "stop", model="m", id="1")
    assert read_reply(reply, ReplyReader(HERMES, CALL)) == reply


def test_text_streams_before_the_call_is_complete():
    reader = ReplyReader(HERMES, CALL)
    deltas = deltas_of(ModelReply((TextPart("Look: <tool_call>{"),)))
    out = reader.feed(deltas[:3])
    assert [delta.text for delta in out if isinstance(delta, TextDelta)] == ["Look:"]


def test_ids_count_turns_and_avoid_those_of_the_conversation():
    earlier = ToolCall("call_1_0", "now", "{}")
    call = ModelCall("m", (Message.user("a"), Message.assistant(earlier), Message.tool(earlier.result("x"))))
    reply = ModelReply((TextPart(WRITTEN * 2),))
    found = read_reply(reply, ReplyReader(HERMES, call))
    assert [each.id for each in found.tool_calls] == ["call_1_0_1", "call_1_1"]


@pytest.mark.parametrize(
    ("reason", "expected"), [("stop", "tool_calls"), ("unknown", "tool_calls"), ("length", "length")]
)
def test_finish_reason_is_that_of_calls(reason: Any, expected: str):
    assert reading(WRITTEN, reason=reason).finish_reason == expected
    assert reading("no call", reason=reason).finish_reason == reason


def test_call_that_a_limit_cut_stays_text():
    text = '<tool_call>{"name": "weather", "arguments": {"city": "Os'
    assert reading(text, reason="length").text == text
    assert reading('{"name": "weather", "arguments": {"city": "Os', RESCUE, "length").tool_calls == ()


def test_invented_result_up_to_the_limit_does_not_hide_the_call():
    found = reading(f"{WRITTEN}\n<tool_response>sunny, and", reason="length")
    assert found.tool_calls == (OSLO,)
    assert found.finish_reason == "tool_calls"
    assert [(w.code, w.path) for w in found.warnings] == [("invented_result_cut", "text")]


def test_repair_is_a_warning():
    found = reading("<tool_call>{'name': 'now'}</tool_call>")
    assert [(w.code, w.path) for w in found.warnings] == [("tool_call_repaired", "tool_calls[0]")]
    assert "single quotes" in found.warnings[0].message


@pytest.mark.parametrize("given", [ReplyReading("hermes", TOOLS, single=True), replace(RESCUE, single=True)])
def test_calls_after_the_first_of_a_single_one_are_left_out_with_a_warning(given: ReplyReading):
    found = reading(f"{WRITTEN}\n{WRITTEN}", given)
    assert found.parts == (OSLO,)
    assert ("tool_call_left_out", "parallel_tool_calls") in [(w.code, w.path) for w in found.warnings]


def test_thought_and_analysis_are_reasoning():
    react = reading('Thought: hm\nAction: weather\nAction Input: {"city": "Oslo"}', ReplyReading("react", TOOLS))
    assert react.parts == (ReasoningPart("hm", origin="p/m"), OSLO)
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>"
    harmony = reading(text, ReplyReading("harmony", TOOLS))
    assert harmony.parts == (ReasoningPart("hm", origin="p/m"), TextPart("Hi."))


RESCUED = [
    '{"name": "weather", "arguments": {"city": "Oslo"}}',
    '```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```',
    '```\n{"name": "weather", "parameters": {"city": "Oslo"}}\n```\n',
    '[{"name": "weather", "arguments": {"city": "Oslo"}}]',
    '{"type": "function", "function": {"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}}',
    *(
        tool_format(name).write_calls([OSLO], TOOLS)
        for name in ("hermes", "qwen_coder", "mistral", "glm", "gemma4", "kimi_k2")
    ),
]
NOT_RESCUED = [
    "The weather is sunny.",
    '{"city": "Oslo"}',
    '{"name": "unknown", "arguments": {}}',
    'I would call {"name": "weather", "arguments": {"city": "Oslo"}}',
    '{"name": "weather", "arguments": {"city": "Oslo"}} is the call.',
    '```json\n{"name": "weather"}\n```',
    "<tool_call>{}</tool_call>",
    '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>',
    '[1, 2, {"name": "weather"}]',
    "```python\nweather('Oslo')\n```",
]


@pytest.mark.parametrize("text", RESCUED)
def test_native_call_that_is_the_whole_text_is_rescued(text: str):
    found = reading(text, RESCUE)
    assert found.parts == (OSLO,)
    assert found.finish_reason == "tool_calls"
    assert found.warnings[-1].code == "tool_call_rescued"


@pytest.mark.parametrize("text", NOT_RESCUED)
def test_other_text_is_not_rescued(text: str):
    found = reading(text, RESCUE)
    assert (found.text, found.tool_calls, found.warnings) == (text, (), ())


def test_rescue_holds_back_only_what_begins_like_a_call():
    reader = ReplyReader(RESCUE, CALL)
    out = reader.feed(deltas_of(ModelReply((TextPart("H"),)))[:3])
    assert [delta.text for delta in out if isinstance(delta, TextDelta)] == ["H"]
    held = ReplyReader(RESCUE, CALL).feed(deltas_of(ModelReply((TextPart('{"name": '),)))[:3])
    assert not any(isinstance(delta, TextDelta) for delta in held)


def test_prompted_reply_of_plain_json_is_rescued_unless_turned_off():
    text = '```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```'
    assert reading(text).tool_calls == (OSLO,)
    assert reading(text, ReplyReading("hermes", TOOLS, False)).text == text


NASTY = [
    "{" * 5000,
    '{"a":' * 3000,
    '"' * 5000,
    "\\" * 5000,
    '{"city": ' + "9" * 6000 + "}",
    '{"city": NaN}',
    '{"city": "\\ud800"}',
    '{"\\udfff": 1}',
    "{'city': '" + "\\'" * 4000 + "'}",
    "(" * 5000,
    "{}" * 3000,
]


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_arguments_that_cannot_be_read_are_a_reply_all_the_same(name: str):
    written = tool_format(name).write_calls([ToolCall.of("a", "weather", {"city": "Q"})], TOOLS)
    given = ReplyReading(name, TOOLS, True)
    for nasty in NASTY:
        for text in (written.replace('{"city": "Q"}', nasty).replace("Q", nasty), written.replace("weather", nasty)):
            found = reading(text, given)
            assert all(call.arguments is not None or call.arguments_error for call in found.tool_calls)
            assert found.tool_calls or found.reasoning or found.text == text.removesuffix("<|call|>")


def test_tool_of_no_offer_stays_a_call_where_it_is_marked():
    found = reading(
        '<tool_call>{"name": "nosuch", "arguments": {}}</tool_call>', ReplyReading("hermes", (ToolSpec("a"),))
    )
    assert [each.name for each in found.tool_calls] == ["nosuch"]
