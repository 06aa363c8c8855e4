"""`ToolSet`: the tools of a call, of all that may be given as `tools=[...]`.

`ToolInput`: an item of `tools=[...]`. `ToolServer`: tools that must be asked for before a call, such as those of an
MCP server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias, cast

from ..errors import InvalidInputError
from ..ports import Runtime, ToolSource
from ..registry import Registry, tools_of
from ..schema import CallWarning, HostedTool, ToolCall, ToolResult, ToolSpec
from .names import nearest_name
from .tool import Tool

_Origin: TypeAlias = Callable[[], str]
"""Returns where a tool comes from, for an error."""


@dataclass(frozen=True, slots=True)
class ToolSet:
    """The tools of a call: `specs` for the model, and `tools` that can be run here, by name.

    It lacks the tools of `servers` until they have been asked for them.
    """

    specs: tuple[ToolSpec | HostedTool, ...] = ()
    tools: Mapping[str, Tool[..., Any]] = field(default_factory=dict[str, "Tool[..., Any]"])
    servers: tuple[ToolServer, ...] = ()

    async def complete(self, runtime: Runtime, deps: object) -> tuple[ToolSet, tuple[CallWarning, ...]]:
        """Returns the set with the tools of its servers, which are asked at once, and warnings.

        Their tools follow the others, in the order of the servers. A name that is used twice gets the server's name
        before it, with `_` for characters that some provider refuses in names. Raises `ToolServerError`.
        """
        if not self.servers:
            return self, ()
        asked = [partial(runtime.invoke, server.served_tools, deps) for server in self.servers]
        served: list[ServedTools] = await runtime.gather(*asked)
        return self._with_served(served), tuple(warning for each in served for warning in each.warnings)

    def _with_served(self, served: list[ServedTools]) -> ToolSet:
        uses = Counter(spec.name for spec in self.specs if isinstance(spec, ToolSpec))
        uses.update(tool.name for each in served for tool in each.tools)
        specs = {spec.name: spec for spec in self.specs if isinstance(spec, ToolSpec)}
        tools = dict(self.tools)
        for server, each in zip(self.servers, served, strict=True):
            for tool in each.tools:
                named = tool if uses[tool.name] == 1 else tool.renamed(f"{nearest_name(server.name)}_{tool.name}")
                if named.name in specs:
                    raise InvalidInputError(
                        f"two tools are named {named.name!r}: one comes from the server {server.name!r}",
                        path="tools",
                        hint="Give each server a name of its own.",
                    )
                specs[named.name] = named.spec
                tools[named.name] = named
        hosted = [spec for spec in self.specs if isinstance(spec, HostedTool)]
        return ToolSet((*specs.values(), *hosted), tools)


_NO_TOOLS = ToolSet()
_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
"""Where the schema is in tools of OpenAI's Responses and Google, of Anthropic, and of MCP."""


def tool_set(tools: object, registry: Registry) -> ToolSet:
    """Returns the tools of `tools`; None means no tools.

    Raises `InvalidInputError` with the path of an invalid tool, `PluginError` if a tool source returns invalid ones.
    """
    if tools is None:
        return _NO_TOOLS
    if not isinstance(tools, list | tuple):
        raise InvalidInputError(
            f"expected a list, got {type(tools).__name__}", path="tools", hint="Pass a list: tools=[...]."
        )
    specs: dict[str, ToolSpec] = {}
    runnable: dict[str, Tool[..., Any]] = {}
    hosted: list[HostedTool] = []
    servers: list[ToolServer] = []
    origins: dict[str, _Origin] = {}
    for index, given in enumerate(cast("list[object]", tools)):
        path = f"tools[{index}]"
        if isinstance(given, HostedTool):
            hosted.append(given)
            continue
        if callable(getattr(given, "served_tools", None)) and not isinstance(given, type):
            servers.append(cast("ToolServer", given))
            continue
        for spec, tool, origin in _found(given, path, registry):
            other = origins.setdefault(spec.name, origin)
            if spec.name in specs:
                raise InvalidInputError(
                    f"two tools are named {spec.name!r}: one comes from {other()}, one from {origin()}",
                    path=f"{path}.name",
                )
            specs[spec.name] = spec
            if tool is not None:
                runnable[spec.name] = tool
    return ToolSet((*specs.values(), *hosted), runnable, tuple(servers))


