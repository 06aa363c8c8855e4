"""Finds the tools that `--tool` names: functions of modules, and tool sources."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from abstractcore import InvalidInputError
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema import shown
from abstractcore.tools import Tool, tool_of

from .screen import prints_to_stderr

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
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    found: dict[int, Tool[..., Any] | ToolSource] = {}
    functions: dict[int, Tool[..., Any]] = {}
    for name in names:
        if name in registry.tool_sources:
            source = registry.tool_source(name)
            found[id(source)] = source
            continue
        for function in _functions(name, registry):
            tool = functions.setdefault(id(function), _tool(function, name))
            found[id(tool)] = tool
    return list(found.values())


def _functions(name: str, registry: Registry) -> Iterator[Any]:
    module_name, colon, path = name.partition(":")
    if not module_name or (colon and not path):
        raise InvalidInputError(f"{shown(name)} is not the name of a tool", path=_OPTION, hint=_WRITE)
    if module_name.endswith(".py") and module_name not in registry.tool_sources:
        raise _is_file(module_name, colon + path)
    module = _import(module_name, registry)
    if colon:
        yield _attribute(module, path)
    else:
        yield from _tools_of(module)


def _import(name: str, registry: Registry) -> ModuleType:
    """Imports a module; what it prints goes to stderr."""
    if name.startswith(".") or "/" in name or "\\" in name:
        raise _unknown_module(name, registry)
    try:
        with prints_to_stderr():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken_module(name, error) from error
        raise _unknown_module(name, registry) from None
    except (Exception, SystemExit) as error:
        raise _broken_module(name, error) from error


def _unknown_module(name: str, registry: Registry) -> InvalidInputError:
    near = nearest_names(name, [*registry.tool_sources, *(file.stem for file in Path().glob("*.py"))])
    hint = did_you_mean(near) if near else "Modules are looked up in the current folder and in installed packages."
    return InvalidInputError(f"no module and no tool source is called {shown(name)}", path=_OPTION, hint=hint)


def _is_file(name: str, function: str) -> InvalidInputError:
    """Returns the error for the file of a module, with the module's name."""
    folder = Path.cwd()
    file = Path(folder, name)
    inside = file.relative_to(folder) if file.is_relative_to(folder) else Path(file.name)
    hint = f"Write the module's name in place of its file's: --tool {'.'.join(inside.with_suffix('').parts)}{function}"
    if inside.name == str(inside) and file.parent != folder:
        hint += f", in the folder {file.parent}"
    return InvalidInputError(f"{shown(name)} is a file, not a module", path=_OPTION, hint=hint)


def _broken_module(name: str, error: BaseException) -> InvalidInputError:
    reason = f"{type(error).__name__}: {error}".rstrip(": ")
    hint = f'To see where: python -c "import {name}"'
    return InvalidInputError(f"the module {name} cannot be imported: {reason}", path=_OPTION, hint=hint)


def _attribute(module: ModuleType, path: str) -> Any:
    """Returns the function `path` of a module; `Class.method` is a class or static method."""
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            near = nearest_names(name, [each for each in dir(found) if callable(getattr(found, each, None))])
            where = getattr(found, "__name__", path)
            raise InvalidInputError(
                f"{where} has no function {shown(name)}", path=_OPTION, hint=did_you_mean(near) if near else _WRITE
            )
        found = getattr(found, name)
    if not callable(found):
        kind = type(found).__name__
        raise InvalidInputError(f"{module.__name__}:{path} is not a function but {kind}", path=_OPTION, hint=_WRITE)
    return found


def _tools_of(module: ModuleType) -> list[Any]:
    """Returns the objects decorated with `@tool` in a module, and the functions in its `__all__`."""
    exported: Sequence[str] | None = getattr(module, "__all__", None)
    if exported is not None:
        named = [_attribute(module, name) for name in exported if hasattr(module, name) and _is_function(module, name)]
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
