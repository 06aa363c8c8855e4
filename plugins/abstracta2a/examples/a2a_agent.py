"""A remote agent as a tool beside a Python function, in one loop; the agent asks the user a question.

    python plugins/abstracta2a/examples/a2a_agent.py

The agent is in this file too: a web application of the official SDK, on a port of this machine. It needs the extra
`test` of abstracta2a, or: pip install "a2a-sdk[http-server]" uvicorn
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task, TaskState, TaskStatus
from starlette.applications import Starlette

from abstracta2a import A2AAgent
from abstractcore import create_llm, tool
from abstractcore.testing import ScriptedReply


class Travel(AgentExecutor):
    """Asks for a class, and books a train."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answers a message: the first of a task, or the answer to its question."""
        assert context.task_id is not None
        assert context.context_id is not None
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            await event_queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, status=submitted))
            await updater.requires_input(updater.new_agent_message([Part(text="First or second class?")]))
        else:
            ticket = Part(text=f"Booked: {context.get_user_input()} class, seat 12.")
            await updater.add_artifact([ticket], name="ticket")
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Cancels a task."""
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


@contextmanager
def travel_agent() -> Generator[str]:
    """Serves the agent, and yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        card = AgentCard(
            name="travel",
            description="Books journeys.",
            version="1.0.0",
            supported_interfaces=[AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
            capabilities=AgentCapabilities(streaming=True),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[AgentSkill(id="trains", name="Trains", description="Books trains.", tags=["travel"])],
        )
        handler = DefaultRequestHandler(agent_executor=Travel(), task_store=InMemoryTaskStore(), agent_card=card)
        app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join()


@tool(read_only=True)
def weather(city: str) -> str:
    """The weather of a city."""
    return "rain"


def main() -> None:
    """Asks a model that uses both. Here it is scripted; with create_llm("openai", ...) it decides by itself."""
    replies = [
        ScriptedReply.tool_call("weather", {"city": "Bergen"})
        + ScriptedReply.tool_call("travel", {"message": "Book a train from Oslo to Bergen."}),
        "It rains in Bergen. Your seat is 12.",
    ]
    llm = create_llm("scripted", replies=replies)
    with travel_agent() as url, A2AAgent(url) as agent:
        response = llm.generate("Take me to Bergen.", tools=[weather, agent], run_tools=True)
        assert response.loop is not None
        [pending] = response.loop.pending
        assert pending.input is not None
        print(f"{agent.name} asks: {pending.input.questions[0].message}")
        response = llm.resume(response.loop, [pending.respond({"answer": "second"})], tools=[weather, agent])
    for step in response.tool_steps:
        print(f"{step.call.name}({step.call.arguments_text}) -> {step.result.as_text.splitlines()[0]}")
    print(response.content)


if __name__ == "__main__":
    main()
