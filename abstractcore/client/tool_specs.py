"""The tools of a call: specs, and the specs of tool sources given by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from ..errors import InvalidInputError
from ..registry import Registry, tools_of
from ..schema import HostedTool, ToolSpec

ToolInput: TypeAlias = ToolSpec | HostedTool | str
"""A tool, a hosted tool, or the name of a tool source, for all of its tools."""


def tool_specs(tools: object, registry: Registry) -> tuple[ToolSpec | HostedTool, ...]:
    """Returns the tool specs of `tools`; None means no tools.

    Raises `InvalidInputError` with the path of an invalid tool, `PluginError` if a tool source returns invalid ones.
    """
    if tools is None:
        return ()
    if not isinstance(tools, list | tuple):
        raise InvalidInputError(
            f"expected a list, got {type(tools).__name__}", path="tools", hint="Pass a list: tools=[...]."
        )
    specs: dict[str, ToolSpec] = {}
    hosted: list[HostedTool] = []
    origins: dict[str, str] = {}
    for index, tool in enumerate(cast("list[object]", tools)):
        path = f"tools[{index}]"
        if isinstance(tool, HostedTool):
            hosted.append(tool)
            continue
        for spec in _specs(tool, path, registry):
            origin = f"{path} (tool source {tool!r})" if isinstance(tool, str) else path
            other = origins.setdefault(spec.name, origin)
            if spec.name in specs:
                raise InvalidInputError(
                    f"two tools are named {spec.name!r}: one comes from {other}, one from {origin}", path=f"{path}.name"
                )
            specs[spec.name] = spec
    return (*specs.values(), *hosted)


def _specs(tool: object, path: str, registry: Registry) -> tuple[ToolSpec, ...]:
    if isinstance(tool, ToolSpec):
        return (tool,)
    if not isinstance(tool, str):
        raise InvalidInputError(
            f"expected a ToolSpec, a HostedTool or the name of a tool source, got {type(tool).__name__}",
            path=path,
            hint=_hint(tool),
        )
    try:
        return tools_of(registry.tool_source(tool))
    except InvalidInputError as error:
        raise InvalidInputError(error.message, path=path, hint=error.hint) from None


def _hint(tool: object) -> str:
    """Returns a hint; a mapping in the format of OpenAI's Chat Completions can be converted."""
    if isinstance(tool, Mapping) and isinstance(cast("Mapping[str, object]", tool).get("function"), Mapping):
        return "Use ToolSpec(**tool['function']) for a tool in the format of OpenAI's Chat Completions."
    return "Use ToolSpec(name, description, parameters) with a JSON Schema."
