"""Questions that need a tool, and questions that need none, with three tools of the stronger embedded model."""

from __future__ import annotations

import pytest

from abstractcore import LLM, ToolPolicy, tool

pytestmark = pytest.mark.stronger_model


@tool(read_only=True)
def weather(city: str) -> str:
    """The weather of a city."""
    return {"Oslo": "rain, 4 degrees"}.get(city, "sunny, 19 degrees")


@tool(read_only=True)
def population(city: str) -> int:
    """The number of people in a city."""
    return {"Rome": 2_873_000}.get(city, 709_000)


@tool(read_only=True)
def stock(item: str) -> str:
    """How much of an item the shop has in stock."""
    return f"12 kg of {item}"


TOOLS = [weather, population, stock]
NEED_NONE = [
    "Say hello.",
    "What is 2 + 2?",
    "Write a Python function that adds two numbers.",
    "Thank you!",
    "How are you?",
    "Write a haiku about the sea.",
    "What is the opposite of hot?",
    "Explain in one sentence what a list is in Python.",
]
NEED_ONE = [
    ("What is the weather in Oslo?", "weather", {"city": "Oslo"}),
    ("What's the temperature in Tokyo?", "weather", {"city": "Tokyo"}),
    ("How is the weather in Paris?", "weather", {"city": "Paris"}),
    ("How many people live in Oslo?", "population", {"city": "Oslo"}),
    ("What is the population of Berlin?", "population", {"city": "Berlin"}),
    ("Is there any coffee in stock?", "stock", {"item": "coffee"}),
]
NEED_TWO = [
    ("What is the weather in Oslo and in Lima?", [("weather", "Oslo"), ("weather", "Lima")]),
    ("Compare the populations of Rome and Madrid.", [("population", "Rome"), ("population", "Madrid")]),
]


def test_question_that_needs_no_tool_gets_none(stronger_llm: LLM):
    for question in NEED_NONE:
        response = stronger_llm.generate(question, tools=TOOLS, max_output_tokens=20)
        assert response.tool_calls == (), question
        assert response.content.strip(), question


def test_question_that_needs_a_tool_gets_its_call(stronger_llm: LLM):
    for question, name, arguments in NEED_ONE:
        response = stronger_llm.generate(question, tools=TOOLS, max_output_tokens=40)
        assert [(call.name, call.arguments) for call in response.tool_calls] == [(name, arguments)], question


@pytest.mark.parametrize(("question", "calls"), NEED_TWO)
def test_question_that_needs_two_calls_gets_both_and_an_answer(stronger_llm: LLM, question: str, calls: object):
    policy = ToolPolicy(max_rounds=4)
    response = stronger_llm.generate(question, tools=TOOLS, run_tools=policy, max_output_tokens=60)
    steps = [(step.call.name, (step.call.arguments or {}).get("city")) for step in response.tool_steps]
    assert steps == calls
    assert response.loop is not None
    assert response.loop.status == "answered"
    assert response.content.strip()
