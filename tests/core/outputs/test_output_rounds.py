"""Typed answers by an output tool, and in a call of their own after tools that exclude a schema; in all four ways."""

from typing import Any

from pydantic import BaseModel

from abstractcore import ToolPolicy, create_llm, tool
from abstractcore.testing import ScriptedReply
from tests.core.tools.loops import Way, calls


class Weather(BaseModel):
    rain: bool


@tool(read_only=True)
def forecast(city: str) -> str:
    """Weather of a city."""
    return f"rain in {city}"


def model(*replies: Any, **facts: Any) -> Any:
    return create_llm("scripted", replies=list(replies), facts=facts)


def answer(**arguments: Any) -> ScriptedReply:
    return ScriptedReply.tool_call("final_answer", arguments)


def test_answer_is_the_arguments_of_the_output_tool(way: Way):
    llm = model(answer(rain=True), structured_output="none")
    response = way.generate(llm, response_model=Weather)
    assert response.output == Weather(rain=True)
    assert (response.content, response.finish_reason, response.tool_calls) == ('{"rain": true}', "stop", ())


def test_correction_is_the_error_result_of_the_output_tool(way: Way):
    llm = model(answer(rain="often"), answer(rain=False), structured_output="none")
    response = way.generate(llm, response_model=Weather)
    assert response.output == Weather(rain=False)
    _, called, corrected = llm.calls[1].messages
    assert [call.name for call in called.tool_calls] == ["final_answer"]
    (result,) = corrected.parts
    assert (corrected.role, result.is_error, result.call_id) == ("tool", True, called.tool_calls[0].id)
    assert "- rain: Input should be a valid boolean" in result.as_text
    assert response.output_attempts[0].tool_call == called.tool_calls[0]
    # What is added to a conversation needs no such tool.
    assert [message.role for message in response.messages] == ["assistant", "user", "assistant"]


def test_model_that_answers_as_text_in_spite_of_the_tool_is_read(way: Way):
    llm = model('{"rain": true}', structured_output="none")
    assert way.generate(llm, response_model=Weather).output == Weather(rain=True)


def test_output_tool_beside_tools_that_exclude_a_schema(way: Way):
    llm = model(calls(("forecast", {"city": "Oslo"})), answer(rain=True), output_with_tools=False)
    response = way.generate(llm, response_model=Weather, tools=[forecast], run_tools=True)
    assert response.output == Weather(rain=True)
    assert [step.call.name for step in response.tool_steps] == ["forecast"]
    assert response.loop.status == "answered"


def test_tools_in_the_prompt_come_before_one_call_with_the_schema(way: Way):
    called = '<tool_call>\n{"name": "forecast", "arguments": {"city": "Oslo"}}\n</tool_call>'
    llm = model(called, "It will rain.", '{"rain": true}', tools="never", structured_output="schema")
    response = way.generate(llm, response_model=Weather, tools=[forecast], run_tools=True)
    assert response.output == Weather(rain=True)
    first, second, last = llm.calls
    assert (first.output, second.output) == (None, None)
    assert last.output is not None
    assert last.tools == ()
    assert last.messages[-1].text == "Now give this answer as JSON that matches the schema, and nothing else."
    assert [(each.text, each.problem) for each in response.output_attempts] == [("It will rain.", "")]
    assert "schema_as_instruction" not in [warning.code for warning in response.warnings]


def test_answer_of_its_own_call_is_corrected_too(way: Way):
    llm = model("Rain.", '{"rain": "often"}', '{"rain": true}', tools="never", structured_output="schema")
    response = way.generate(llm, response_model=Weather, tools=[forecast], run_tools=True)
    assert response.output == Weather(rain=True)
    assert [bool(each.problem) for each in response.output_attempts] == [False, True]


def test_limit_with_an_answer_asks_for_the_typed_one_at_once(way: Way):
    called = '<tool_call>\n{"name": "forecast", "arguments": {"city": "Oslo"}}\n</tool_call>'
    llm = model(called, '{"rain": true}', tools="never", structured_output="schema")
    policy = ToolPolicy(max_rounds=1, on_limit="answer")
    response = way.generate(llm, response_model=Weather, tools=[forecast], run_tools=policy)
    assert response.output == Weather(rain=True)
    assert len(llm.calls) == 2


def test_calls_that_are_given_back_have_no_output(way: Way):
    llm = model(calls(("forecast", {"city": "Oslo"})))
    response = way.generate(llm, response_model=Weather, tools=[forecast])
    assert response.output is None
    assert [call.name for call in response.tool_calls] == ["forecast"]


def test_prompted_answer_follows_a_sketch(way: Way):
    llm = model('Sure!\n```json\n{"rain": true}\n```')
    response = way.generate(llm, response_model=Weather, output_mode="prompted")
    assert response.output == Weather(rain=True)
    assert response.warnings == ()
