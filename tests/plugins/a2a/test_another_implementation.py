"""Agents on another implementation of the protocol: fasta2a, which shares no code with the SDK."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.storage import InMemoryStorage

from abstracta2a import A2AAgent
from tests.core.tools.loops import Way, scripted
from tests.plugins.a2a.agents import served
from tests.plugins.a2a.talk import asked, begun
from tests.plugins.a2a.test_agents import lines

TOOL = "Echo_Agent"


class Echo(Worker[Any]):
    """Repeats messages; in the ways that workers of fasta2a report what they do."""

    async def run_task(self, params: Any) -> None:
        """Runs the task of a message."""
        text = params["message"]["parts"][0]["text"]
        task_id, context_id = params["id"], params["context_id"]
        await self.storage.update_task(task_id, state="working")
        artifact: Any = {"artifact_id": str(uuid.uuid4()), "name": "echo", "parts": [{"text": text}]}
        if text == "ask":
            message: Any = {"role": "agent", "parts": [{"text": "What?"}], "message_id": str(uuid.uuid4())}
            await self.storage.update_task(task_id, state="input-required", new_messages=[message])
        elif text.startswith("publish"):
            await self.publish_status(task_id, context_id, "working")
            await self.publish_artifact(task_id, context_id, artifact)
            await self.storage.update_task(task_id, state="completed", new_artifacts=[artifact])
        elif text.startswith("store"):
            await self.storage.update_task(task_id, state="completed", new_artifacts=[artifact])
        elif text.startswith("say"):
            message = {"role": "agent", "parts": [{"text": text}], "message_id": str(uuid.uuid4())}
            await self.storage.update_task(task_id, state="completed", new_messages=[message])
        else:
            await self.storage.update_task(task_id, state="failed")

    async def cancel_task(self, params: Any) -> None:
        """Cancels a task."""
        await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history: Any) -> Any:
        """Not used."""
        return history

    def build_artifacts(self, result: Any) -> Any:
        """Not used."""
        return [result]


def echo_app(url: str) -> FastA2A:
    """The agent as a web application."""
    storage, broker = InMemoryStorage[Any](), InMemoryBroker()
    worker = Echo(broker=broker, storage=storage)

    @asynccontextmanager
    async def lifespan(app: FastA2A) -> AsyncIterator[None]:
        async with app.task_manager, worker.run():
            yield

    return FastA2A(storage=storage, broker=broker, name="Echo Agent", url=url, lifespan=lifespan)


@pytest.fixture(scope="module")
def echo_url() -> Iterator[str]:
    """The address of the agent."""
    with served(echo_app, lifespan="on") as url:
        yield url


@pytest.mark.parametrize("text", ["publish one", "store two", "say three"])
def test_answer_is_found_wherever_the_agent_puts_it(one_of_two_ways: Way, echo_url: str, text: str):
    step = asked(one_of_two_ways, A2AAgent(echo_url), text, tool=TOOL)
    assert (step.outcome, lines(step.result.as_text)) == ("done", [text])
    assert step.data["state"] == "completed"


def test_failed_task_is_an_error_result(echo_url: str):
    assert A2AAgent(echo_url).call(TOOL, {"message": "x"}).outcome == "failed"


def test_answer_to_a_question_may_be_a_new_task_of_the_conversation(one_of_two_ways: Way, echo_url: str):
    agent = A2AAgent(echo_url)
    response = begun(one_of_two_ways, agent, "ask", tool=TOOL)
    [pending] = response.loop.pending
    assert pending.input.questions[0].message == "What?"
    answers = [pending.respond({"answer": "store this"})]
    response = one_of_two_ways.resume(scripted("Done."), response.loop, answers, tools=[agent])
    [step] = response.tool_steps
    assert lines(step.result.as_text) == ["store this"]
    assert step.data["contextId"] == pending.input.state["contextId"]
    assert step.data["taskId"] != pending.input.state["taskId"]
