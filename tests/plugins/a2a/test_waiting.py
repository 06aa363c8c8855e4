"""Tasks that wait for the user: the call is suspended, and the answer continues the task, also in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from a2a.types import TaskState

from abstracta2a import A2AAgent
from abstracta2a.questions import Continuation
from abstractcore import InputRequest, InputResponse, Question, ToolFailed, to_json
from abstractcore.testing.http_server import ScriptedServer, answer
from tests.core.tools.loops import Way, scripted
from tests.plugins.a2a.agents import SIGN_IN_URL
from tests.plugins.a2a.conftest import Served
from tests.plugins.a2a.talk import begun
from tests.plugins.a2a.test_agents import lines
from tests.plugins.a2a.test_cards import card_at
from tests.plugins.a2a.test_hostile import broken, message, result, result_of, task

PATIENCE_SECONDS = 120.0
RESUME = """
import json, sys
from abstracta2a import A2AAgent
from abstractcore import create_llm, from_json
given = json.load(sys.stdin)
loop = from_json(json.dumps(given["loop"]))
[pending] = loop.pending
llm = create_llm("scripted", replies=["Done."])
response = llm.resume(loop, [pending.respond(given["answer"])], tools=[A2AAgent(given["url"])])
print(json.dumps([response.content, [step.result.as_text for step in response.tool_steps]]))
"""


def waiting(way: Way, agent: A2AAgent, message: str) -> Any:
    """The response to a loop whose call waits for the user."""
    response = begun(way, agent, message)
    assert response.loop is not None
    assert [pending.reason for pending in response.loop.pending] == ["input"]
    return response


def answered(way: Way, response: Any, agent: A2AAgent, answer: dict[str, Any] | None) -> Any:
    """The step of the call after the user's answer."""
    [pending] = response.loop.pending
    response = way.resume(scripted("Done."), response.loop, [pending.respond(answer)], tools=[agent])
    assert response.content == "Done."
    [step] = response.tool_steps
    return step


def test_answer_continues_the_task(way: Way, agent: A2AAgent):
    response = waiting(way, agent, "ask")
    [question] = response.loop.pending[0].input.questions
    assert question.message == "Which[31m one?"
    assert question.schema["required"] == ["answer"]
    step = answered(way, response, agent, {"answer": "the blue one"})
    assert lines(step.result.as_text) == ["You said: the blue one"]
    assert step.data["taskId"] == response.loop.pending[0].input.state["taskId"]


@pytest.mark.process
def test_task_is_continued_in_another_process(agent: A2AAgent, served_agent: Served):
    with Way.of("sync-whole") as way:
        loop = waiting(way, agent, "ask").loop
    given = {"loop": json.loads(to_json(loop)), "answer": {"answer": "blue"}, "url": served_agent.url}
    command = [sys.executable, "-W", "error", "-c", RESUME]
    result = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert result.returncode == 0, result.stderr
    content, [text] = json.loads(result.stdout)
    assert (content, lines(text)) == ("Done.", ["You said: blue"])


def test_sign_in_is_a_question_with_an_address(one_of_two_ways: Way, agent: A2AAgent):
    response = waiting(one_of_two_ways, agent, "login here")
    [question] = response.loop.pending[0].input.questions
    assert (question.url, question.message) == (SIGN_IN_URL, "Sign in first.")
    step = answered(one_of_two_ways, response, agent, {})
    assert lines(step.result.as_text) == ["You said: The user has signed in."]


def test_agent_that_notices_the_sign_in_itself_is_sent_nothing(agent: A2AAgent, served_agent: Served):
    with Way.of("sync-whole") as way:
        response = waiting(way, agent, "wait-for-login")
        sent = len(served_agent.helper.asked)
        served_agent.helper.sign_in()
        task_id = response.loop.pending[0].input.state["taskId"]
        while served_agent.state_of(task_id) != TaskState.TASK_STATE_COMPLETED:
            assert served_agent.helper.has_gone_on.is_set()
        step = answered(way, response, agent, {})
    assert lines(step.result.as_text) == ["signed in"]
    assert served_agent.helper.asked[sent:] == []


def test_sign_in_without_an_address_is_an_error_result(one_of_two_ways: Way, agent: A2AAgent):
    response = begun(one_of_two_ways, agent, "login")
    [step] = response.tool_steps
    assert step.outcome == "failed"
    assert "requires a sign-in, and gives no address for it: Sign in first." in step.result.as_text