def _found(given: object, path: str, registry: Registry) -> Iterator[tuple[ToolSpec, Tool[..., Any] | None, _Origin]]:
    """Yields the specs of an item, each with its tool and where it comes from."""
    if isinstance(given, ToolSpec):
        yield given, None, lambda: path
        return
    source = _source(given, path, registry)
    if source is not None:
        for spec in tools_of(source):
            yield spec, _of_source(source, spec), lambda: f"{path} (tool source {source.name!r})"
        return
    if not callable(given):
        raise InvalidInputError(
            f"expected a function, a ToolSpec, a HostedTool or the name of a tool source, got {type(given).__name__}",
            path=path,
            hint=_hint(given),
        )
    from .tool import tool_of

    try:
        tool = tool_of(given)
        spec = tool.spec
    except InvalidInputError as error:
        inner = "" if error.path in ("", "tools") else f".{error.path}"
        message = error.message.removeprefix(f"{error.path}: ")
        raise InvalidInputError(message, path=path + inner, hint=error.hint) from error.__cause__
    yield spec, tool, lambda: f"{path} ({_place(tool)})"


def _source(given: object, path: str, registry: Registry) -> ToolSource | None:
    """Returns the tool source that `given` is or names."""
    if not isinstance(given, str):
        is_source = callable(getattr(given, "tools", None)) and callable(getattr(given, "call", None))
        return cast("ToolSource", given) if is_source and not isinstance(given, type) else None
    try:
        return registry.tool_source(given)
    except InvalidInputError as error:
        raise InvalidInputError(error.message, path=path, hint=error.hint) from None


def _of_source(source: ToolSource, spec: ToolSpec) -> Tool[..., Any]:

    async def run(call: ToolCall, context: object) -> ToolResult:
        return await source.call(call)

    return Tool[..., Any].of(spec, run)


def _place(tool: Tool[..., Any]) -> str:
    """Returns where the function of a tool is defined."""
    function = tool.function
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', None) or type(function).__module__}.{name}"


def _hint(given: object) -> str:
    """Returns a hint: how to convert a mapping in the format of another library."""
    if isinstance(given, Mapping):
        tool = cast("Mapping[str, object]", given)
        if isinstance(tool.get("function"), Mapping):
            return "Use ToolSpec(**tool['function']) for a tool in the format of OpenAI's Chat Completions."
        schema = next((key for key in _SCHEMA_KEYS if isinstance(tool.get(key), Mapping)), None)
        if isinstance(tool.get("name"), str) and schema is not None:
            return f"Use ToolSpec(tool['name'], tool['description'], tool['{schema}'])."
    kind = type(cast(object, given))
    methods = [name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")]
    if methods and kind.__module__ != "builtins":
        return f"Pass its methods: tools=[{kind.__name__.lower()}.{methods[0]}]."
    return "Pass a function with annotated parameters, or ToolSpec(name, description, parameters) with a JSON Schema."


@dataclass(frozen=True, slots=True)
class ServedTools:
    """The tools that a server offers now, in a stable order, and warnings for the response."""

    tools: tuple[Tool[..., Any], ...] = ()
    warnings: tuple[CallWarning, ...] = ()


class ToolServer(Protocol):
    """A source of tools that needs I/O to list them. It can be an item of `tools=[...]`."""

    @property
    def name(self) -> str:
        """Names the server in errors and warnings; precedes the names of its tools where they clash with others."""
        ...

    async def served_tools(self, deps: object) -> ServedTools:
        """Returns the tools for a call with `deps`, which are the caller's own object; called once for every call.

        It runs in the event loop of async calls, or in that which sync calls use for async functions. Raises
        `ToolServerError` if the call cannot be made without the server.
        """
        ...


ToolInput: TypeAlias = ToolSpec | HostedTool | Tool[..., Any] | Callable[..., Any] | ToolSource | ToolServer | str
"""A function, method, `Tool`, pydantic model, dataclass or TypedDict; a spec of a tool that is run elsewhere; a hosted
tool; a tool source or its name, or a tool server, for all of its tools."""
