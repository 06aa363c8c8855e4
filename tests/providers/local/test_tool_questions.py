"""Questions that need a tool, and questions that need none, in English and French, about everyday things and code, with
three tools of the stronger embedded model. Those of which it is less sure are in docs/decisions/0050-tool-wording.md.
"""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import LLM, ToolPolicy, tool

pytestmark = [pytest.mark.process, pytest.mark.weights]


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


@tool(read_only=True)
def read_file(path: str) -> str:
    """The content of a file."""
    return "name = abc"


@tool(read_only=True)
def run_tests(folder: str) -> str:
    """Runs the tests in a folder."""
    return "12 passed"


@tool(read_only=True)
def calendar(day: str) -> str:
    """The appointments of a day."""
    return "10:00 dentist"


TOOLS = [weather, population, stock]
CODING_TOOLS = [read_file, run_tests, calendar]
NEED_NONE = [
    "What is 2 + 2?",
    "Write a Python function that adds two numbers.",
    "Who wrote Hamlet?",
    "Écris une fonction Python qui calcule la factorielle de n.",
]
NEED_NO_CODING_TOOL = [
    "What is a unit test?",
    "Explique en une phrase ce qu'est une boucle.",
]
NEED_ONE = [
    ("What is the weather in Oslo?", "weather", {"city": "Oslo"}),
    ("How many people live in Oslo?", "population", {"city": "Oslo"}),
    ("Is there any coffee in stock?", "stock", {"item": "coffee"}),
    ("Quel temps fait-il à Nice ?", "weather", {"city": "Nice"}),
]
NEED_A_CODING_TOOL = [
    ("What is in the file setup.cfg?", "read_file", {"path": "setup.cfg"}),
    ("Lance les tests du dossier core.", "run_tests", {"folder": "core"}),
]
NEED_TWO = [
    ("What is the weather in Oslo and in Lima?", [("weather", "Oslo"), ("weather", "Lima")], None),
    ("Compare the populations of Rome and Madrid.", [("population", "Rome"), ("population", "Madrid")], True),
]


@pytest.mark.parametrize(
    ("tools", "questions"), [(TOOLS, NEED_NONE), (CODING_TOOLS, NEED_NO_CODING_TOOL)], ids=["everyday", "coding"]
)
def test_question_that_needs_no_tool_gets_none(stronger_llm: LLM, tools: list[Any], questions: list[str]):
    for question in questions:
        response = stronger_llm.generate(question, tools=tools, max_output_tokens=16)
        assert response.tool_calls == (), question
        assert response.content.strip(), question
        assert '"name"' not in response.content, question  # a call that the limit cut stays text


@pytest.mark.parametrize(
    ("tools", "questions"), [(TOOLS, NEED_ONE), (CODING_TOOLS, NEED_A_CODING_TOOL)], ids=["everyday", "coding"]
)
def test_question_that_needs_a_tool_gets_its_call(stronger_llm: LLM, tools: list[Any], questions: list[Any]):
    for question, name, arguments in questions:
        response = stronger_llm.generate(question, tools=tools, max_output_tokens=40)
        assert [(call.name, call.arguments) for call in response.tool_calls] == [(name, arguments)], question


@pytest.mark.parametrize(("question", "calls", "parallel"), NEED_TWO)
def test_question_that_needs_two_calls_gets_both_and_an_answer(
    stronger_llm: LLM, question: str, calls: object, parallel: bool | None
):
    response = stronger_llm.generate(
        question,
        tools=TOOLS,
        run_tools=ToolPolicy(max_rounds=4),
        parallel_tool_calls=parallel,
        max_output_tokens=60,
    )
    steps = [(step.call.name, (step.call.arguments or {}).get("city")) for step in response.tool_steps]
    assert steps == calls
    assert response.loop is not None
    assert response.loop.status == "answered"
    assert response.content.strip()
