"""`@tool`: makes a tool of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, Unpack, overload

from .tool import Tool, ToolOptions, read_options

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
    texts. Raises `InvalidInputError` for a function that cannot be a tool, and for an invalid value of an option;
    `UnknownOptionError` for an option of another name.

    Options, all of them keywords (`abstractcore.tools.ToolOptions` describes each):
        name, description: In place of the function's name and docstring.
        timeout: Time limit of one call in seconds; default: that of the policy.
        isolate: Whether each call runs in a process of its own.
        final: Whether a result ends the loop; the model does not see it.
        parallel: Whether it may run beside other calls of a round; default True.
        on_error: Whether an exception is reported to the model ("report", the default) or ends the call ("raise").
        defer: Whether the model must find the tool by tool search first.
        read_only, idempotent, destructive: Hints to policies.
        labels: What it does with data: "private", "untrusted", "sends".
        strict: Whether the provider must hold the model to the schema, where it can.
    """
    if function is not None:
        return Tool(function, **options)
    read_options(options)
    return lambda function: Tool(function, **options)
