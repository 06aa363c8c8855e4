"""`MCPTools`: the tools of an MCP server, beside functions in `tools=[...]`.

`ToolPatterns`: which tools of a server are offered, and under which names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from ..copying import with_same_attributes
from ..errors import InvalidInputError, MissingExtraError
from ..lazy_modules import LazyModule
from ..ports import ToolContext
from ..schema import CallWarning, ContentPart, Message, ToolCall
from ..schema.base_error import install_hint, shown
from ..scrubbing import Secrets
from ..tools import Tool, ToolOutput
from ..tools.names import checks_option_names
from ..toolservers import Definition, Headers, Labels, Prices, ToolServerBase, unused_patterns
from ..toolservers.base import check_flag, check_positive, in_sync, off_loop
from .addresses import ServerAddress


class HasName(Protocol):
    """Something with a name, such as the definition of a tool."""

    @property
    def name(self) -> str:
        """The name."""
        ...


T = TypeVar("T", bound=HasName)


@dataclass(frozen=True, slots=True)
class ToolPatterns:
    """Patterns of names, in which `*` is any text and `?` one character. `only` is None for all tools."""

    only: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    prefix: str = ""

    def choose(self, tools: Iterable[T], server: str) -> tuple[list[T], list[CallWarning]]:
        """Returns the tools that are offered, in their order, and a warning for each pattern that matches nothing."""
        given = list(tools)
        kept = [tool for tool in given if self._includes(tool.name)]
        names = [tool.name for tool in given]
        patterns = [("only", each) for each in self.only or ()] + [("without", each) for each in self.without]
        return kept, [
            _no_match_warning(server, how, each, names) for how, each in patterns if not matches_any(names, each)
        ]

    def _includes(self, name: str) -> bool:
        included = self.only is None or any(fnmatchcase(name, pattern) for pattern in self.only)
        return included and not any(fnmatchcase(name, pattern) for pattern in self.without)


def matches_any(names: Iterable[str], pattern: str) -> bool:
    """Returns whether the pattern matches one of the names."""
    return any(fnmatchcase(name, pattern) for name in names)


def _no_match_warning(server: str, how: str, pattern: str, names: Sequence[str]) -> CallWarning:
    some = ", ".join(names[:20]) or "none"
    message = f"{how}({shown(pattern)}) matches no tool of the server {server}. Its tools are: {some}"
    return CallWarning("no_tool_matches", f"tools.{server}", message)


if TYPE_CHECKING:
    import httpx2
    import mcp_types
    from mcp import server as mcp_server

    from . import connections
    from . import listing as listings
    from . import sampling as samplers
    from .listing import ListedTools
else:
    connections = LazyModule("abstractcore.mcp.connections")
    httpx2 = LazyModule("httpx2")
    listings = LazyModule("abstractcore.mcp.listing")
    mcp_server = LazyModule("mcp.server")
    mcp_types = LazyModule("mcp_types")
    samplers = LazyModule("abstractcore.mcp.sampling")

Mode = Literal["auto", "legacy"]
"""Which revision of the protocol is spoken: the newest that the server knows, or one before 2026-07-28."""

_NOTHING_LISTED: tuple[ListedTools | None, Sequence[Definition], tuple[CallWarning, ...]] = (None, (), ())
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024


@checks_option_names
class MCPTools(ToolServerBase["connections.MCPConnection"]):
    """The tools of one MCP server; an item of `tools=[...]`. It connects when it is first used.

    Exactly one of these is given: `command`, the program and its arguments, for a server over standard input and
    output; `url`, for one over streamable HTTP; `server`, an `MCPServer` or `Server` of the SDK in this process.

    `env` is added to the environment of a command, which is otherwise minimal; `cwd` is its folder. `headers` are sent
    to a URL; as a function of the `deps` of a call they are computed for every request, and each result has a
    connection of its own. `auth` is an `httpx2.Auth`, such as the SDK's `OAuthClientProvider`.

    `name` is that of the server, by default from its command, URL or object. Without `required`, a server that cannot
    be reached is a warning, and tried again later. `defer` leaves its tools to tool search. `labels` say what they do
    with data, all or by pattern of their names. `pins` is a file that keeps the digests of their definitions.
    `price` is what a run costs in US dollars, of all tools or by pattern of their names: it is added to the cost of
    the response. `sampling` answers what the server asks of a model while a request runs: an LLM, or a function of a
    `SamplingRequest` that returns a text or a response. Without it the server is not offered any.

    Connections belong to the event loop that uses them: sync calls share one. Raises `InvalidInputError` for arguments
    that do not fit, and `MissingExtraError` without the extra `mcp`. `mode` is which revision of the protocol is
    spoken: "auto", the newest that the server knows, or "legacy", one before 2026-07-28. `connect_timeout` is in
    seconds, `max_message_bytes` the size of the longest message that is read.
    """

    def __init__(
        self,
        server: mcp_server.MCPServer | mcp_server.Server[Any] | None = None,
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
        sampling: samplers.SamplingModel | None = None,
        price: Prices | None = None,
    ) -> None:
        self._address = ServerAddress.of(server, command, url, env, cwd, headers, auth)
        if mode not in ("auto", "legacy"):
            raise InvalidInputError(f"expected 'auto' or 'legacy', got {shown(mode)}", path="mode")
        check_flag("defer", defer)
        check_positive("connect_timeout", connect_timeout)
        check_positive("max_message_bytes", max_message_bytes)
        super().__init__(
            self._address.name if name is None else name,
            headers=headers,
            required=required,
            labels=labels,
            pins=pins,
            credentials={"url": url, "env": env},
            price=price,
        )
        _check_installed()
        self._defer = defer
        self._mode: Mode = mode
        self._connect_timeout = connect_timeout
        self._max_message_bytes = int(max_message_bytes)
        self._sampler = _sampler(sampling, self._name)
        self._choices = ToolPatterns()
        self._latest = _NOTHING_LISTED
        self.quotes_output = True
        """Whether errors quote the last lines that a program printed; if not, they are logged."""

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, environment: Mapping[str, str] | None = None) -> list[MCPTools]:
        """Returns the servers of a configuration file in the form that desktop clients use, `mcp.json`.

        `${NAME}` in its texts is replaced by a variable of `environment`, by default that of this process. Raises
        `ConfigurationError` with the line of what is wrong.
        """
        from .config import servers_of

        return servers_of(path, os.environ if environment is None else environment, cls._from_configuration)

    @classmethod
    def _from_configuration(cls, given: dict[str, Any]) -> MCPTools:
        only, without, prefix = (given.pop(name, None) for name in ("only", "without", "prefix"))
        made = cls(**given)
        if only is not None:
            made = made.only(*only)
        return made.without(*without or ()).prefixed(prefix or "")

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

    def resources(self) -> list[mcp_types.Resource]:
        """Returns the resources of the server; raises `ToolServerError`."""
        return in_sync(self.aresources)

    async def aresources(self) -> list[mcp_types.Resource]:
        """Returns the resources of the server; raises `ToolServerError`."""
        async with self.connection_for(None) as connection:
            return await connection.resources()

    def resource(self, uri: str) -> list[ContentPart]:
        """Returns the content of a resource, for `media=[...]`; raises `ToolServerError`.

        `uri` is its address, as the server lists it.
        """
        return in_sync(self.aresource, uri)

    async def aresource(self, uri: str) -> list[ContentPart]:
        """Returns the content of a resource, for `media=[...]`; raises `ToolServerError`."""
        async with self.connection_for(None) as connection:
            return await connection.resource(uri)

    def prompts(self) -> list[mcp_types.Prompt]:
        """Returns the prompts of the server; raises `ToolServerError`."""
        return in_sync(self.aprompts)

    async def aprompts(self) -> list[mcp_types.Prompt]:
        """Returns the prompts of the server; raises `ToolServerError`."""
        async with self.connection_for(None) as connection:
            return await connection.prompts()

    def prompt(self, name: str, /, **arguments: str) -> list[Message]:
        """Returns the messages of a prompt, for `messages=[...]`; raises `ToolServerError`."""
        return in_sync(self.aprompt, name, arguments)

    async def aprompt(self, name: str, arguments: Mapping[str, str] | None = None, /, **more: str) -> list[Message]:
        """Returns the messages of a prompt, for `messages=[...]`; raises `ToolServerError`.

        Its arguments are `arguments` and `more`, together.
        """
        async with self.connection_for(None) as connection:
            return await connection.prompt(name, {**(arguments or {}), **more})

    def new_connection(self, headers: Mapping[str, str], secrets: Secrets) -> connections.MCPConnection:
        """Returns a new connection to the server; see `ToolServerBase`. `secrets` are removed from its errors."""
        from .connections import MCPConnection

        open_transport = partial(self._address.open_transport, headers, self._max_message_bytes)
        return MCPConnection(
            self._name,
            open_transport,
            self._mode,
            self._connect_timeout,
            secrets,
            self._sampler,
            quotes_output=self.quotes_output,
        )

    async def definitions(
        self, connection: connections.MCPConnection
    ) -> tuple[Sequence[Definition], tuple[CallWarning, ...]]:
        """Returns the definitions of the tools that are offered, with warnings; raises `ToolServerError`."""
        listed = await connection.tools()
        return await off_loop(listed.tools, self._offered_definitions, listed)

    async def run_call(
        self, connection: connections.MCPConnection, definition: Definition, call: ToolCall, context: ToolContext[Any]
    ) -> ToolOutput:
        """Calls a tool, and returns its output; see `ToolServerBase`.

        `definition` is the tool as the server describes it.
        """
        from .sampling import output_of

        spec, arguments = definition.spec, call.arguments or {}
        repeatable = spec.read_only or spec.idempotent
        return output_of(await connection.call(definition.name, arguments, context, repeatable=repeatable), call.id)

    def offered(self, tool: Tool[..., Any]) -> Tool[..., Any]:
        """Returns a tool with the prefix before its name."""
        return tool.renamed(self._choices.prefix + tool.name) if self._choices.prefix else tool

    def _choosing(self, **changes: Any) -> MCPTools:
        made = with_same_attributes(self)
        made._latest, made._made = _NOTHING_LISTED, ([], ())
        made._choices = replace(self._choices, **changes)
        return made

    def _offered_definitions(self, listed: ListedTools) -> tuple[Sequence[Definition], tuple[CallWarning, ...]]:
        """Returns the definitions of the tools that are offered, with warnings; read once for each listing."""
        latest, chosen, warnings = self._latest
        if latest is not listed:
            definitions, problems = listings.definitions_of(listed, self._name, self._labels, defer=self._defer)
            chosen, unmatched = self._choices.choose(definitions, self._name)
            names = (each.spec.name for each in definitions)
            unused = unused_patterns(names, self._name, labels=self._labels, price=self._prices)
            warnings = (*problems, *unmatched, *unused)
            self._latest = listed, chosen, warnings
        return chosen, warnings


def _sampler(given: samplers.SamplingModel | None, server: str) -> samplers.Sampler | None:
    if given is None:
        return None
    from .sampling import Sampler

    return Sampler(given, server)


def _check_installed() -> None:
    if find_spec("mcp") is None:
        raise MissingExtraError(
            "MCP servers require mcp, which is not installed.", hint=install_hint("mcp", extra="mcp")
        )


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for index, pattern in enumerate(patterns):
        if not isinstance(pattern, str) or not pattern:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a pattern of names, got {shown(pattern)}", path=f"patterns[{index}]")
    return patterns
