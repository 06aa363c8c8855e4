"""`AgentConnection`: the client of one agent in one event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any, TypeVar, cast

import httpx
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.types import AgentCard, CancelTaskRequest, GetTaskRequest, SendMessageRequest, StreamResponse, TaskState
from a2a.utils.constants import TransportProtocol

from abstractcore import ToolContext, ToolFailed
from abstractcore.toolservers import Secrets, one_line

from .addresses import AgentAddress
from .card_source import CardSource
from .cards import BINDINGS
from .http import RefusedError
from .questions import Continuation, input_required
from .requests import request_of
from .tasks import TaskView
from .transports import jsonrpc_transport

T = TypeVar("T")
_CANCEL_SECONDS = 5.0
_FIRST_WAIT_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 2.0
_MOST_LOSSES = 3
_MOST_LOOKS_AT_ANSWERED = 20
"""After so many looks, in half a minute, at a question that has been answered, the agent asks it again."""
_LONGEST_PROBLEM = 500
_PASSING_STATUSES = frozenset({429, 502, 503, 504})
"""HTTP statuses after which a task is asked for again."""
_STATUS_TEXTS = {
    401: "It requires a key: its caller can pass headers or auth",
    403: "It does not accept the key of its caller",
}


class _LostError(Exception):
    """The connection to the agent was lost, or could not be made."""


class _Progress:
    """Reports each event of a task that goes on."""

    def __init__(self, context: ToolContext[Any]) -> None:
        self._context = context
        self._done = 0
        self._latest: str | None = None

    def report(self, text: str | None, view: TaskView, *, is_poll: bool = False) -> None:
        """Reports an event, or what a look at the task showed if that is new."""
        if view.is_settled or (is_poll and text == self._latest):
            return
        self._done += 1
        self._latest = text
        self._context.progress(self._done, None, text)


class AgentConnection:
    """A client of one agent, with one identity (the headers of `client`).

    `secrets` are removed from errors, which may quote what the agent was sent.
    """

    is_idle = True  # but for the calls that the pool knows

    def __init__(
        self,
        agent: str,
        address: AgentAddress,
        client: httpx.AsyncClient,
        secrets: Secrets,
        connect_timeout: float,
        longest: int,
    ) -> None:
        self._agent = agent
        self._cards = CardSource(agent, address, client, secrets, connect_timeout)
        self._http = client
        self._secrets = secrets
        self._longest = longest
        self._card: AgentCard | None = None
        self._client: Client | None = None

    async def close(self) -> None:
        """Closes the HTTP connections."""
        await self._http.aclose()

    async def card(self) -> AgentCard:
        """Returns the agent's card, fetched again when it may have changed; raises `ToolServerError`."""
        card = await self._cards.card()
        if card is not self._card:
            self._card, self._client = card, self._new_client(card)
        return card

    async def ask(self, arguments: Mapping[str, Any], context: ToolContext[Any]) -> TaskView:
        """Sends a message, or the user's answer, and returns the task when it has ended, or the agent's message.

        Raises `ToolFailed` for what goes wrong, and `InputRequired` for what the agent asks the user. The task is
        cancelled with the call.
        """
        if self._client is None:
            await self.card()
        given = None if context.input is None else Continuation.of(context.input)
        view = TaskView(self._agent, self._longest)
        if given is not None:
            view.continue_with(given.task_id, given.context_id, given.asked)
        try:
            await self._advance(view, given, arguments, context)
        except (asyncio.CancelledError, ToolFailed):
            if view.task_id and not view.is_settled:
                await self._cancel(view.task_id)
            raise
        if view.is_waiting:
            raise input_required(view, self._agent)
        return view

    async def _advance(
        self, view: TaskView, given: Continuation | None, arguments: Mapping[str, Any], context: ToolContext[Any]
    ) -> None:
        """Leads a task to its end, or to a question to the user."""
        if given is None:
            request = request_of(arguments, context.idempotency_key)
        elif given.is_declined:
            await self._cancel(given.task_id)
            view.task_id = ""
            raise ToolFailed(f"the user declined what the agent {self._agent} asked for; its task was cancelled")
        elif given.is_sign_in and not await self._still_waits(view):
            await self._wait(view, context)
            return
        else:
            request = given.request(context.idempotency_key)
        try:
            await self._send(request, view, context)
        except ToolFailed:
            # The agent may have noticed the sign-in just now, and takes no message any more.
            if given is None or not given.is_sign_in or await self._still_waits(view):
                raise
        await self._wait(view, context)
        if view.has_no_answer:  # some agents put it into the task only, not into the stream
            with suppress(_LostError, ToolFailed):
                await self._look(view)

    async def _send(self, request: SendMessageRequest, view: TaskView, context: ToolContext[Any]) -> None:
        """Sends a message, and reads the events of the answer; a task may go on after them."""
        progress = _Progress(context)
        try:
            events = self._sent(request)
            async with aclosing(events):
                async for event in events:
                    progress.report(view.add(event), view)
                    if view.is_settled:
                        break
        except _LostError as lost:
            if not view.task_id:
                raise ToolFailed(str(lost)) from lost.__cause__
        if not view.task_id and view.message is None:
            raise ToolFailed(f"the agent {self._agent} ended the stream without an answer")

    async def _wait(self, view: TaskView, context: ToolContext[Any]) -> None:
        """Asks for the task until it has ended, or waits for the user."""
        progress = _Progress(context)
        wait, losses, looks = _FIRST_WAIT_SECONDS, 0, 0
        while not view.is_settled:
            if view.is_as_before and looks == _MOST_LOOKS_AT_ANSWERED:
                view.forget_earlier()
                continue
            looks += 1
            await asyncio.sleep(wait)
            wait = min(1.5 * wait, _LONGEST_WAIT_SECONDS)
            try:
                progress.report(await self._look(view), view, is_poll=True)
                losses = 0
            except _LostError as lost:
                losses += 1
                if losses == _MOST_LOSSES:
                    raise ToolFailed(str(lost)) from lost.__cause__

    async def _still_waits(self, view: TaskView) -> bool:
        """Returns whether a task still waits for the sign-in: agents may notice it themselves."""
        try:
            await self._look(view)
        except _LostError as lost:
            raise ToolFailed(str(lost)) from lost.__cause__
        return view.status.state == TaskState.TASK_STATE_AUTH_REQUIRED

    async def _look(self, view: TaskView) -> str | None:
        client = self._connected()
        return view.add_task(await self._asked(lambda: client.get_task(GetTaskRequest(id=view.task_id))))

    async def _cancel(self, task_id: str) -> None:
        """Asks the agent to cancel a task, for 5 seconds; what it answers does not matter."""
        client = self._connected()
        cancelled = asyncio.ensure_future(self._asked(lambda: client.cancel_task(CancelTaskRequest(id=task_id))))
        cancelled.add_done_callback(_seen)
        await asyncio.wait([cancelled], timeout=_CANCEL_SECONDS)
        cancelled.cancel()

    async def _sent(self, request: SendMessageRequest) -> AsyncGenerator[StreamResponse]:
        """Yields the events of an answer."""
        stream = cast("AsyncGenerator[StreamResponse]", self._connected().send_message(request))
        async with aclosing(stream):
            while True:
                try:
                    event = await anext(stream)
                except StopAsyncIteration:
                    return
                except Exception as error:
                    raise self._problem(error) from self._secrets.cleaned(error)
                yield event

    async def _asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except Exception as error:
            raise self._problem(error) from self._secrets.cleaned(error)

    def _problem(self, error: Exception) -> Exception:
        """Returns the error for what the SDK raised, which is of many types for agents that break the protocol."""
        cause = error.__cause__ or error
        text = self._shown(error)
        if isinstance(cause, RefusedError):
            return ToolFailed(f"the agent {self._agent} broke off the call: {self._shown(cause)}")
        if isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout):
            return _LostError(f"the agent {self._agent} cannot be reached: {text}")
        if isinstance(cause, httpx.TransportError):
            return _LostError(f"the agent {self._agent} was lost while the call ran; it may have taken effect: {text}")
        if isinstance(cause, json.JSONDecodeError):
            return _LostError(f"the agent {self._agent} sent what is not JSON: {text}")
        if isinstance(cause, httpx.HTTPStatusError):
            status = cause.response.status_code
            kind = _LostError if status in _PASSING_STATUSES else ToolFailed
            return kind(
                f"the agent {self._agent} failed the call: HTTP {status}. {_STATUS_TEXTS.get(status, '')}".strip()
            )
        return ToolFailed(f"the agent {self._agent} failed the call: {text}")

    def _shown(self, error: BaseException) -> str:
        return one_line(self._secrets.text(str(error) or type(error).__name__), _LONGEST_PROBLEM)

    def _connected(self) -> Client:
        assert self._client is not None
        return self._client

    def _new_client(self, card: AgentCard) -> Client:
        is_streaming = card.capabilities.streaming
        # Where there is no stream, the task is returned at once and polled: it can be cancelled then.
        config = ClientConfig(
            streaming=is_streaming,
            polling=not is_streaming,
            httpx_client=self._http,
            supported_protocol_bindings=BINDINGS,
        )
        factory = ClientFactory(config)
        factory.register(TransportProtocol.JSONRPC, jsonrpc_transport)
        return factory.create(card)


def _seen(asked: asyncio.Future[Any]) -> None:
    """Marks an error as seen: nobody waits for it any more."""
    if not asked.cancelled():
        asked.exception()
