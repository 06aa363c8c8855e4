"""The tools of a tool source."""

from __future__ import annotations

from ..errors import PluginError
from ..ports import ToolSource
from ..schema import ToolSpec
from .failures import failures_of


def tools_of(source: ToolSource) -> tuple[ToolSpec, ...]:
    """Returns the tool specs of a source; raises `PluginError` for invalid ones, and for two tools with one name."""
    who = f"the tool source {source.name!r}"
    with failures_of(who):
        tools = tuple(source.tools())
    seen: set[str] = set()
    for tool in tools:
        if not isinstance(tool, ToolSpec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise PluginError(f"{who} returns a {type(tool).__name__}: expected a ToolSpec.")
        if tool.name in seen:
            raise PluginError(f"{who} has two tools called {tool.name!r}.")
        seen.add(tool.name)
    return tools
