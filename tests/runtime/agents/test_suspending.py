"""Tools that suspend: questions, times, events, and tasks for other agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import InputRequired, ModelCall, Question, ToolContext, ToolPolicy, tool
from abstractcore.errors import InvalidInputError
from abstractcore.testing import ScriptedReply, VirtualClock
from abstractruntime import FunctionProgram, Item, Limits, Run, Runtime, Step
from abstractruntime.agents import Agent, ask_user, delegate, wait_for_event, wait_until
from tests.runtime.agents.treasury import results
from tests.runtime.checks import check

Make = Callable[..., Runtime]


def calling(*calls: tuple[str, dict[str, Any]]) -> Callable[[ModelCall], ScriptedReply | str]:
    """Returns a model that calls tools in one reply, and answers with their results."""

    def reply(call: ModelCall) -> ScriptedReply | str:
        if results(call):
            return " | ".join(results(call))
        first, *others = (ScriptedReply.tool_call(name, arguments) for name, arguments in calls)
        for other in others:
            first = first + other
        return first

    return reply


def agent_that_calls(*calls: tuple[str, dict[str, Any]], tools: list[Any], **options: Any) -> Agent:
    return Agent("caller", model="scripted", replies=calling(*calls), tools=tools, **options)


def started(make_runtime: Make, agent: Agent, *others: Any) -> tuple[Runtime, Run]:
    """Returns a run that has begun, and its runtime."""
    runtime = make_runtime(agent, *others)
    run = runtime.start(agent, "Go.", id="a")
    runtime.work()
    return runtime, run


QUESTION = ("ask_user", {"question": "Which day?", "choices": ["Friday", "Monday"]})


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        (lambda wait: wait.answer("Friday", by="ann"), "Friday"),
        (lambda wait: wait.answer({"day": "Friday"}), '{"day":"Friday"}'),
        (lambda wait: wait.answer({"answer": "Friday"}), '{"answer":"Friday"}'),
        (lambda wait: wait.result("Friday"), "Friday"),
        (lambda wait: wait.deny("not my task"), "not run: denied: not my task"),
    ],
)
def test_question_is_answered(make_runtime: Make, answer: Callable[[Any], object], read: str) -> None:
    runtime, run = started(make_runtime, agent := agent_that_calls(QUESTION, tools=[ask_user]))
    (wait,) = run.waits
    assert (wait.reason, wait.call.arguments["question"]) == ("input", "Which day?")
    answer(wait)
    runtime.work()
    assert run.output == read
    check(runtime, "a", agent)


def test_tool_without_a_function_cannot_be_allowed(make_runtime: Make) -> None:
    runtime, run = started(make_runtime, agent_that_calls(QUESTION, tools=[ask_user]))
    run.waits[0].allow()
    runtime.work()
    assert [(row.state, row.outcome) for row in runtime.store.inbox("a")][1:] == [
        ("refused", "payload.answer.kind: the tool runs elsewhere: give its result")
    ]
    assert len(run.waits) == 1


def test_tool_that_asks_gets_the_answers_to_its_questions(make_runtime: Make) -> None:
    @tool(read_only=True)
    def book(context: ToolContext[None]) -> str:
        if context.input is None:
            raise InputRequired(Question("day", "Which day?", {"type": "object"}))
        return f"booked for {context.input['day']}"

    runtime, run = started(make_runtime, agent := agent_that_calls(("book", {}), tools=[book]))
    (wait,) = run.waits
    assert wait.reason == "input"
    wait.answer("Friday", id="not the answers")
    runtime.work()
    assert [wait.key for wait in run.waits] == [wait.key]
    wait.respond({"day": "Friday"})
    runtime.work()
    assert run.output == "booked for {'day': 'Friday'}"
    check(runtime, "a", agent)


@pytest.mark.parametrize("arguments", [{"seconds": 3600}, {"time": "2027-01-15T09:00:00+00:00"}])
def test_time_is_waited_for(make_runtime: Make, clock: VirtualClock, arguments: dict[str, Any]) -> None:
    runtime, run = started(make_runtime, agent := agent_that_calls(("wait_until", arguments), tools=[wait_until]))
    (wait,) = run.waits
    assert (wait.reason, wait.deadline) == ("until", clock.time_of_day() + 3600)
    clock.advance(3599)
    assert runtime.work() == 0
    clock.advance(1)
    runtime.work()
    assert run.output == "It is 2027-01-15T09:00:00+00:00 now."
    check(runtime, "a", agent)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "expected either `time` or `seconds`"),
        ({"seconds": 1, "time": "2027-01-15T09:00:00Z"}, "expected either `time` or `seconds`"),
        ({"seconds": -1}, "expected seconds, got -1"),
        ({"seconds": True}, "expected seconds, got True"),
        ({"seconds": 1e300}, "expected seconds, got 1e+300"),
        ({"time": "tomorrow"}, "expected a time in ISO 8601, got 'tomorrow'"),
        ({"time": 7}, "expected a time in ISO 8601, got 7"),
        ({"time": "2027-01-15T09:00:00"}, "expected a time with its offset"),
        ({"time": "0001-01-01T00:00:00+14:00"}, "It is 2027-01-15"),
    ],
)
def test_model_reads_what_is_wrong_with_a_time(make_runtime: Make, arguments: dict[str, Any], problem: str) -> None:
    runtime, run = started(make_runtime, agent := agent_that_calls(("wait_until", arguments), tools=[wait_until]))
    assert run.waits == []
    assert problem in run.output
    check(runtime, "a", agent)


@pytest.mark.parametrize("is_early", [False, True])
def test_event_is_waited_for(make_runtime: Make, is_early: bool) -> None:
    agent = agent_that_calls(("wait_for_event", {"key": "shipped"}), tools=[wait_for_event("shipped", "lost")])
    runtime = make_runtime(agent)
    if is_early:
        runtime.emit("shipped", {"parcel": 7})
    run = runtime.start(agent, "Go.", id="a")
    runtime.work()
    if not is_early:
        assert [(wait.key, wait.reason) for wait in run.waits] == [("shipped", "event")]
        runtime.emit("shipped", {"parcel": 7})
        runtime.work()
    assert run.output == '{"parcel":7}'
    check(runtime, "a", agent)


def test_event_that_nobody_has_allowed_is_not_waited_for(make_runtime: Make) -> None:
    agent = agent_that_calls(("wait_for_event", {"key": "salaries"}), tools=[wait_for_event("shipped")])
    _, run = started(make_runtime, agent)
    assert run.output == "invalid arguments: key: expected one of shipped, got 'salaries'"


def test_event_is_waited_for_by_one_call_at_a_time(make_runtime: Make) -> None:
    call = ("wait_for_event", {"key": "shipped"})
    runtime, run = started(make_runtime, agent_that_calls(call, call, tools=[wait_for_event("shipped")]))
    run.send("shipped")
    runtime.work()
    assert run.output == "The event came. | invalid arguments: shipped: another call waits for it already"


def helper(**options: Any) -> Agent:
    """Returns an agent that answers with its task."""
    return Agent("helper", model="scripted", replies=lambda call: f"did: {call.messages[-1].text}", **options)


TASK = ("delegate", {"agent": "helper@1", "task": "tidy up"})


def test_task_is_done_by_another_agent(make_runtime: Make) -> None:
    other = helper(limits=Limits(tokens=1000))
    runtime, run = started(make_runtime, agent := agent_that_calls(TASK, tools=[delegate(other)]), other)
    assert run.output == "did: tidy up"
    (child,) = run.children
    assert (child.info.program, child.info.parent, child.output) == ("helper@1", "a", "did: tidy up")
    assert child.info.limits == Limits(tokens=1000)
    check(runtime, "a", agent)
    check(runtime, child.id, other)


def test_task_waits_while_the_other_agent_waits(make_runtime: Make) -> None:
    other = Agent("helper", model="scripted", replies=calling(QUESTION), tools=[ask_user])
    runtime, run = started(make_runtime, agent_that_calls(TASK, tools=[delegate(other)]), other)
    assert [wait.reason for wait in run.waits] == ["child"]
    (child,) = run.children
    child.waits[0].answer("Monday")
    runtime.work()
    assert run.output == "Monday"


def test_task_that_fails_is_an_error_for_the_model(make_runtime: Make) -> None:
    def fails(state: Any, item: Item) -> Step:
        return Step.fail("no idea how", type="Clueless")

    other = FunctionProgram("helper", fails)
    _, run = started(make_runtime, agent_that_calls(TASK, tools=[delegate(other)]), other)
    assert run.output == "The task was not done. Clueless: no idea how"


def test_task_for_a_program_that_is_not_offered_is_refused(make_runtime: Make) -> None:
    call = ("delegate", {"agent": "treasurer@1", "task": "Pay Eve."})
    _, run = started(make_runtime, agent_that_calls(call, tools=[delegate("helper@1")]), helper())
    assert run.output == "invalid arguments: agent: expected one of helper@1, got 'treasurer@1'"
    assert run.children == []


def test_all_kinds_of_waits_are_open_at_once(make_runtime: Make, clock: VirtualClock) -> None:
    @tool
    def pay() -> str:
        return "paid"

    calls = [QUESTION, ("wait_until", {"seconds": 60}), ("wait_for_event", {"key": "shipped"}), TASK, ("pay", {})]
    other = Agent("helper", model="scripted", replies=calling(QUESTION), tools=[ask_user])
    tools = [ask_user, wait_until, wait_for_event("shipped"), delegate(other), pay]
    runtime, run = started(make_runtime, agent := agent_that_calls(*calls, tools=tools), other)
    waits = {wait.reason: wait for wait in run.waits}
    assert waits.keys() == {"input", "until", "event", "child", "approval"}
    clock.advance(60)
    runtime.work()
    runtime.emit("shipped", "parcel 7")
    run.children[0].waits[0].answer("swept")
    waits["input"].answer("Friday")
    runtime.work()
    assert [wait.reason for wait in run.waits] == ["approval"]
    waits["approval"].allow()
    runtime.work()
    assert run.output == "Friday | It is 2027-01-15T08:01:00+00:00 now. | parcel 7 | swept | paid"
    check(runtime, "a", agent)


def test_suspending_tools_need_no_approval_of_a_policy(make_runtime: Make) -> None:
    policy = ToolPolicy(approve=lambda pending: False)
    _, run = started(make_runtime, agent_that_calls(QUESTION, tools=[ask_user], policy=policy))
    assert [wait.reason for wait in run.waits] == ["input"]


def test_keys_and_programs_are_named() -> None:
    with pytest.raises(InvalidInputError, match="expected keys of events"):
        wait_for_event()
    with pytest.raises(InvalidInputError, match="other than 'interrupted'"):
        wait_for_event("interrupted")
    with pytest.raises(InvalidInputError, match="expected the agents"):
        delegate()
