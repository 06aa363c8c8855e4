"""`ApprovedToolCalls`: the results of calls that a client has approved, each of which runs once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from abstractcore.concurrency import AsyncRuntime, is_large, off_loop
from abstractcore.configuration import Problems
from abstractcore.errors import InvalidInputError, MissingExtraError, ServerError, ToolFailed, ToolServerError
from abstractcore.mcp import expanded
from abstractcore.ports import ToolContext
from abstractcore.schema import CallWarning, PendingCall, TextPart, ToolAnswer, ToolCall, ToolResult
from abstractcore.tools import ServedTools, Tool, content_of, shortened

from ..access.admission import Grant
from ..configuration.settings import ApprovalRule, MCPSettings, matches
from ..failures import RequestRefused
from ..stored_state import StoredState

if TYPE_CHECKING:
    from abstractcore.mcp import MCPTools

    from ..configuration.settings import Settings
    from ..store.approved_calls import BegunCall


class ApprovedToolCalls:
    """The calls of all processes with the same store. A client that retries sends its answer again: the call is not run
    again, and has the result of the first time. `owner` is whose call it is: clients choose the ids of items that they
    send.
    """

    def __init__(self, stored: StoredState) -> None:
        self._stored = stored
        self._saving: set[asyncio.Task[None]] = set()

    async def answers(self, owner: str, approved: Sequence[tuple[str, PendingCall]]) -> list[ToolAnswer]:
        """Returns how calls go on, each with the id of the item that asked about it: they may run, or have a result.

        Raises `InvalidInputError` for one that has begun before, and has no result: then no other one may run either.
        Raises `RequestRefused` while the database is down.
        """
        await self.wait_until_saved()
        ids = [_digest(owner, request, pending.call) for request, pending in approved]
        begun = await self._stored.run(lambda tables: tables.approved_calls.begin({*ids}))
        return [_answer(request, pending, begun.get(id)) for id, (request, pending) in zip(ids, approved, strict=True)]

    def keep(self, owner: str, request: str, call: ToolCall, result: ToolResult) -> None:
        """Begins to save the text of the result of a call that has run: files would take too much room."""
        texts = [part.text for part in result.content if isinstance(part, TextPart)]
        data: dict[str, object] = {"texts": texts, "is_error": result.is_error}
        saving = asyncio.create_task(self._save(_digest(owner, request, call), data))
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)

    async def _save(self, id: str, data: dict[str, object]) -> None:
        with suppress(RequestRefused):  # of a database that is down, which was logged: no result will be known
            await self._stored.run(lambda tables: tables.approved_calls.end(id, data))

    async def wait_until_saved(self) -> None:
        """Waits until all results are saved."""
        if self._saving:
            await asyncio.wait([*self._saving])


def _answer(request: str, pending: PendingCall, begun: BegunCall | None) -> ToolAnswer:
    if begun is None:
        return pending.allow()
    if begun.result is None:
        problem = f"the call of {request[:100]!r} has begun before, and no result is known: it may have taken effect"
        raise InvalidInputError(problem, path="input")
    return pending.result(*map(TextPart, begun.result["texts"]), is_error=begun.result["is_error"])


def _digest(owner: str, request: str, call: ToolCall) -> str:
    return hashlib.sha256(json.dumps([owner, request, call.name, call.arguments_text]).encode()).hexdigest()


_log = logging.getLogger("abstractcore.server")


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of the server `server`, with the `name` that the server gives it, and the rule for its calls."""

    server: str
    name: str
    tool: Tool[..., Any]
    rule: ApprovalRule


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of one server that may be called, with warnings; `error` is the reason if there are none."""

    server: str
    tools: tuple[ServerTool, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    error: str | None = None


class MCPServers:
    """Starts or connects a server when its tools are first used. `environment` has the variables that the configuration
    names. `approved` are the calls that clients have approved, also before the configuration was read again.
    """

    def __init__(
        self, settings: Settings, environment: Mapping[str, str], approved: ApprovedToolCalls | None = None
    ) -> None:
        self.approved = approved or ApprovedToolCalls(StoredState(None, settings.limits.stored_seconds))
        self._settings = settings
        self._environment = environment
        self._made: dict[str, MCPTools] = {}
        self._latest: dict[str, tuple[ServedTools, Listing]] = {}
        """The last listing of each server, and what it was made of."""
        self._running: dict[str, asyncio.Task[Listing]] = {}
        """The servers that are being asked for their tools."""
        self._runtime = AsyncRuntime()
        self._uses = 0
        self._is_retired = False

    def check(self) -> None:
        """Raises `ConfigurationError`, with their lines, for all servers that cannot be used. Starts none."""
        problems = Problems()
        for name in self._settings.mcp:
            try:
                self._tools(name)
            except (InvalidInputError, MissingExtraError) as error:
                problems.add(self._settings.error(error.message, "mcp", name, hint=error.hint))
        problems.check()

    def try_all(self) -> None:
        """Starts all servers, lists their tools, and ends them; raises `ConfigurationError` for one that fails."""
        asyncio.run(self._try_all())

    async def _try_all(self) -> None:
        try:
            for name in self._settings.mcp:
                try:
                    await self._tools(name).served_tools(None)
                except ToolServerError as error:
                    raise self._settings.error(error.message, "mcp", name) from None
        finally:
            await self.close()

    def names_for(self, grant: Grant, models: Sequence[str]) -> list[str]:
        """Returns the names of the servers that a client may use with a model, which has several names."""
        return [name for name, each in self._settings.mcp.items() if each.is_for(grant.key_id, models)]

    def attached_to(self, grant: Grant, models: Sequence[str]) -> list[str]:
        """Returns the names of the servers whose tools every call of a model gets."""
        servers = self._settings.mcp
        return [name for name in self.names_for(grant, models) if matches(models, servers[name].attached)]

    async def listings(self, names: Sequence[str]) -> list[Listing]:
        """Returns the tools of servers, which are asked at once. Raises `RequestRefused` for a required one that cannot
        be reached.
        """
        return list(await asyncio.gather(*map(self._listing, names)))

    async def _listing(self, name: str) -> Listing:
        """Returns the tools of a server; requests at the same time share the work, which goes on without them."""
        running = self._running.get(name)
        if running is None:
            running = self._running[name] = asyncio.create_task(self._ask(name))
            running.add_done_callback(lambda task: self._forget_task(name, task))
        return await asyncio.shield(running)

    def _forget_task(self, name: str, task: asyncio.Task[Listing]) -> None:
        del self._running[name]
        if not task.cancelled():
            task.exception()  # its requests may have been cancelled: nobody else reads it

    async def _ask(self, name: str) -> Listing:
        settings = self._settings.mcp[name]
        source = self._tools(name)
        if name not in self._latest:
            await asyncio.to_thread(import_module, "abstractcore.mcp.connections")  # the SDK takes a second
        try:
            async with self.keep_running():
                served = await source.served_tools(None)
        except ToolServerError as error:
            _log.warning("%s", error.message)
            problem = f"the MCP server {name!r} cannot be used at the moment"
            if settings.required:
                raise RequestRefused(502, ServerError(f"{problem}; the log of this server has the reason")) from None
            return Listing(name, warnings=(CallWarning("tool_server_failed", f"tools.{name}", problem),), error=problem)
        made_of, listing = self._latest.get(name, (None, None))
        if listing is None or made_of != served:
            listing = await off_loop(self._runtime, is_large(served.tools), self._list_tools, name, settings, served)
            self._latest[name] = served, listing
        return listing

    def _list_tools(self, name: str, settings: MCPSettings, served: ServedTools) -> Listing:
        offered = (tool for tool in served.tools if _rule(settings, tool) != "deny")
        tools = (ServerTool(name, tool.name, self._bound(name, tool), _rule(settings, tool)) for tool in offered)
        return Listing(name, tuple(tools), served.warnings)

    @asynccontextmanager
    async def keep_running(self) -> AsyncGenerator[None]:
        """In its body, servers that were retired go on."""
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1
            await self._close_if_unused()

    async def retire(self) -> None:
        """Ends the servers as soon as no call uses them: others have taken their place."""
        self._is_retired = True
        await self._close_if_unused()

    async def _close_if_unused(self) -> None:
        if self._is_retired and not self._uses:
            await self.close()

    async def close(self) -> None:
        """Ends all servers."""
        await asyncio.gather(*(each.aclose() for each in self._made.values()))

    def _tools(self, name: str) -> MCPTools:
        """Returns the tools of a server, which is not connected yet; raises `InvalidInputError`."""
        if name not in self._made:
            self._made[name] = self._new(name, self._settings.mcp[name])
        return self._made[name]

    def _new(self, name: str, settings: MCPSettings) -> MCPTools:
        from abstractcore.mcp import MCPTools

        options: dict[str, Any] = {}
        if settings.command is not None:
            options["command"] = [settings.command, *map(self._expand, settings.args)]
            options["env"] = {key: self._expand(value) for key, value in settings.env.items()}
            options["cwd"] = settings.cwd
        else:
            options["url"] = self._expand(settings.url or "")
            options["headers"] = {key: self._expand(value) for key, value in settings.headers.items()}
        most = self._settings.limits.tool_message_bytes
        tools = MCPTools(name=name, connect_timeout=settings.connect_seconds, max_message_bytes=most, **options)
        tools.quotes_output = False  # what programs print is for the log, not for clients
        if settings.only:
            tools = tools.only(*settings.only)
        return tools.without(*settings.without)

    def _expand(self, text: str) -> str:
        try:
            return expanded(text, self._environment)
        except TypeError as error:
            raise InvalidInputError(str(error)) from None

    def _bound(self, server: str, tool: Tool[..., Any]) -> Tool[..., Any]:
        """Returns a tool whose text is shortened, and whose errors have nothing of this machine."""
        most = self._settings.limits.tool_result_chars

        async def run(call: ToolCall, context: ToolContext[Any]) -> ToolResult:
            try:
                content = content_of(await tool.function(call, context))
            except ToolServerError as error:
                _log.warning("%s", error.message)
                raise ToolFailed(f"the server {server} cannot be reached") from None
            texts = [part.text for part in content.parts if isinstance(part, TextPart)]
            parts = content.parts
            if sum(map(len, texts)) > most:
                media = (part for part in parts if not isinstance(part, TextPart))
                parts = (TextPart(shortened("\n".join(texts), most)), *media)
            return ToolResult(call.id, parts, content.is_error)

        run.__qualname__ = f"{server}.{tool.name}"
        return Tool[..., Any].of(tool.spec, run, is_trusted=tool.is_trusted)


def _rule(settings: MCPSettings, tool: Tool[..., Any]) -> ApprovalRule:
    """Returns the rule for a tool: one whose definition has changed since it was first seen needs approval."""
    rule = settings.rule(tool.name)
    return "always" if rule == "never" and not tool.is_trusted else rule
