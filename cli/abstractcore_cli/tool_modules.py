"""Finds the tools that `--tool` names: functions of modules, and tool sources."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from abstractcore import InvalidInputError
from abstractcore.schema import shown
from abstractcore.tools import Tool, tool_of

from .module_names import ModuleNames

if TYPE_CHECKING:
    from abstractcore.ports import ToolSource
    from abstractcore.registry import Registry

_OPTION = "--tool"
_WRITE = "Write MODULE:FUNCTION, as in --tool weather:forecast."


def load_tools(names: Sequence[str], registry: Registry) -> list[Tool[..., Any] | ToolSource]:
    """Returns the tools that `names` stand for, each once.

    `module:function` is one function, `module` the functions that are tools there, a name of a tool source all of its
    tools. Modules are looked up in the current folder first. Raises `InvalidInputError`, also if a module raises.
    """
    modules = ModuleNames(_OPTION, "function", _WRITE, [*registry.tool_sources], "tool source")
    found: dict[int, Tool[..., Any] | ToolSource] = {}
    functions: dict[int, Tool[..., Any]] = {}
    for name in names:
        if name in registry.tool_sources:
            source = registry.tool_source(name)
            found[id(source)] = source
            continue
        for function in _functions(name, modules):
            tool = functions.setdefault(id(function), _tool(function, name))
            found[id(tool)] = tool
    return list(found.values())


def _functions(name: str, modules: ModuleNames) -> Iterator[Any]:
    module_name, colon, path = name.partition(":")
    if not module_name or (colon and not path):
        raise InvalidInputError(f"{shown(name)} is not the name of a tool", path=_OPTION, hint=_WRITE)
    if module_name.endswith(".py") and module_name not in modules.others:
        raise modules.refused_file(module_name, colon + path)
    module = modules.module(module_name)
    if colon:
        yield _function(module, path, modules)
    else:
        yield from _tools_of(module, modules)


def _function(module: ModuleType, path: str, modules: ModuleNames) -> Any:
    """Returns the function `path` of a module; `Class.method` is a class or static method."""
    found = modules.attribute(module, path)
    if not callable(found):
        kind = type(found).__name__
        raise InvalidInputError(f"{module.__name__}:{path} is not a function but {kind}", path=_OPTION, hint=_WRITE)
    return found


def _tools_of(module: ModuleType, modules: ModuleNames) -> list[Any]:
    """Returns the objects decorated with `@tool` in a module, and the functions in its `__all__`."""
    exported: Sequence[str] | None = getattr(module, "__all__", None)
    if exported is not None:
        named = [
            _function(module, name, modules)
            for name in exported
            if hasattr(module, name) and _is_function(module, name)
        ]
    else:
        named = [value for value in vars(module).values() if _is_tool(value)]
    if named:
        return named
    own = [name for name, value in vars(module).items() if inspect.isfunction(value) and not name.startswith("_")]
    hint = f"Write --tool {module.__name__}:{own[0]}, or decorate functions with @tool." if own else _WRITE
    raise InvalidInputError(f"the module {module.__name__} has no tools", path=_OPTION, hint=hint)


def _is_function(module: ModuleType, name: str) -> bool:
    value = getattr(module, name)
    return _is_tool(value) or inspect.isroutine(value)


def _is_tool(value: object) -> bool:
    return isinstance(value, Tool)


def _tool(function: Any, name: str) -> Tool[..., Any]:
    """Returns the tool of a function; raises `InvalidInputError` if its parameters have no JSON Schema."""
    try:
        tool = tool_of(function)
        _ = tool.spec  # which reads the signature
    except InvalidInputError as error:
        message = error.message.removeprefix("tools: ")
        raise InvalidInputError(message, path=f"{_OPTION} {name}", hint=error.hint) from error.__cause__
    return tool
