"""One behaviour with native tools and with every prompted format: the same results, in all four ways."""

from collections.abc import Sequence
from typing import Any

import pytest

from abstractcore import LLM, ToolCall, ToolPolicy, ToolRetry, create_llm, to_json, tool
from abstractcore.testing import ScriptedReply
from abstractcore.tools.prompted import TOOL_FORMATS, tool_format
from tests.core.tools.loops import Way

NATIVE = "native"
STRATEGIES = [NATIVE, *TOOL_FORMATS]
Given = tuple[str, dict[str, Any]]


@tool
def forecast(city: str, days: int = 1) -> str:
    """Weather of the next days."""
    return f"{city}: rain for {days} days"


@tool
def population(city: str) -> int:
    """Inhabitants of a city."""
    return {"Oslo": 717_710, "Lima": 10_092_000}[city]


@tool
def moody(city: str) -> str:
    """Wants another city."""
    raise ToolRetry(f"not {city}, please")


TOOLS = [forecast, population, moody]


def calling(strategy: str, calls: Sequence[Given], before: str = "") -> ScriptedReply:
    """A reply that calls tools: native calls, or the text that a model writes in a format."""
    if strategy == NATIVE:
        reply = ScriptedReply.text(before) if before else ScriptedReply()
        for name, arguments in calls:
            reply = reply + ScriptedReply.tool_call(name, arguments)
        return reply
    made = [ToolCall.of(f"call_0_{index}", name, arguments) for index, (name, arguments) in enumerate(calls)]
    return ScriptedReply.text(before + tool_format(strategy).write_calls(made))


def model(strategy: str, *answers: Any) -> LLM:
    facts = {} if strategy == NATIVE else {"tools": "never", "tool_prompt": strategy}
    return create_llm("scripted", replies=list(answers), facts=facts)


@pytest.fixture(params=STRATEGIES)
def strategy(request: Any) -> str:
    return request.param


@pytest.mark.process
def test_two_rounds_give_the_same_steps(way: Way, strategy: str):
    first = calling(strategy, [("forecast", {"city": "Oslo", "days": 2})])
    second = calling(strategy, [("population", {"city": "Lima"})])
    response = way.generate(model(strategy, first, second, "Rain."), tools=TOOLS, run_tools=True)
    assert response.content == "Rain."
    assert [(step.call.name, dict(step.call.arguments or {}), step.round) for step in response.tool_steps] == [
        ("forecast", {"city": "Oslo", "days": 2}, 0),
        ("population", {"city": "Lima"}, 1),
    ]
    assert [step.result.as_text for step in response.tool_steps] == ["Oslo: rain for 2 days", "10092000"]
    assert [reply.finish_reason for reply in response.steps] == ["tool_calls", "tool_calls", "stop"]
    assert [message.role for message in response.messages] == ["assistant", "tool"] * 2 + ["assistant"]
    assert len({step.call.id for step in response.tool_steps}) == 2


def test_a_question_that_needs_no_tool_gets_an_answer(way: Way, strategy: str):
    response = way.generate(model(strategy, "Two and two is four."), tools=TOOLS, run_tools=True)
    assert (response.content, response.tool_steps) == ("Two and two is four.", ())
    assert response.loop.status == "answered"


def test_the_next_round_has_the_result(way: Way, strategy: str):
    llm = model(strategy, calling(strategy, [("population", {"city": "Oslo"})]), "Many.")
    way.generate(llm, tools=TOOLS, run_tools=True)
    assert "717710" in to_json(llm.calls[1])
    assert bool(llm.calls[1].tools) == (strategy == NATIVE)


@pytest.mark.parametrize("strategy", [each for each in STRATEGIES if each != "react"])  # it has one action a turn
def test_several_calls_of_one_reply_have_their_results_in_order(way: Way, strategy: str):
    calls = calling(strategy, [("population", {"city": "Oslo"}), ("population", {"city": "Lima"})])
    response = way.generate(model(strategy, calls, "Lima."), tools=TOOLS, run_tools=True)
    assert [step.result.as_text for step in response.tool_steps] == ["717710", "10092000"]
    assert {step.round for step in response.tool_steps} == {0}


@pytest.mark.parametrize("strategy", [each for each in TOOL_FORMATS if each != "react"])
def test_one_call_at_a_time_keeps_the_first_with_a_warning(way: Way, strategy: str):
    calls = calling(strategy, [("population", {"city": city}) for city in ("Oslo", "Lima", "Rome")])
    llm = model(strategy, calls, "Oslo.")
    response = way.generate(llm, tools=TOOLS, run_tools=True, parallel_tool_calls=False)
    assert [step.call.arguments for step in response.tool_steps] == [{"city": "Oslo"}]
    left_out = [warning for warning in response.warnings if warning.code == "tool_call_left_out"]
    assert [warning.path for warning in left_out] == ["parallel_tool_calls"] * len(left_out)
    assert "population" in left_out[0].message
    assert "Lima" not in to_json(llm.calls[1])


