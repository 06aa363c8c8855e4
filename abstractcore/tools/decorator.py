"""`@tool`: makes a tool of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, Unpack, overload

from .tool import Tool, ToolOptions

P = ParamSpec("P")
R = TypeVar("R")


@overload
def tool(function: Callable[P, R], /, **options: Unpack[ToolOptions]) -> Tool[P, R]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None, /, **options: Unpack[ToolOptions]
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Makes a tool of a function, which is called as before: `@tool`, or with options `@tool(timeout=5)`.

    The model gets the function's name, the prose of its docstring, and its parameters with their types, defaults and
    texts. See `ToolOptions` for the options. Raises `InvalidInputError` for a function that cannot be a tool.
    """
    if function is not None:
        return Tool(function, **options)
    return lambda function: Tool(function, **options)
