"""What a model is given of a function or a type: its name, its description and its arguments."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from .annotations import definition_of
from .arguments import Arguments
from .docstrings import documentation_of
from .signatures import SignatureReader

if TYPE_CHECKING:
    from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A function or type as a tool. `context` is the name of its parameter for a `ToolContext`.

    `returns_none` is set if the function is annotated to return None.
    """

    name: str
    description: str
    arguments: Arguments = field(repr=False)
    context: str | None = None
    returns_none: bool = False


_known: WeakKeyDictionary[Any, dict[bool, ToolDefinition]] = WeakKeyDictionary()
"""Definitions by function; apart for methods that are bound and those that are not, which take one more argument."""


def definition_for(function: Callable[..., Any], reader: SignatureReader | None = None) -> ToolDefinition:
    """Returns the definition of a function or type, made once for each. `reader` has read its parameters already.

    Raises `InvalidInputError` for one that cannot be a tool.
    """
    known = _definitions_of(function)
    is_method = inspect.ismethod(function)
    if is_method not in known:
        known[is_method] = _made(function, reader)
    return known[is_method]


def is_defined(function: Callable[..., Any]) -> bool:
    """Returns whether the definition of a function or type has been made."""
    return inspect.ismethod(function) in _definitions_of(function)


def _definitions_of(function: Callable[..., Any]) -> dict[bool, ToolDefinition]:
    key = cast(Any, function).__func__ if inspect.ismethod(function) else function
    try:
        return _known.setdefault(key, {})
    except TypeError:  # an object that cannot be a key, or not weakly
        return {}


def is_argument_type(given: object) -> TypeGuard[type]:
    """Returns whether `given` is a pydantic model, a dataclass or a TypedDict: a class whose values have fields."""
    if not isinstance(given, type):
        return False
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and issubclass(given, pydantic.BaseModel):
        return True
    return dataclasses.is_dataclass(cast(Any, given)) or _is_typed_dict(given)


def _is_typed_dict(given: Any) -> bool:
    """Returns whether a class is a TypedDict, of `typing` or of `typing_extensions`."""
    return issubclass(given, dict) and hasattr(cast(Any, given), "__total__")


def name_of_tool(function: Callable[..., Any]) -> str:
    """Returns the name of a function or type; the name of the class of a callable object."""
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = cast(Any, inner).func
    return getattr(inner, "__name__", None) or type(inner).__name__


def _made(function: Callable[..., Any], reader: SignatureReader | None) -> ToolDefinition:
    name = name_of_tool(function)
    if is_argument_type(function):
        from .validation import TypeArguments

        arguments = TypeArguments(function)
        return ToolDefinition(name, arguments.description, arguments)
    from .validation import FunctionArguments

    signature = (reader or SignatureReader(function)).read()
    documented = documentation_of(_docstring(function))
    arguments = FunctionArguments(name, signature, documented.arguments)
    return ToolDefinition(name, documented.description, arguments, signature.context, signature.returns_none)


def _docstring(function: Callable[..., Any]) -> str | None:
    """Returns the docstring of a function; of a callable object that of `__call__`, or else of its class."""
    definition = definition_of(function)
    if definition.__doc__ or inspect.isroutine(function) or isinstance(function, functools.partial):
        return definition.__doc__
    return type(function).__doc__
