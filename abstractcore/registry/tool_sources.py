"""The tools of a tool source, as far as they can be sent."""

from __future__ import annotations

from ..errors import PluginError
from ..ports import ToolSource
from ..schema import ToolSpec
from .failures import failures_of


def tools_of(source: ToolSource) -> tuple[ToolSpec, ...]:
    """What the model is told of the tools; raises `PluginError` for rubbish, and for two tools of one name."""
    who = f"the tool source {source.name!r}"
    with failures_of(who):
        tools = tuple(source.tools())
    seen: set[str] = set()
    for tool in tools:
        if not isinstance(tool, ToolSpec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise PluginError(f"{who} gives a {type(tool).__name__} where a ToolSpec is needed.")
        if tool.name in seen:
            raise PluginError(f"{who} has two tools called {tool.name!r}.")
        seen.add(tool.name)
    return tools