def test_a_tool_that_wants_another_call_is_asked_again(way: Way, strategy: str):
    first = calling(strategy, [("moody", {"city": "Oslo"})])
    second = calling(strategy, [("population", {"city": "Lima"})])
    llm = model(strategy, first, second, "Lima.")
    response = way.generate(llm, tools=TOOLS, run_tools=True)
    assert [step.outcome for step in response.tool_steps] == ["retry", "done"]
    assert "not Oslo, please" in to_json(llm.calls[1])


def test_invalid_arguments_are_a_result(way: Way, strategy: str):
    wrong = calling(strategy, [("forecast", {"city": "Oslo", "days": "many"})])
    response = way.generate(model(strategy, wrong, "Sorry."), tools=TOOLS, run_tools=True)
    assert [step.outcome for step in response.tool_steps] == ["invalid_arguments"]
    assert "days" in response.tool_steps[0].result.as_text


def test_a_limit_ends_the_loop(way: Way, strategy: str):
    llm = create_llm(
        "scripted",
        replies=lambda call: calling(strategy, [("population", {"city": "Oslo"})]),
        facts={} if strategy == NATIVE else {"tools": "never", "tool_prompt": strategy},
    )
    response = way.generate(llm, tools=TOOLS, run_tools=ToolPolicy(max_rounds=2))
    assert (response.loop.status, len(response.steps)) == ("max_rounds", 2)


def test_without_run_tools_the_calls_are_given_back(way: Way, strategy: str):
    llm = model(strategy, calling(strategy, [("forecast", {"city": "Oslo"})]))
    response = way.generate(llm, tools=TOOLS)
    (call,) = response.tool_calls
    assert (call.name, dict(call.arguments or {})) == ("forecast", {"city": "Oslo"})
    assert response.finish_reason == "tool_calls"


@pytest.mark.process
def test_text_before_a_call_is_kept(way: Way, strategy: str):
    llm = model(strategy, calling(strategy, [("population", {"city": "Oslo"})], "Let me see.\n"), "Many.")
    response = way.generate(llm, tools=TOOLS, run_tools=True)
    assert "Let me see." in response.steps[0].text + response.steps[0].reasoning
    assert len(response.tool_steps) == 1


@tool(read_only=True)
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


@tool(destructive=True)
def erase(city: str) -> str:
    """Erases a city."""
    raise AssertionError("an example of a call was run")


PROMPTED = [each for each in TOOL_FORMATS if each != "llama3"]  # its calls are JSON without a marker


def block(name: str, city: str) -> str:
    return f'```json\n{{"name": "{name}", "arguments": {{"city": "{city}"}}}}\n```'


@pytest.mark.parametrize("strategy", PROMPTED)
def test_calls_of_a_read_only_tool_in_code_blocks_among_text_are_run(way: Way, strategy: str):
    text = f"For Oslo:\n\n{block('weather', 'Oslo')}\n\nFor Lima:\n\n{block('weather', 'Lima')}\n\nIt is sunny."
    response = way.generate(model(strategy, ScriptedReply.text(text), "Rain."), tools=[weather, erase], run_tools=True)
    assert [step.result.as_text for step in response.tool_steps] == ["rain in Oslo", "rain in Lima"]
    assert response.content == "Rain."
    codes = [warning.code for warning in response.warnings]
    assert (codes.count("tool_call_repaired"), codes.count("invented_result_cut")) == (2, 1)


@pytest.mark.parametrize("strategy", PROMPTED)
def test_example_of_a_call_among_text_is_not_run(way: Way, strategy: str):
    text = f"To erase a city, call this:\n\n{block('erase', 'Oslo')}\n\nShall I?"
    response = way.generate(model(strategy, ScriptedReply.text(text)), tools=[weather, erase], run_tools=True)
    assert (response.content, response.tool_steps) == (text, ())
    assert "tool_call_as_text" in [warning.code for warning in response.warnings]
    off = way.generate(
        model(strategy, ScriptedReply.text(text.replace("erase", "weather"))),
        tools=[weather],
        run_tools=True,
        rescue=False,
    )
    assert off.tool_steps == ()


@pytest.mark.parametrize("strategy", TOOL_FORMATS)
def test_call_in_reasoning_is_not_run(way: Way, strategy: str):
    written = tool_format(strategy).write_calls([ToolCall.of("call_0_0", "erase", {"city": "Oslo"})])
    text = f"<think>\n{written}\n</think>\n\nNo."
    response = way.generate(model(strategy, ScriptedReply.text(text)), tools=[erase], run_tools=True)
    assert (response.content, response.tool_steps) == (text, ())
