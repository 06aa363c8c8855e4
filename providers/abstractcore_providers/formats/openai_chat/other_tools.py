"""Tools and choices that a call has no field for, such as custom tools. They are provider options."""

from __future__ import annotations

from typing import Any, cast

from ...common.reading import Object, text_of


def is_other_tool(value: Any) -> bool:
    """Whether `value` is a tool of a vendor's own type."""
    return isinstance(value, dict) and text_of(cast(Object, value), "type") not in (None, "function")


def other_tools(tools: Any) -> list[Any]:
    """Returns the tools of a vendor's own types among those of a request."""
    return [tool for tool in cast("list[Any]", tools) if is_other_tool(tool)] if isinstance(tools, list) else []


def are_other_tools(value: Any) -> bool:
    """Whether `value` is a list with tools of a vendor's own types only."""
    others = other_tools(value)
    return bool(others) and len(others) == len(value)


def is_other_choice(value: Any) -> bool:
    """Whether `value` is a choice other than a mode or a function, such as that of a custom tool."""
    return is_other_tool(value)
