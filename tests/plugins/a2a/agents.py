"""A2A agents on loopback, built with the official SDK: `Helper` does what the first word of a message says."""

from __future__ import annotations

import asyncio
import base64
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import uvicorn
from a2a.helpers.proto_helpers import new_data_part, new_raw_part, new_text_message, new_text_part, new_url_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task, TaskState, TaskStatus
from starlette.applications import Starlette

PATIENCE_SECONDS = 120.0
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
)
SIGN_IN_URL = "https://login.example/start?task=1"


class Helper(AgentExecutor):
    """An agent with a way for each state of a task. `asked` are the texts that it was sent."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cancelled = threading.Event()
        self.started = threading.Event()
        self.tasks = InMemoryTaskStore()
        self._hanging: dict[str, asyncio.Event] = {}
        self._signed_in = threading.Event()
        self.has_gone_on = threading.Event()

    def sign_in(self) -> None:
        """Lets the task that waits for it go on, and waits for it."""
        self._signed_in.set()
        assert self.has_gone_on.wait(PATIENCE_SECONDS)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        self.asked.append(text)
        way, _, rest = text.partition(" ")
        if way == "echo":
            await event_queue.enqueue_event(new_text_message(rest, context_id=context.context_id))
            return
        task = context.current_task
        assert context.task_id is not None
        assert context.context_id is not None
        if task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(task)
            updater = TaskUpdater(event_queue, context.task_id, context.context_id)
            await getattr(self, f"_{way.replace('-', '_')}")(updater, rest, context)
        else:
            updater = TaskUpdater(event_queue, context.task_id, context.context_id)
            if text == "first":
                await self._ask(updater, "", context)
                return
            await updater.add_artifact([new_text_part(f"You said: {text}")], name="answer")
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()
        self.cancelled.set()
        if context.task_id in self._hanging:
            self._hanging[context.task_id].set()

    async def _count(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        for number in ("one", "two", "three"):
            await updater.update_status(TaskState.TASK_STATE_WORKING, updater.new_agent_message([Part(text=number)]))
            await updater.add_artifact([Part(text=f"{number} ")], "numbers", name="numbers", append=number != "one")
        await updater.complete()

    async def _ask(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        await updater.requires_input(updater.new_agent_message([Part(text="Which\x1b[31m one?")]))

    async def _ask_twice(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        await self._ask(updater, rest, context)

    async def _wait_for_login(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        self._signed_in.clear()
        self.has_gone_on.clear()
        await self._login(updater, "here", context)
        await asyncio.to_thread(self._signed_in.wait, PATIENCE_SECONDS)
        await updater.add_artifact([Part(text="signed in")])
        await updater.complete()
        self.has_gone_on.set()

    async def _login(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        parts = [Part(text="Sign in first.")]
        await updater.requires_auth(updater.new_agent_message([*parts, new_url_part(SIGN_IN_URL)] if rest else parts))

    async def _files(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        await updater.add_artifact(
            [
                new_text_part("A pixel:"),
                new_raw_part(PIXEL, "image/png", "pixel.png"),
                new_url_part("https://files.example/map.pdf", "application/pdf", "map.pdf"),
                new_url_part("file:///etc/passwd", "text/plain"),
                new_data_part({"distance": 12, "via": ["a", None, 1.5]}),
            ],
            name="route",
            metadata={"seconds": 3},
        )
        await updater.complete(updater.new_agent_message([Part(text="Done.")]))

    async def _data(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        assert context.message is not None
        await updater.add_artifact([part for part in context.message.parts if part.HasField("data")])
        await updater.complete()

    async def _fail(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        await updater.failed(updater.new_agent_message([Part(text="The road is closed.")]))

    async def _reject(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        await updater.reject(updater.new_agent_message([Part(text="Not my work.")]))

    async def _hang(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        await updater.start_work()
        ended = self._hanging[updater.task_id] = asyncio.Event()
        self.started.set()
        await ended.wait()

    async def _whoami(self, updater: TaskUpdater, rest: str, context: RequestContext) -> None:
        headers: Any = context.call_context.state["headers"]
        await updater.add_artifact([Part(text=headers.get("x-user", "nobody"))])
        await updater.complete()


def helper_card(url: str, *, streaming: bool = True, **changes: Any) -> AgentCard:
    """The card of an agent at `url`."""
    given: dict[str, Any] = {
        "name": "Helper Agent",
        "description": "Helps.",
        "version": "1.0.0",
        "supported_interfaces": [AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
        "capabilities": AgentCapabilities(streaming=streaming),
        "default_input_modes": ["text/plain"],
        "default_output_modes": ["text/plain"],
        "skills": [
            AgentSkill(id="count", name="Count", description="Counts to three.", tags=["x"], examples=["count"])
        ],
    }
    return AgentCard(**{**given, **changes})


def helper_app(card: AgentCard, helper: Helper) -> Starlette:
    """The agent as a web application: JSON-RPC of both versions of the protocol, and REST."""
    handler = DefaultRequestHandler(agent_executor=helper, task_store=helper.tasks, agent_card=card)
    routes = [
        *create_agent_card_routes(card, cache_control="max-age=60"),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix="/rest"),
    ]
    return Starlette(routes=routes)


@contextmanager
def served(app_at: Callable[[str], Any], lifespan: Literal["on", "off"] = "off") -> Iterator[str]:
    """Serves the application for an address, and yields the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(app_at(url), log_level="error", lifespan=lifespan, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(PATIENCE_SECONDS)
