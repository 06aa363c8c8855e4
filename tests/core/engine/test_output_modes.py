"""How a typed answer is requested: by the profile and `output_mode`, alone and beside tools."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ToolChoice, UnsupportedOptionError, accumulate, create_llm
from abstractcore.engine.lowering import lower
from abstractcore.engine.reply_reading import ReplyReader, read_reply
from abstractcore.outputs.output_types import answer_text, output_call
from abstractcore.ports import ModelProfile, Thinking
from abstractcore.schema import (
    HostedTool,
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    ReasoningPart,
    ReplyReading,
    TextPart,
    ToolCall,
    ToolSpec,
    deltas_of,
)

SCHEMA = OutputSchema("City", {"type": "object", "properties": {"name": {"type": "string"}}})
TOOL = ToolSpec("forecast", "Weather.")
THINKS = Thinking(levels=("low", "high"), on_by_default=True)


def lowered(profile: ModelProfile, transpiler: Any = None, **fields: Any) -> Any:
    call = ModelCall("m", (Message.system("s"), Message.user("hi")), output=SCHEMA, **fields)
    return lower(call, profile, (), transpiler=transpiler)


@dataclass
class Loses:
    """A wire format whose answers, or also tools, cannot express the schema."""

    in_tools: bool = False

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        return "$ has arbitrary keys" if self.in_tools or not as_tool else None


@dataclass
class Row:
    """Facts of a model, the fields of a call, and what the request has: schema, tool or instruction."""

    facts: dict[str, Any]
    fields: dict[str, Any]
    has: str


ROWS = [
    Row({}, {}, "schema"),
    Row({"structured_output": "schema"}, {}, "schema"),
    Row({"structured_output": "json"}, {}, "schema"),
    Row({"structured_output": "none"}, {}, "tool"),
    Row({"structured_output": "none", "tools": "never"}, {}, "instruction"),
    Row({"structured_output": "none", "tools": "without_thinking", "thinking": THINKS}, {}, "instruction"),
    Row({"structured_output": "none", "tools": "without_thinking"}, {}, "tool"),
    Row({}, {"output_mode": "tool"}, "tool"),
    Row({}, {"output_mode": "prompted"}, "instruction"),
    Row({}, {"output_mode": "native"}, "schema"),
    Row({"grammar": "gbnf"}, {"output_mode": "grammar"}, "schema"),
    Row({}, {"tools": (TOOL,)}, "schema"),
    Row({"output_with_tools": False}, {"tools": (TOOL,)}, "tool"),
    Row({"output_with_tools": False}, {"hosted_tools": (HostedTool("web_search"),)}, "instruction"),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_answer_is_requested_as_the_model_supports_it(row: Row):
    found = lowered(ModelProfile(**row.facts), **row.fields)
    has_tool = any(tool.name == "final_answer" for tool in found.call.tools)
    assert found.call.output_mode is None
    assert (found.call.output is not None) == (row.has == "schema")
    assert has_tool == (row.has == "tool")
    instructed = any("Answer with JSON alone" in message.text for message in found.call.messages)
    assert instructed == (row.has == "instruction")
    assert (found.reading is not None and found.reading.output_tool == "final_answer") == has_tool


LOST_ROWS = [
    (Row({}, {}, "tool"), False),
    (Row({"structured_output": "schema"}, {"tools": (TOOL,)}, "tool"), False),
    (Row({"thinking": THINKS}, {}, "instruction"), False),
    (Row({"forced_tools": "never"}, {}, "instruction"), False),
    (Row({"tools": "never"}, {}, "instruction"), False),
    (Row({"structured_output": "none"}, {}, "tool"), False),
    (Row({}, {"output_mode": "tool"}, "tool"), False),
    (Row({}, {"output_mode": "prompted"}, "instruction"), True),
    (Row({}, {}, "instruction"), True),
    (Row({"structured_output": "none"}, {}, "instruction"), True),
    (Row({"output_with_tools": False}, {"tools": (TOOL,)}, "instruction"), True),
]


@pytest.mark.parametrize(("row", "in_tools"), LOST_ROWS, ids=str)
def test_answer_whose_schema_cannot_be_expressed_is_requested_in_another_way(row: Row, in_tools: bool):
    found = lowered(ModelProfile(**row.facts), Loses(in_tools), **row.fields)
    has_tool = any(tool.name == "final_answer" for tool in found.call.tools)
    instructed = any("Answer with JSON alone" in message.text for message in found.call.messages)
    assert (found.call.output, has_tool, instructed) == (None, row.has == "tool", row.has == "instruction")
    codes = [warning.code for warning in found.warnings]
    asked = "output_mode" in row.fields
    assert codes == ([] if asked else ["schema_as_tool" if has_tool else "schema_as_instruction"])
    if not asked and row.facts.get("structured_output") != "none":
        assert "structured output cannot express the schema ($ has arbitrary keys)" in found.warnings[0].message


@pytest.mark.parametrize(
    ("mode", "in_tools"), [("native", False), ("grammar", False), ("native", True), ("tool", True)]
)
def test_mode_that_cannot_express_the_schema_is_refused_by_its_name(mode: str, in_tools: bool):
    with pytest.raises(UnsupportedOptionError, match=rf"output_mode='{mode}'.*\$ has arbitrary keys") as raised:
        lowered(ModelProfile(grammar="gbnf"), Loses(in_tools), output_mode=mode)
    others = "'prompted'" if in_tools else "'tool' or 'prompted'"
    assert raised.value.hint == f"Leave output_mode out, or use {others}."


@pytest.mark.parametrize("mode", ["native", "grammar"])
def test_mode_that_the_provider_has_not_is_refused_with_those_to_use(mode: str):
    with pytest.raises(UnsupportedOptionError, match="use 'tool' or 'prompted'"):
        lowered(ModelProfile(structured_output="none"), output_mode=mode)


def test_grammar_is_refused_by_a_provider_without_one():
    with pytest.raises(UnsupportedOptionError, match="use 'native', 'tool' or 'prompted'") as raised:
        lowered(ModelProfile(structured_output="schema"), output_mode="grammar")
    assert "m is not constrained by grammars" in str(raised.value)


def test_output_tool_is_forced_alone_and_required_beside_others():
    profile = ModelProfile(structured_output="none")
    assert lowered(profile).call.tool_choice == ToolChoice("tool", "final_answer")
    assert lowered(profile, tools=(TOOL,)).call.tool_choice == ToolChoice("required")


@pytest.mark.parametrize(
    "facts",
    [{"thinking": THINKS}, {"forced_tools": "never"}, {"refused": frozenset({"tool_choice"})}],
    ids=["thinks", "never", "refused"],
)
def test_output_tool_is_never_forced_while_the_model_thinks_or_refuses_that(facts: dict[str, Any]):
    found = lowered(ModelProfile(structured_output="none", **facts))
    assert found.call.tool_choice is None
    assert "Give the answer by calling final_answer." in [message.text for message in found.call.messages]
    assert [warning.code for warning in found.warnings] == ["schema_as_tool"]


def test_thinking_that_is_off_allows_to_force_it():
    thinking = Thinking(levels=("low", "high"), on_by_default=True, can_be_off=True)
    found = lowered(ModelProfile(structured_output="none", thinking=thinking), thinking="off")
    assert found.call.tool_choice == ToolChoice("tool", "final_answer")


def test_forced_tool_of_the_call_comes_before_the_answer():
    choice = ToolChoice("tool", "forecast")
    found = lowered(ModelProfile(structured_output="none"), tools=(TOOL,), tool_choice=choice)
    assert (found.call.tools, found.call.tool_choice, found.call.output) == ((TOOL,), choice, None)


def test_choice_of_no_tools_leaves_the_output_tool_alone():
    found = lowered(ModelProfile(structured_output="none"), tools=(TOOL,), tool_choice=ToolChoice("none"))
    assert [tool.name for tool in found.call.tools] == ["final_answer"]


def test_name_of_a_users_tool_is_not_taken():
    found = lowered(ModelProfile(), tools=(ToolSpec("final_answer"),), output_mode="tool")
    assert [tool.name for tool in found.call.tools] == ["final_answer", "final_answer_2"]
    assert found.reading.output_tool == "final_answer_2"


READING = ReplyReading(output_tool="final_answer")
CALL = ModelCall("m", (Message.user("hi"),), provider="p")
ANSWER = ToolCall("c1", "final_answer", '{"name":"Bern"}')
REPLIES = [
    ModelReply((ANSWER,), "tool_calls"),
    ModelReply((TextPart("Here: {x} "), ANSWER), "tool_calls"),
    ModelReply((ReasoningPart("hm"), ANSWER), "tool_calls"),
]


@pytest.mark.parametrize("reply", REPLIES, ids=["alone", "after text", "after reasoning"])
def test_arguments_of_the_output_tool_are_the_answer(reply: ModelReply):
    read = read_reply(reply, ReplyReader(READING, CALL))
    assert (answer_text(read), read.finish_reason, read.tool_calls) == ('{"name":"Bern"}', "stop", ())
    assert output_call(read) == ANSWER
    reader = ReplyReader(READING, CALL)
    streamed = [delta for each in deltas_of(reply) for delta in reader.feed([each])]
    assert accumulate([*streamed, *reader.finish()]) == read


def test_answer_beside_another_call_is_commentary():
    other = ToolCall("c0", "forecast", "{}")
    read = read_reply(ModelReply((other, ANSWER), "tool_calls"), ReplyReader(READING, CALL))
    assert (read.finish_reason, read.tool_calls) == ("tool_calls", (other,))


def test_reply_that_answers_as_text_is_left_as_it_is():
    reply = ModelReply((TextPart("Bern"),), "stop")
    assert read_reply(reply, ReplyReader(READING, CALL)) == reply


def test_truncated_arguments_are_a_truncated_answer():
    cut = ModelReply((ToolCall("c1", "final_answer", '{"name":"Be'),), "length")
    read = read_reply(cut, ReplyReader(READING, CALL))
    assert (read.text, read.finish_reason) == ('{"name":"Be', "length")


@pytest.mark.parametrize("facts", [{"structured_output": "none", "tools": "never"}, {"tools": "never"}], ids=str)
@pytest.mark.parametrize("tools", [(), (ToolSpec("look"),)], ids=["no tools", "tools"])
def test_a_file_can_be_sent_beside_a_schema_that_is_an_instruction(facts: dict[str, Any], tools: Any, tmp_path: Path):
    table = tmp_path / "prices.csv"
    table.write_text("item,price\ntea,3\n", encoding="utf-8")
    llm = create_llm("scripted", replies=['{"price": 3}'], facts=facts)
    response = llm.generate(
        "How much?", media=[table], response_model=dict[str, int], tools=tools, output_mode="prompted"
    )
    assert response.output == {"price": 3}
    (decision,) = response.media
    assert decision.sent is not None
    assert "tea" in (decision.sent.text or "")
    assert "| tea | 3 |" in llm.calls[0].messages[-1].text
