"""`MCPTools`: the tools of an MCP server, beside functions in `tools=[...]`."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from ..client.option_values import extra_headers
from ..client.services import default_services
from ..concurrency import drive
from ..concurrency.event_loops import LoopLocal
from ..errors import ConfigurationError, InvalidInputError, MissingExtraError, SchemaError, ToolServerError
from ..ports import ToolContext
from ..schema import CallWarning, ContentPart, JSONObject, Message, ToolCall, ToolSpec, ToolStep
from ..schema.quoting import shown
from ..schema.tools import check_labels
from ..scrubbing import Secrets, credentials_of
from ..tools import ServedTools, Tool, execute
from .addresses import ServerAddress
from .choices import ToolChoices, matches_any
from .connection_pool import ConnectionPool, Identity
from .definitions import Definition, Labels, definitions_of
from .pins import Pins

if TYPE_CHECKING:
    import httpx2
    from mcp.server import MCPServer, Server
    from mcp_types import Prompt, Resource
    from mcp_types import Tool as MCPTool

    from .connections import Connection

T = TypeVar("T")
Headers: TypeAlias = (
    "Mapping[str, str] | Callable[[Any], Mapping[str, str]] | Callable[[Any], Awaitable[Mapping[str, str]]]"
)
"""Headers of all requests, or a function, sync or async, of the `deps` of a call."""
Mode = Literal["auto", "legacy"]
"""Which revision of the protocol is spoken: the newest that the server knows, or one before 2026-07-28."""

_NOTHING_LISTED: tuple[Sequence[MCPTool] | None, Sequence[Definition], tuple[CallWarning, ...]] = (None, (), ())
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024


class MCPTools:
    """The tools of one MCP server; an item of `tools=[...]`. It connects when it is first used.

    Exactly one of these is given: `command`, the program and its arguments, for a server over standard input and
    output; `url`, for one over streamable HTTP; `server`, an `MCPServer` or `Server` of the SDK in this process.

    `env` is added to the environment of a command, which is otherwise minimal; `cwd` is its folder. `headers` are sent
    to a URL; as a function of the `deps` of a call they are computed for every request, and each result has a
    connection of its own. `auth` is an `httpx2.Auth`, such as the SDK's `OAuthClientProvider`.

    `name` is that of the server, by default from its command, URL or object. Without `required`, a server that cannot
    be reached is a warning, and tried again later. `defer` leaves its tools to tool search. `labels` say what they do
    with data, all or by pattern of their names. `pins` is a file that keeps the digests of their definitions.

    Connections belong to the event loop that uses them: sync calls share one. Raises `InvalidInputError` for arguments
    that do not fit, and `MissingExtraError` without the extra `mcp`.
    """

    def __init__(
        self,
        server: MCPServer | Server[Any] | None = None,
        *,
        command: Sequence[str] | None = None,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        headers: Headers | None = None,
        auth: httpx2.Auth | None = None,
        name: str | None = None,
        required: bool = True,
        defer: bool = False,
        labels: Labels | None = None,
        pins: str | os.PathLike[str] | None = None,
        mode: Mode = "auto",
        connect_timeout: float = 30.0,
        max_message_bytes: int = _MAX_MESSAGE_BYTES,
    ) -> None:
        self._address = ServerAddress.of(server, command, url, env, cwd, headers, auth)
        _check_headers(headers)
        _check_options(mode, required=required, defer=defer)
        for path, number in (("connect_timeout", connect_timeout), ("max_message_bytes", max_message_bytes)):
            if isinstance(number, bool) or not isinstance(number, int | float) or not number > 0:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidInputError(f"expected a number above 0, got {shown(number)}", path=path)
        if name is not None and not (isinstance(name, str) and name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected text, got {shown(name)}", path="name")
        if pins is not None and not isinstance(pins, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a path, got {shown(pins)}", path="pins")
        _check_labels(labels)
        _check_installed()
        self._headers = headers
        self._secrets = Secrets(credentials_of({"url": url, "env": env}))
        self._name = name or self._address.name
        self._required = required
        self._defer = defer
        self._labels = labels
        self._pins = Pins(self._name, pins)
        self._mode: Mode = mode
        self._connect_timeout = connect_timeout
        self._max_message_bytes = int(max_message_bytes)
        self._choices = ToolChoices()
        self._latest = _NOTHING_LISTED
        self._pools: LoopLocal[ConnectionPool] = LoopLocal(ConnectionPool, ConnectionPool.close)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, environment: Mapping[str, str] | None = None) -> list[MCPTools]:
        """Returns the servers of a configuration file in the form that desktop clients use, `mcp.json`.

        `${NAME}` in its texts is replaced by a variable of `environment`, by default that of this process. Raises
        `ConfigurationError` with the line of what is wrong.
        """
        from .config import servers_of

        return [cls._configured(given, path) for given in servers_of(path, environment or os.environ)]

    @classmethod
    def _configured(cls, given: dict[str, Any], path: str | os.PathLike[str]) -> MCPTools:
        only, without, prefix = (given.pop(name, None) for name in ("only", "without", "prefix"))
        try:
            made = cls(**given)
        except InvalidInputError as error:
            raise ConfigurationError(f"{os.fspath(path)}: the server {given['name']}: {error}") from None
        if only is not None:
            made = made.only(*only)
        return made.without(*without or ()).prefixed(prefix or "")

    @property
    def name(self) -> str:
        """The name of the server."""
        return self._name

    def only(self, *patterns: str) -> MCPTools:
        """Returns these tools without those whose names match none of the patterns, such as `"get_*"`.

        A pattern that matches no tool is a warning of the response. The connection is shared.
        """
        return self._choosing(only=_patterns(patterns))

    def without(self, *patterns: str) -> MCPTools:
        """Returns these tools without those whose names match one of the patterns; see `only`."""
        return self._choosing(without=(*self._choices.without, *_patterns(patterns)))

    def prefixed(self, prefix: str) -> MCPTools:
        """Returns these tools with a prefix before the names that the model is given."""
        return self._choosing(prefix=prefix + self._choices.prefix)

    async def served_tools(self, deps: object) -> ServedTools:
        """Returns the tools that are offered to a call with `deps`; raises `ToolServerError` if it is `required`."""
        pool, identity = self._pools.get(), await self._identity(deps)
        failure = pool.failure(identity)
        if failure is not None:
            return ServedTools(warnings=(self._left_out(failure),))
        try:
            tools = await (await self._connection(identity)).tools()
        except ToolServerError as error:
            if self._required:
                raise
            pool.note_failure(identity, error)
            return ServedTools(warnings=(self._left_out(error),))
        chosen, warnings = self._chosen(tools)
        return ServedTools(tuple(self._tool(each) for each in chosen), warnings)

    def list_tools(self) -> list[ToolSpec]:
        """Returns the tools as the model would be given them; raises `ToolServerError`."""
        return _in_sync(self.alist_tools)

    async def alist_tools(self) -> list[ToolSpec]:
        """Returns the tools as the model would be given them; raises `ToolServerError`."""
        return [tool.spec for tool in (await self.served_tools(None)).tools]

    def call(self, name: str, arguments: JSONObject | None = None, *, deps: object = None) -> ToolStep:
        """Calls one tool without a model, and returns its step; raises as `acall` does."""
        return _in_sync(self._called, name, arguments, deps)

    async def acall(self, name: str, arguments: JSONObject | None = None, *, deps: object = None) -> ToolStep:
        """Calls one tool without a model, and returns its step: what a loop would have.

        Raises `ToolServerError` if the server cannot be reached, and `InputRequired` if it asks the user.
        """
        return await self._called(name, arguments, deps)

    async def _called(self, name: str, arguments: JSONObject | None, deps: object) -> ToolStep:
        runtime = default_services().async_runtime
        tools = {tool.name: tool for tool in (await self.served_tools(deps)).tools}
        call = ToolCall.of("call", name, arguments or {})
        context = ToolContext(deps, None, call, "", runtime)
        return await execute(tools.get(name), call, context, runtime, known=tools)

    def resources(self) -> list[Resource]:
        """Returns what the server has to be read; raises `ToolServerError`."""
        return _in_sync(self.aresources)

    async def aresources(self) -> list[Resource]:
        """Returns what the server has to be read; raises `ToolServerError`."""
        return await (await self._connection_for(None)).resources()

    def resource(self, uri: str) -> list[ContentPart]:
        """Returns the content of a resource, for `media=[...]`; raises `ToolServerError`."""
        return _in_sync(self.aresource, uri)

    async def aresource(self, uri: str) -> list[ContentPart]:
        """Returns the content of a resource, for `media=[...]`; raises `ToolServerError`."""
        return await (await self._connection_for(None)).resource(uri)

    def prompts(self) -> list[Prompt]:
        """Returns the prompts of the server; raises `ToolServerError`."""
        return _in_sync(self.aprompts)

    async def aprompts(self) -> list[Prompt]:
        """Returns the prompts of the server; raises `ToolServerError`."""
        return await (await self._connection_for(None)).prompts()

    def prompt(self, name: str, /, **arguments: str) -> list[Message]:
        """Returns the messages of a prompt, for `messages=[...]`; raises `ToolServerError`."""
        return _in_sync(self.aprompt, name, arguments)

    async def aprompt(self, name: str, arguments: Mapping[str, str] | None = None, /, **more: str) -> list[Message]:
        """Returns the messages of a prompt, for `messages=[...]`; raises `ToolServerError`."""
        return await (await self._connection_for(None)).prompt(name, {**(arguments or {}), **more})

    def close(self) -> None:
        """Ends the connections of sync calls; the next use connects again."""
        _in_sync(self.aclose)

    async def aclose(self) -> None:
        """Ends the connections of the running event loop; the next use connects again."""
        await self._pools.close()

    def __enter__(self) -> MCPTools:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> MCPTools:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<MCPTools {self._name}>"

    def _choosing(self, **changes: Any) -> MCPTools:
        made = copy.copy(self)
        made._latest = _NOTHING_LISTED
        made._choices = replace(self._choices, **changes)
        return made

    def _chosen(self, tools: Sequence[MCPTool]) -> tuple[Sequence[Definition], tuple[CallWarning, ...]]:
        """Returns the definitions of the tools that are offered, with warnings; read once for each listing."""
        listing, chosen, warnings = self._latest
        if listing is not tools:
            definitions, problems = definitions_of(tools, self._name, self._labels, defer=self._defer)
            chosen, unmatched = self._choices.chosen(definitions, self._name)
            warnings = (*problems, *unmatched, *self._unused_labels(definitions))
            self._latest = tools, chosen, warnings
        return chosen, warnings

    def _tool(self, definition: Definition) -> Tool[..., Any]:
        """Returns a tool that calls the server."""

        async def run(call: ToolCall, context: ToolContext[Any]) -> Any:
            from .results import output_of

            if not is_trusted:  # a call of it was allowed
                self._pins.pin(definition)
            connection = await self._connection_for(context.deps)
            spec, arguments = definition.spec, call.arguments or {}
            repeatable = spec.read_only or spec.idempotent
            return output_of(await connection.call(definition.name, arguments, context, repeatable=repeatable), call.id)

        is_trusted = self._pins.trusts(definition)
        run.__qualname__ = f"{self._name}.{definition.name}"
        tool = Tool[..., Any].of(definition.spec, run, is_trusted=is_trusted)
        return tool.renamed(self._choices.prefix + tool.name) if self._choices.prefix else tool

    async def _connection_for(self, deps: object) -> Connection:
        return await self._connection(await self._identity(deps))

    async def _connection(self, identity: Identity) -> Connection:
        return await self._pools.get().get(identity, lambda: self._new_connection(dict(identity)))

    def _new_connection(self, headers: Mapping[str, str]) -> Connection:
        from .connections import Connection

        longest = self._max_message_bytes
        return Connection(
            self._name,
            lambda: self._address.opened(headers, longest),
            self._mode,
            self._connect_timeout,
            self._secrets.and_those_in(headers),
        )

    async def _identity(self, deps: object) -> Identity:
        """Returns the headers of a call, sorted."""
        given: Any = self._headers
        if callable(given):
            given = given(deps)
            if inspect.isawaitable(given):
                given = await given
        if given is None:
            return ()
        return tuple(sorted(extra_headers(given).items()))

    def _unused_labels(self, definitions: Sequence[Definition]) -> list[CallWarning]:
        if not isinstance(self._labels, Mapping):
            return []
        names = [definition.name for definition in definitions]
        unused = [pattern for pattern in self._labels if not matches_any(names, pattern)]
        message = "labels[{}] matches no tool of the server " + self._name
        return [CallWarning("no_tool_matches", f"tools.{self._name}", message.format(shown(each))) for each in unused]

    def _left_out(self, error: ToolServerError) -> CallWarning:
        message = f"{error.message} Its tools are left out until it can be reached."
        return CallWarning("tool_server_failed", f"tools.{self._name}", message)


def _in_sync(function: Callable[..., Coroutine[Any, Any, T]], *arguments: object) -> T:
    """Returns what an async function returns, run in the event loop of sync calls."""
    return drive(default_services().sync_runtime.invoke(function, *arguments))


def _check_headers(headers: object) -> None:
    if headers is not None and not isinstance(headers, Mapping) and not callable(headers):
        raise InvalidInputError(f"expected a mapping or a function, got {shown(headers)}", path="headers")


def _check_options(mode: object, **flags: object) -> None:
    if mode not in ("auto", "legacy"):
        raise InvalidInputError(f"expected 'auto' or 'legacy', got {shown(mode)}", path="mode")
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidInputError(f"expected True or False, got {shown(value)}", path=name)


def _check_labels(labels: Labels | None) -> None:
    if isinstance(labels, str):
        raise InvalidInputError(f"expected labels, got {shown(labels)}", path="labels")
    given = labels.values() if isinstance(labels, Mapping) else [] if labels is None else [labels]
    for each in given:
        try:
            check_labels(tuple(each) if isinstance(each, list | tuple) else each)
        except SchemaError as error:
            raise InvalidInputError(str(error), path="labels") from None


def _check_installed() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise MissingExtraError(
            "MCP servers require mcp, which is not installed.", hint="Install with: pip install mcp (the extra 'mcp')."
        )


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for index, pattern in enumerate(patterns):
        if not isinstance(pattern, str) or not pattern:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a pattern of names, got {shown(pattern)}", path=f"patterns[{index}]")
    return patterns