def test_declined_question_cancels_the_task(one_of_two_ways: Way, agent: A2AAgent, served_agent: Served):
    response = waiting(one_of_two_ways, agent, "ask")
    step = answered(one_of_two_ways, response, agent, None)
    assert step.outcome == "failed"
    assert "the user declined" in step.result.as_text
    assert served_agent.state_of(response.loop.pending[0].input.state["taskId"]) == TaskState.TASK_STATE_CANCELED


def test_second_question_of_a_task_waits_again(one_of_two_ways: Way, agent: A2AAgent):
    response = waiting(one_of_two_ways, agent, "ask-twice")
    for text in ("first", "second"):
        [pending] = response.loop.pending
        response = one_of_two_ways.resume(
            scripted("Done."), response.loop, [pending.respond({"answer": text})], tools=[agent]
        )
    assert response.content == "Done."
    assert lines(response.tool_steps[0].result.as_text) == ["You said: second"]


@pytest.mark.parametrize("state", [None, "x", {"requestState": "x"}, {"taskId": 1, "contextId": "a", "asked": "b"}])
def test_state_of_another_tool_is_refused(state: Any):
    given = InputResponse(InputRequest((Question("answer", "Which?"),), state), ({"answer": "x"},))
    with pytest.raises(ToolFailed, match="is not one of an A2A agent"):
        Continuation.of(given)


def test_other_calls_of_the_round_are_done_while_one_waits(one_of_two_ways: Way, agent: A2AAgent):
    response = begun(one_of_two_ways, agent, "echo now", "ask")
    assert [lines(step.result.as_text) for step in response.tool_steps] == [["now"]]
    [pending] = response.loop.pending
    done = one_of_two_ways.resume(
        scripted("Done."), response.loop, [pending.respond({"answer": "blue"})], tools=[agent]
    )
    assert done.content == "Done."


def question(text: str, message_id: str) -> dict[str, Any]:
    """A task that asks the user."""
    status = {"state": "TASK_STATE_INPUT_REQUIRED", "message": {**message(text), "messageId": message_id}}
    return task("INPUT_REQUIRED", status=status)


def test_question_that_the_agent_still_shows_is_not_asked_again():
    """The agent begins to work on the answer later."""
    done = task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "Done."}]}])
    looks = [answer(result_of(question("Which?", "1"))), answer(result_of(task("WORKING"))), answer(result_of(done))]
    with broken(result(task=question("Which?", "1")), tasks=looks) as server, Way.of("sync-whole") as way:
        agent = A2AAgent(server.url)
        step = answered(way, waiting(way, agent, "x"), agent, {"answer": "blue"})
    assert lines(step.result.as_text) == ["Done."]


def test_agent_that_notices_the_sign_in_when_the_message_comes_is_followed():
    """Between the look and the message the task has gone on: the message is refused."""
    said = {**message(""), "parts": [{"text": "Sign in."}, {"url": SIGN_IN_URL}]}
    asks = task("AUTH_REQUIRED", status={"state": "TASK_STATE_AUTH_REQUIRED", "message": said})
    done = task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "Signed in."}]}])
    answers = [
        result(task=asks),
        answer(result_of(asks)),
        answer({"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "The task has ended."}}),
        answer(result_of(done)),
    ]
    with ScriptedServer() as server, Way.of("sync-whole") as way:
        for each in answers:
            server.script(each)
        agent = A2AAgent(card=card_at(server.url))
        step = answered(way, waiting(way, agent, "x"), agent, {})
        methods = [request.json["method"] for request in server.requests]
    assert lines(step.result.as_text) == ["Signed in."]
    assert methods == ["SendMessage", "GetTask", "SendMessage", "GetTask"]


def test_question_of_another_conversation_is_refused():
    other = {**task("COMPLETED"), "id": "task-2", "contextId": "context-2"}
    with ScriptedServer() as server, Way.of("sync-whole") as way:
        server.script(result(task=question("Which?", "1")))
        server.script(result(task=other))
        server.always(answer({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}}))
        agent = A2AAgent(card=card_at(server.url))
        step = answered(way, waiting(way, agent, "x"), agent, {"answer": "blue"})
    assert step.outcome == "failed"
    assert "answered for another task, 'task-2'" in step.result.as_text
