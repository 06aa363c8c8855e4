"""Runs single calls of tools, without a model."""

from __future__ import annotations

from typing import Any

from abstractcore import Tool, ToolCall, ToolContext, ToolStep
from abstractcore.testing import CallStyle
from abstractcore.tools import execute, tool_of


def run_tool(style: CallStyle, given: Any, /, arguments: Any = None, *, deps: Any = None, **options: Any) -> ToolStep:
    """Returns the step of a call of a function or tool, sync or async."""
    tool = tool_of(given)
    return run_call(style, tool, ToolCall.of("c1", tool.name, arguments or {}), deps=deps, **options)


def run_call(
    style: CallStyle, tool: Tool[..., Any] | None, call: ToolCall, *, deps: Any = None, **options: Any
) -> ToolStep:
    """Returns the step of a call as a model writes it."""
    context = ToolContext(deps=deps, llm=None, call=call, trace_id="t", runtime=style.runtime)
    return style.run(execute(tool, call, context, style.runtime, **options))


def text_of(step: ToolStep) -> str:
    """Returns the text of a result, which has no other parts."""
    return "\n".join(part.text for part in step.result.content)  # type: ignore[union-attr]
