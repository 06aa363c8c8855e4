"""`MCPConnection`: a client of one server, connected when first used, and again after it was lost."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import anyio
from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ..concurrency.owned_contexts import NotEnteredError, OwnedContext
from ..errors import ToolFailed, ToolServerError
from ..ports import ToolContext
from ..schema import ContentPart, JSONObject, Message
from ..schema.base_error import one_line
from ..scrubbing import Secrets
from .inputs import CallAnswers, RunningCalls, input_required, is_of_result, request_state_of, responses_of
from .listing import MOST_LISTED, ListedTools, ToolListing

if TYPE_CHECKING:
    from mcp_types import (
        CallToolResult,
        CreateMessageResult,
        ElicitResult,
        InputRequiredResult,
        InputResponses,
        Prompt,
        Resource,
    )

    from .sampling import Sampler

T = TypeVar("T")
_log = logging.getLogger("abstractcore")
for _logger in ("mcp", "client"):  # the SDK's, which would print tracebacks on stderr where no logging is set up
    logging.getLogger(_logger).addHandler(logging.NullHandler())
IDEMPOTENCY_KEY = "idempotencyKey"
"""The member of `_meta` with `ToolContext.idempotency_key`: MCP has no field for it."""
_MOST_PAGES = 100
_MOST_WAITS = 20
_FIRST_WAIT_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 2.0
_MOST_SAMPLED_AT_ONCE = 4


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


@dataclass(frozen=True, slots=True, eq=False)
class _Link:
    """A client of the server until it is lost: a later one is another link."""

    owned: OwnedContext[Client]
    notes: TransportNotes
    listing: ToolListing

    @property
    def has_ended(self) -> bool:
        return self.owned.has_ended or self.notes.has_ended


class MCPConnection:
    """A client of one server in one event loop, with one identity (its headers).

    `open` returns a new transport, or a server object of the SDK, with what is known of it. `secrets` are removed from
    errors, which may quote what the server was sent, or printed; without `quotes_output` the log has what it printed.
    Without a `sampler` sampling is not offered.
    """

    def __init__(
        self,
        server: str,
        open: Callable[[], tuple[Any, TransportNotes]],
        mode: str,
        connect_timeout: float,
        secrets: Secrets | None = None,
        sampler: Sampler | None = None,
        *,
        quotes_output: bool = True,
    ) -> None:
        self._server = server
        self._quotes_output = quotes_output
        self._open = open
        self._secrets = Secrets() if secrets is None else secrets
        self._mode = mode
        self._connect_timeout = connect_timeout
        self._sampler = sampler
        self._sampling = anyio.CapacityLimiter(_MOST_SAMPLED_AT_ONCE)
        self._link: _Link | None = None
        self._running = RunningCalls()
        self._uses = 0
        self._is_closed = False

    @property
    def is_idle(self) -> bool:
        """Whether no call or other request runs."""
        return not self._uses

    @contextmanager
    def _note_use(self) -> Generator[None]:
        """Notes a request while it runs."""
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1

    async def close(self) -> None:
        """Ends the connection for good: nothing connects it again."""
        self._is_closed = True
        if self._link is not None:
            await self._end(self._link)

    async def tools(self) -> ListedTools:
        """Returns the tools of the server, listed again when they may have changed; raises `ToolServerError`."""
        link, _ = await self._link_and_client()
        if link.listing.known is not None:
            return link.listing.known
        try:
            with anyio.fail_after(self._connect_timeout):
                return await self._ask("list its tools", lambda link, client: link.listing.tools(client))
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
            link, client = await self._link_and_client()
            try:
                with self._note_use():
                    return await self._call(client, name, arguments, context)
            except (MCPError, ValidationError, RuntimeError) as error:
                if not self._is_lost(link, error):
                    is_refused = isinstance(error, MCPError) and error.code != PARSE_ERROR
                    what = "refused the call" if is_refused else "sent an invalid result"
                    problem = f"the server {self._server} {what}: {self._error_text(error)}"
                    raise ToolFailed(problem) from self._secrets.cleaned(error)
                await self._end(link)
                is_handled = not isinstance(error, MCPError) or error.code == CONNECTION_CLOSED
                if is_last or (is_handled and not repeatable):
                    problem = f"the server {self._server} was lost while the call ran; it may have taken effect"
                    described = self._description(link.notes)
                    raise ToolFailed(f"{problem}. {described}".strip()) from self._secrets.cleaned(error)
        raise AssertionError

    async def resources(self) -> list[Resource]:
        """Returns the resources of the server; raises `ToolServerError`."""
        return await self._all_pages("resources", lambda client, cursor: client.list_resources(cursor=cursor))

    async def prompts(self) -> list[Prompt]:
        """Returns the prompts of the server; raises `ToolServerError`."""
        return await self._all_pages("prompts", lambda client, cursor: client.list_prompts(cursor=cursor))

    async def resource(self, uri: str) -> list[ContentPart]:
        """Returns the content of a resource as files; raises `ToolServerError`."""
        from .sampling import resource_part

        result = await self._ask(f"read {one_line(uri)}", lambda _, client: client.read_resource(uri))
        return [resource_part(contents) for contents in result.contents]

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> list[Message]:
        """Returns the messages of a prompt; raises `ToolServerError`."""
        from .sampling import content_of

        what = f"give {one_line(name)}"
        result = await self._ask(what, lambda _, client: client.get_prompt(name, dict(arguments)))
        return [Message(each.role, content_of([each.content])) for each in result.messages]

    async def _all_pages(self, kind: str, page: Callable[[Client, str | None], Awaitable[Any]]) -> list[Any]:
        """Returns the items of all pages of a list; none if the server does not declare that it has such."""
        items: list[Any] = []
        _, client = await self._link_and_client()
        if getattr(client.server_capabilities, kind) is None:
            return items
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            at = cursor
            result = await self._ask(f"list its {kind}", lambda _, client, at=at: page(client, at))
            items += getattr(result, kind)
            if len(items) > MOST_LISTED:
                raise self._unreachable(f"lists more than {MOST_LISTED:,} {kind}")
            cursor = result.next_cursor
            if cursor is None:
                return items
        raise self._unreachable(f"lists {kind} without end: {len(items):,} so far")

    async def _link_and_client(self) -> tuple[_Link, Client]:
        """Returns the link to the server and its client, connected if there is none; raises `ToolServerError`."""
        if self._link is not None and self._link.has_ended:
            await self._end(self._link)
        if self._is_closed:
            raise self._unreachable("is no longer connected: it was closed")
        link = self._link
        if link is None:
            transport, notes = self._open()
            listing = ToolListing(self._server, self._error_text)
            owned = OwnedContext(partial(self._client, transport, listing), self._connect_timeout)
            link = self._link = _Link(owned, notes, listing)
        try:
            return link, await link.owned.value()
        except NotEnteredError as given_up:
            late = f"did not answer in {self._connect_timeout:g} s"
            problem = late if given_up.timed_out else "was closed before it answered"
            error = self._unreachable(problem, link)
            await self._end(link)
            raise error from None
        except Exception as error:
            problem = f"cannot be reached: {self._error_text(error)}"
            raise self._unreachable(problem, link) from self._secrets.cleaned(error)

    async def _end(self, link: _Link) -> None:
        """Ends a link; the next use makes a new one, which a caller that lost the earlier one does not end."""
        if self._link is link:
            self._link = None
        await link.owned.leave()

    async def _ask(self, what: str, ask: Callable[[_Link, Client], Awaitable[T]]) -> T:
        for is_last in (False, True):
            link, client = await self._link_and_client()
            try:
                with self._note_use():
                    return await ask(link, client)
            except (MCPError, ValidationError, RuntimeError) as error:
                if self._is_lost(link, error):
                    await self._end(link)
                    if not is_last:
                        continue
                problem = f"cannot {what}: {self._error_text(error)}"
                raise self._unreachable(problem, link) from self._secrets.cleaned(error)
        raise AssertionError

    async def _call(
        self, client: Client, name: str, arguments: JSONObject, context: ToolContext[Any]
    ) -> CallToolResult:
        running = CallAnswers(context.input)
        is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        async with self._running.with_others(running, is_exclusive=context.input is not None and not is_modern):
            result = await self._exchange(client, name, arguments, context)
        if running.questions:
            raise running.required()
        return result

    async def _exchange(
        self, client: Client, name: str, arguments: JSONObject, context: ToolContext[Any]
    ) -> CallToolResult:
        """Makes the call, and again while the server asks for it without a question."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            context.progress(progress, total, message)

        given = context.input
        state: str | None = None
        responses: InputResponses | None = None
        if given is not None and is_of_result(given):
            state, responses = request_state_of(given), responses_of(given)
        wait = _FIRST_WAIT_SECONDS
        for _ in range(_MOST_WAITS):
            try:
                result = await client.session.call_tool(
                    name,
                    dict(arguments),
                    progress_callback=report,
                    meta={IDEMPOTENCY_KEY: context.idempotency_key},
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
            sampled = await self._sample_all(result)
            if len(sampled) < len(result.input_requests or ()):
                raise input_required(result, sampled)
            responses, state = {**sampled} or None, result.request_state
            if responses is None:
                await anyio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
        raise ToolFailed(f"the server {self._server} asked for the call again {_MOST_WAITS} times")

    @asynccontextmanager
    async def _client(self, transport: Any, listing: ToolListing) -> AsyncGenerator[Client]:
        client = Client(
            transport,
            mode=self._mode,
            message_handler=listing.receive,
            elicitation_callback=self._elicit,
            sampling_callback=None if self._sampler is None else self._sample,
            cache=None,
        )
        async with client, anyio.create_task_group() as tasks:
            tasks.start_soon(listing.watch, client)
            yield client
            tasks.cancel_scope.cancel()

    async def _elicit(self, context: Any, params: Any) -> ElicitResult:
        """Answers a question that a server before revision 2026-07-28 asks while a call runs."""
        return await self._running.answer(params)

    async def _sample(self, context: Any, params: Any) -> CreateMessageResult | ErrorData:
        """Answers a sampling request: while somebody uses the server, since it costs money."""
        if self._sampler is None or self.is_idle:
            return ErrorData(code=INVALID_REQUEST, message="sampling is offered while a request runs")
        async with self._sampling:
            return await self._sampler.answer(params, self._error_text)

    async def _sample_all(self, result: InputRequiredResult) -> dict[str, CreateMessageResult]:
        """Returns the answers to the sampling requests of a result, by key; raises `ToolFailed` if one has none."""
        sampled: dict[str, CreateMessageResult] = {}
        for key, request in (result.input_requests or {}).items():
            if request.method == "sampling/createMessage" and self._sampler is not None:
                answer = await self._sample(None, request.params)
                if isinstance(answer, ErrorData):
                    raise ToolFailed(f"the server {self._server} asks for an answer of a model: {answer.message}")
                sampled[key] = answer
        return sampled

    def _is_lost(self, link: _Link, error: BaseException) -> bool:
        """Returns whether a link ended, which another call may have noticed before."""
        if isinstance(error, MCPError):
            return error.code == CONNECTION_CLOSED or link.notes.has_ended
        return isinstance(error, RuntimeError) and link is not self._link

    def _unreachable(self, problem: str, link: _Link | None = None) -> ToolServerError:
        link = link or self._link
        described = "" if link is None else self._description(link.notes)
        error = ToolServerError(f"the MCP server {self._server} {problem}. {described}".strip())
        error.server = self._server
        return error

    def _description(self, notes: TransportNotes) -> str:
        text = self._secrets.text(notes.described())
        if text and not self._quotes_output:
            _log.warning("the MCP server %s: %s", self._server, text)
            return ""
        return text

    def _error_text(self, error: BaseException) -> str:
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
