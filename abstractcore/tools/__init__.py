"""Tools: functions that models call, the loop that runs the calls, and tools of models without native ones.

Modules that need pydantic are imported when a function becomes a tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .toolset import ToolSet, tool_set

if TYPE_CHECKING:
    from .arguments import ArgumentsError, PreparedArguments
    from .execution import execute
    from .long_results import shortened
    from .results import ToolOutput, content_of
    from .servers import ServedTools, ToolServer
    from .tool import OnError, Tool, ToolOptions, tool_of
    from .tool_inputs import ToolInput

_LATER = {
    "ArgumentsError": "arguments",
    "OnError": "tool",
    "PreparedArguments": "arguments",
    "ServedTools": "servers",
    "Tool": "tool",
    "ToolInput": "tool_inputs",
    "ToolOptions": "tool",
    "ToolOutput": "results",
    "ToolServer": "servers",
    "content_of": "results",
    "execute": "execution",
    "shortened": "long_results",
    "tool_of": "tool",
}
"""Names whose modules are imported on first access."""

__all__ = [
    "ArgumentsError",
    "OnError",
    "PreparedArguments",
    "ServedTools",
    "Tool",
    "ToolInput",
    "ToolOptions",
    "ToolOutput",
    "ToolServer",
    "ToolSet",
    "content_of",
    "execute",
    "shortened",
    "tool_of",
    "tool_set",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
