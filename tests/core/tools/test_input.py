"""Tools that ask the user: suspended with their questions, run again with the answers, in all four ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    Deny,
    FileJournal,
    InputRequired,
    InvalidInputError,
    Question,
    Respond,
    SchemaError,
    Suspend,
    ToolContext,
    ToolPolicy,
    from_json,
    to_json,
    tool,
)
from tests.core.tools.loops import Way, calls, scripted

DAY = Question("day", "Which day?", {"type": "object", "properties": {"day": {"type": "string"}}})


@tool
def book(city: str, context: ToolContext[None]) -> str:
    """Books a room."""
    if context.input is None:
        raise InputRequired(DAY, state={"city": city})
    day = context.input["day"]
    return "not booked" if day is None else f"{context.input.state['city']} on {day['day']}"  # type: ignore[index]


@tool
async def book_later(city: str, context: ToolContext[None]) -> str:
    """Books a room."""
    return book(city, context)


@tool
def look() -> str:
    """Looks."""
    return "seen"


@tool
def never_satisfied() -> str:
    """Asks again and again."""
    raise InputRequired(DAY)


def suspended(way: Way, name: str = "book", **policy: Any) -> Any:
    llm = scripted(calls((name, {"city": "Oslo"}), ("look", {})))
    response = way.generate(llm, tools=[book, book_later, look], run_tools=ToolPolicy(**policy))
    assert response.loop.status == "suspended"
    return from_json(to_json(response.loop))


@pytest.mark.parametrize("name", ["book", "book_later"])
@pytest.mark.parametrize(("answer", "result"), [({"day": "Friday"}, "Oslo on Friday"), (None, "not booked")])
def test_call_that_asks_is_suspended_and_runs_again_with_the_answer(way: Way, name: str, answer: Any, result: str):
    loop = suspended(way, name)
    [pending] = loop.pending
    assert (pending.reason, pending.input.questions, pending.input.state) == ("input", (DAY,), {"city": "Oslo"})
    assert [(step.call.name, step.outcome) for step in loop.steps] == [("look", "done")]
    done = way.resume(scripted("Booked."), loop, [pending.respond(answer)], tools=[book, book_later, look])
    assert (done.content, [step.result.as_text for step in done.tool_steps]) == ("Booked.", [result, "seen"])


def test_approver_may_answer_deny_or_wait(way: Way):
    def decide(pending: Any) -> Any:
        return answers[pending.reason]

    answers: dict[str, Any] = {"approval": True, "input": Respond({"day": "Monday"})}
    llm = scripted(calls(("book", {"city": "Rome"})), "Done.")
    response = way.generate(llm, tools=[book], run_tools=ToolPolicy(approve=decide))
    assert response.tool_steps[0].result.as_text == "Rome on Monday"
    answers["input"] = Deny("nobody is here")
    llm = scripted(calls(("book", {"city": "Rome"})), "Done.")
    response = way.generate(llm, tools=[book], run_tools=ToolPolicy(approve=decide))
    assert (response.tool_steps[0].outcome, response.tool_steps[0].result.as_text) == (
        "denied",
        "not run: denied: nobody is here",
    )
    for value in (True, Suspend("later")):
        answers["input"] = value
        loop = suspended(way, approve=decide)
        assert loop.pending[0].reason == "input"


def test_tool_that_never_stops_asking_fails(way: Way):
    llm = scripted(calls(("never_satisfied", {})), "Done.")
    policy = ToolPolicy(approve=lambda pending: pending.reason == "approval" or Respond({}))
    response = way.generate(llm, tools=[never_satisfied], run_tools=policy)
    assert response.tool_steps[0].outcome == "failed"
    assert "asked for input 10 times" in response.tool_steps[0].result.as_text
    assert response.content == "Done."


def test_loop_that_waits_for_input_is_in_its_journal(way: Way, tmp_path: Path):
    path = tmp_path / "journal"
    suspended(way, journal=path)
    loop = FileJournal(path).loop()
    assert loop is not None
    assert (loop.status, [pending.reason for pending in loop.pending]) == ("suspended", ["input"])
    answer = loop.pending[0].respond({"day": "Friday"})
    done = way.resume(
        scripted("Booked."), loop, [answer], tools=[book, book_later, look], run_tools=ToolPolicy(journal=path)
    )
    assert [step.result.as_text for step in done.tool_steps] == ["Oslo on Friday", "seen"]


def test_invalid_answers_are_refused(way: Way):
    loop = suspended(way)
    [pending] = loop.pending
    with pytest.raises(SchemaError, match="has 2 items for 1 question"):
        pending.respond({}, {})
    with pytest.raises(InvalidInputError, match="'book' cannot be run here"):
        way.resume(scripted("Booked."), loop, [pending.respond({})], tools=[look])
    other = suspended(way).pending[0]
    with pytest.raises(InvalidInputError, match="the answer is to another call"):
        way.resume(scripted("Booked."), loop, [other.respond({})], tools=[book, look])
    approval = way.generate(
        scripted(calls(("look", {}))), tools=[look], run_tools=ToolPolicy(approve=lambda pending: Suspend())
    )
    with pytest.raises(SchemaError, match="asks for no input"):
        approval.loop.pending[0].respond({})


def test_question_needs_a_key_of_its_own():
    with pytest.raises(SchemaError, match="two questions have the same key"):
        InputRequired(DAY, DAY)


def test_question_that_is_none_is_the_failure_of_the_tool(way: Way):
    @tool
    def ask() -> str:
        """Asks."""
        raise InputRequired("Which day?")  # type: ignore[arg-type]

    [step] = way.generate(scripted(calls(("ask", {})), "Done."), tools=[ask], run_tools=True).tool_steps
    assert (step.call.name, step.outcome) == ("ask", "failed")
    problem = "SchemaError: questions[0]: expected a Question, got str. Give InputRequired questions, as in"
    assert step.result.as_text.startswith(problem)


@pytest.mark.parametrize("answers", [(), ({}, {}), ("Friday",), ({"day": object()},)])
def test_error_of_invalid_answers_names_the_tool_and_its_questions(answers: tuple[Any, ...]):
    with Way.of("sync-whole") as way:
        [pending] = suspended(way).pending
    with pytest.raises(SchemaError, match=r"The tool 'book' asks for day: give an object, or None, for each"):
        pending.respond(*answers)
