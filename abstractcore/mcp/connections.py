"""`Connection`: a client of one server, connected when first used, and again after it was lost."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import anyio
from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, ElicitResult, ErrorData, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ..concurrency.owned_contexts import NotEnteredError, OwnedContext
from ..errors import ToolFailed, ToolServerError
from ..ports import ToolContext
from ..schema import ContentPart, JSONObject, Message
from ..schema.quoting import one_line
from ..scrubbing import Secrets
from .inputs import CallAnswers, input_required, is_of_result, request_state_of, responses_of

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Prompt, Resource, Tool

T = TypeVar("T")
_log = logging.getLogger("abstractcore")
_MOST_PAGES = 100
_MOST_TOOLS = 10_000
_MOST_WAITS = 20
_FIRST_WAIT_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 2.0


class TransportNotes(Protocol):
    """What is known of the transport to a server."""

    @property
    def has_ended(self) -> bool:
        """Whether no message can follow."""
        ...

    def described(self) -> str:
        """Returns sentences for errors; empty if there is nothing to say."""
        ...


class NoNotes:
    """Nothing is known: of a server in this process, and before the first connection."""

    has_ended = False

    def described(self) -> str:
        """Returns nothing."""
        return ""


class Connection:
    """A client of one server in one event loop, with one identity (its headers).

    `open` returns a new transport, or a server object of the SDK, with what is known of it. `secrets` are removed from
    errors, which may quote what the server was sent, or printed.
    """

    def __init__(
        self,
        server: str,
        open: Callable[[], tuple[Any, TransportNotes]],
        mode: str,
        connect_timeout: float,
        secrets: Secrets | None = None,
    ) -> None:
        self._server = server
        self._open = open
        self._secrets = Secrets() if secrets is None else secrets
        self._notes: TransportNotes = NoNotes()
        self._mode = mode
        self._connect_timeout = connect_timeout
        self._owned: OwnedContext[Client] | None = None
        self._tools: Sequence[Tool] | None = None
        self._fresh_until = 0.0
        self._is_watched = False
        self._running: list[CallAnswers] = []
        self._changes = 0
        self._uses = 0
        self._asking = 0
        self._is_exclusive = False
        self._changed = anyio.Event()

    @property
    def is_idle(self) -> bool:
        """Whether no call runs, and nobody waits for a connection or an answer."""
        return not self._running and not self._uses

    async def client(self) -> Client:
        """Returns the connected client; raises `ToolServerError`."""
        if self._owned is not None and (self._owned.has_ended or self._notes.has_ended):
            await self.close()
        owned = self._owned
        if owned is None:
            self._tools, self._is_watched = None, False
            transport, self._notes = self._open()
            owned = self._owned = OwnedContext(partial(self._connected, transport), self._connect_timeout)
        try:
            with self._used():
                return await owned.value()
        except NotEnteredError as given_up:
            late = f"did not answer in {self._connect_timeout:g} s"
            error = self._unreachable(late if given_up.timed_out else "was closed before it answered")
            await owned.leave()
            raise error from None
        except Exception as error:
            raise self._unreachable(f"cannot be reached: {self._shown(error)}") from self._secrets.cleaned(error)

    async def close(self) -> None:
        """Ends the connection; the next use connects again."""
        owned, self._owned = self._owned, None
        if owned is not None:
            await owned.leave()

    async def tools(self) -> Sequence[Tool]:
        """Returns the tools of the server, listed again when they may have changed; raises `ToolServerError`."""
        await self.client()
        if self._tools is not None and (self._is_watched or time.monotonic() < self._fresh_until):
            return self._tools
        try:
            with anyio.fail_after(self._connect_timeout):
                return await self._asked("list its tools", self._listed)
        except TimeoutError:
            raise self._unreachable(f"did not list its tools in {self._connect_timeout:g} s") from None

    async def call(
        self, name: str, arguments: JSONObject, context: ToolContext[Any], *, repeatable: bool
    ) -> CallToolResult:
        """Calls a tool. After the connection was lost, a `repeatable` call is made once more.

        Raises `ToolFailed` for what the server refuses and for a lost connection, `InputRequired` for what it asks the
        user, and `ToolServerError` if it cannot be reached.
        """
        for is_last in (False, True):
            try:
                return await self._called(name, arguments, context)
            except MCPError as error:
                if not self._is_lost(error):
                    raise ToolFailed(
                        f"the server {self._server} refused the call: {self._shown(error)}"
                    ) from self._secrets.cleaned(error)
                await self.close()
                if is_last or (error.code == CONNECTION_CLOSED and not repeatable):
                    problem = f"the server {self._server} was lost while the call ran; it may have taken effect"
                    raise ToolFailed(f"{problem}. {self._described()}".strip()) from self._secrets.cleaned(error)
        raise AssertionError

    async def resources(self) -> list[Resource]:
        """Returns the resources of the server; raises `ToolServerError`."""
        return await self._paged("resources", lambda client, cursor: client.list_resources(cursor=cursor))

    async def prompts(self) -> list[Prompt]:
        """Returns the prompts of the server; raises `ToolServerError`."""
        return await self._paged("prompts", lambda client, cursor: client.list_prompts(cursor=cursor))

    async def resource(self, uri: str) -> list[ContentPart]:
        """Returns the content of a resource as files; raises `ToolServerError`."""
        from .results import resource_part

        result = await self._asked(f"read {one_line(uri)}", lambda client: client.read_resource(uri))
        return [resource_part(contents) for contents in result.contents]

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> list[Message]:
        """Returns the messages of a prompt; raises `ToolServerError`."""
        from .results import content_of

        result = await self._asked(f"give {one_line(name)}", lambda client: client.get_prompt(name, dict(arguments)))
        return [Message(each.role, content_of([each.content])) for each in result.messages]

    async def _paged(self, kind: str, page: Callable[[Client, str | None], Awaitable[Any]]) -> list[Any]:
        """Returns the items of all pages of a list; none if the server does not declare that it has such."""
        items: list[Any] = []
        if getattr((await self.client()).server_capabilities, kind) is None:
            return items
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            at = cursor
            result = await self._asked(f"list its {kind}", lambda client, at=at: page(client, at))
            items += getattr(result, kind)
            cursor = result.next_cursor
            if cursor is None:
                return items
        raise self._unreachable(f"lists {kind} without end: {len(items):,} so far")

    async def _asked(self, what: str, ask: Callable[[Client], Awaitable[T]]) -> T:
        for is_last in (False, True):
            try:
                with self._used():
                    return await ask(await self.client())
            except (MCPError, ValidationError, RuntimeError) as error:
                if isinstance(error, MCPError) and self._is_lost(error):
                    await self.close()
                    if not is_last:
                        continue
                raise self._unreachable(f"cannot {what}: {self._shown(error)}") from self._secrets.cleaned(error)
        raise AssertionError

    async def _called(self, name: str, arguments: JSONObject, context: ToolContext[Any]) -> CallToolResult:
        client = await self.client()
        running = CallAnswers(context.input)
        is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        async with self._running_with_others(running, is_exclusive=context.input is not None and not is_modern):
            try:
                result = await self._exchanged(client, name, arguments, context)
            except (ValidationError, RuntimeError) as error:
                raise ToolFailed(
                    f"the server {self._server} sent an invalid result: {self._shown(error)}"
                ) from self._secrets.cleaned(error)
        if running.questions:
            raise running.required()
        return result

    @asynccontextmanager
    async def _running_with_others(self, running: CallAnswers, *, is_exclusive: bool) -> AsyncGenerator[None]:
        """Notes a call while it runs. An exclusive one runs beside no other: the user's answers to its questions must
        not answer those of another call, and the questions do not say whose they are.
        """
        while self._is_exclusive or (is_exclusive and self._running):
            await self._changed.wait()
        self._is_exclusive = is_exclusive
        self._running.append(running)
        try:
            yield
        finally:
            self._running.remove(running)
            self._is_exclusive = False
            self._notify_changed()

    def _notify_changed(self) -> None:
        """Wakes all who wait for a change of the running calls and their questions."""
        self._changed.set()
        self._changed = anyio.Event()

    async def _exchanged(
        self, client: Client, name: str, arguments: JSONObject, context: ToolContext[Any]
    ) -> CallToolResult:
        """Makes the call, and again while the server asks for it without a question."""
        from mcp_types import InputRequiredResult

        async def report(progress: float, total: float | None, message: str | None) -> None:
            context.progress(progress, total, message)

        given = context.input
        state, responses = None, None
        if given is not None and is_of_result(given):
            state, responses = request_state_of(given), responses_of(given)
        wait = _FIRST_WAIT_SECONDS
        for _ in range(_MOST_WAITS):
            try:
                result = await client.session.call_tool(
                    name,
                    dict(arguments),
                    progress_callback=report,
                    input_responses=responses,
                    request_state=state,
                    allow_input_required=True,
                )
            except MCPError as error:
                if error.code != INVALID_PARAMS or state is None:
                    raise
                responses = state = None  # it has expired: the server asks again
                continue
            if not isinstance(result, InputRequiredResult):
                return result
            if result.input_requests:
                raise input_required(result)
            responses, state = None, result.request_state
            await anyio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
        raise ToolFailed(f"the server {self._server} asked for the call again {_MOST_WAITS} times")

    @contextmanager
    def _used(self) -> Generator[None]:
        """Notes that somebody waits, so that the connection is not closed as an unused one."""
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1

    async def _listed(self, client: Client) -> Sequence[Tool]:
        is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not is_modern:
            self._is_watched = True  # a notification ends it
        tools: list[Tool] = []
        cursor, ttl, changes = None, None, self._changes
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            tools += page.tools
            ttl = page.ttl_ms if ttl is None else min(ttl, page.ttl_ms)
            cursor = page.next_cursor
            if cursor is None or len(tools) > _MOST_TOOLS:
                break
        if cursor is not None:
            raise ToolServerError(f"the server {self._server} lists tools without end: {len(tools):,} so far.")
        if changes == self._changes:  # else they have changed while they were listed: they are listed again
            self._fresh_until = time.monotonic() + (ttl or 0) / 1000
            self._tools = tools
        return tools

    @asynccontextmanager
    async def _connected(self, transport: Any) -> AsyncGenerator[Client]:
        client = Client(
            transport, mode=self._mode, message_handler=self._noticed, elicitation_callback=self._elicit, cache=None
        )
        async with client, anyio.create_task_group() as tasks:
            capabilities = client.server_capabilities.tools
            is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
            if is_modern and capabilities is not None and capabilities.list_changed:
                tasks.start_soon(self._watch, client)
            yield client
            tasks.cancel_scope.cancel()

    async def _watch(self, client: Client) -> None:
        """Listens for changes of the tools, so that they are listed once."""
        try:
            async with client.listen(tools_list_changed=True) as changes:
                self._is_watched = bool(changes.honored.tools_list_changed)
                async for _ in changes:
                    self._forget_tools()
        except (MCPError, RuntimeError, TimeoutError) as error:
            _log.debug("changes of the tools of %s are not announced: %s", self._server, self._shown(error))
        self._is_watched, self._tools = False, None

    async def _noticed(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._forget_tools()

    def _forget_tools(self) -> None:
        """Has the tools listed again by the next call."""
        self._tools = None
        self._changes += 1

    async def _elicit(self, context: Any, params: Any) -> ElicitResult | ErrorData:
        """Answers a question that a server asks while a call runs, as those before revision 2026-07-28 do.

        The call is suspended, and made again with the answer: the server learns that the question was dismissed. The
        question may be of any call that has none yet: it waits until the others have ended, or ask too.
        """
        self._asking += 1
        self._notify_changed()
        try:
            while len(self._without_questions()) > self._asking:
                await self._changed.wait()
            asking = self._without_questions() or self._running
            return asking[0].answer(params) if asking else ElicitResult(action="cancel")
        finally:
            self._asking -= 1
            self._notify_changed()

    def _without_questions(self) -> list[CallAnswers]:
        return [each for each in self._running if not each.questions]

    def _is_lost(self, error: MCPError) -> bool:
        return error.code == CONNECTION_CLOSED or self._notes.has_ended

    def _unreachable(self, problem: str) -> ToolServerError:
        error = ToolServerError(f"the MCP server {self._server} {problem}. {self._described()}".strip())
        error.server = self._server
        return error

    def _described(self) -> str:
        return self._secrets.text(self._notes.described())

    def _shown(self, error: BaseException) -> str:
        """Returns the message of the first error in groups of them, on one line."""
        while isinstance(error, BaseExceptionGroup):
            error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
        return one_line(self._secrets.text(_text(error)), 500)


def _text(error: BaseException) -> str:
    if isinstance(error, MCPError):
        return error.message
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str):
        return f"{error.strerror}: {error.filename!r}"
    return str(error) or type(error).__name__
