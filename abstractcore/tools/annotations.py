"""The annotations of a function's parameters as types, also where they are text that refers to local names."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, cast, get_type_hints

_LOCAL = ".<locals>"
_NAME = re.compile(r"[^\W\d]\w*")


def definition_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function whose code defines the parameters: inside partials, methods, decorators and objects."""
    found: Any = function
    while True:
        if isinstance(found, functools.partial):
            found = cast(Any, found).func
        elif inspect.ismethod(found) or isinstance(found, staticmethod | classmethod):
            found = cast(Any, found).__func__
        elif hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        elif inspect.isroutine(found) or isinstance(found, type) or not _has_own_call(found):
            return found
        else:
            found = cast(Any, type(found)).__call__


def _has_own_call(found: object) -> bool:
    return hasattr(getattr(cast(Any, type(found)), "__call__", None), "__globals__")  # noqa: B004


def captured_names(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the local names in the textual annotations of a function that is being defined, with their values.

    Only its definer knows them. Empty for a function at the top of a module, and without textual annotations.
    """
    definition = definition_of(function)
    texts = [text for text in _own_annotations(definition).values() if isinstance(text, str)]
    if not texts or _LOCAL not in getattr(definition, "__qualname__", ""):
        return {}
    names = {name for text in texts for name in _NAME.findall(text)}
    found: dict[str, Any] = {}
    for scope in _defining_scopes(definition):
        found = {name: scope[name] for name in names if name in scope} | found
    return found


def resolved(function: Callable[..., Any], annotation: Any, captured: Mapping[str, Any]) -> Any:
    """Returns an annotation of `function` with its names replaced by what they name.

    `captured` are names captured at its definition. Raises `NameError`, and whatever the annotation's code raises.
    """
    definition = definition_of(function)
    scopes = {**_closure(definition), **captured}
    module = getattr(definition, "__globals__", {})
    try:
        return _evaluated(definition, annotation, module, scopes)
    except NameError:
        for scope in _defining_scopes(definition):
            scopes = {**scope, **scopes}
        owner = getattr(function, "__self__", None)
        if owner is not None:
            scopes = {**vars(owner if isinstance(owner, type) else type(owner)), **scopes}
        return _evaluated(definition, annotation, module, scopes)


def _evaluated(
    definition: Callable[..., Any], annotation: Any, module: dict[str, Any], scopes: Mapping[str, Any]
) -> Any:
    def holder() -> None: ...

    holder.__annotations__ = {"value": annotation}
    parameters = getattr(definition, "__type_params__", ())
    scopes = {**{parameter.__name__: parameter for parameter in parameters}, **scopes}
    return get_type_hints(holder, module, scopes, include_extras=True)["value"]


def _own_annotations(definition: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return getattr(definition, "__annotations__", {})
    except NameError:  # evaluated lazily by Python 3.14: no text
        return {}


def _closure(definition: Callable[..., Any]) -> dict[str, Any]:
    """Returns the variables of enclosing functions that the function uses."""
    code, cells = getattr(definition, "__code__", None), getattr(definition, "__closure__", None)
    if code is None or not cells:
        return {}
    found: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _defining_scopes(definition: Callable[..., Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the local variables of the functions around `definition` that still run, the innermost first."""
    name = getattr(definition, "__qualname__", "")
    if _LOCAL not in name:
        return
    around = {name[: match.start()] for match in re.finditer(re.escape(_LOCAL), name)}
    module = getattr(definition, "__globals__", None)
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_globals is module and frame.f_code.co_qualname in around:
            yield frame.f_locals
        frame = frame.f_back
