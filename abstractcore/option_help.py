"""Signatures and help of functions that take options as `**options: Unpack[SomeTypedDict]`.

Each option is documented once, in the string under its field; editors read it there, `help()` through `takes`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, is_typeddict

F = TypeVar("F", bound=Callable[..., object])
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_MODULE = re.compile(r"\b(?:\w+\.)+(?=\w)")
"""The module before the name of a type."""
_CLASS = re.compile(r"^class (\w+)\((.*)\):\n((?:    .*\n|\n)*)", re.MULTILINE)
"""A class: its name, its bases and its body."""
_FIELD = re.compile(r'^    (\w+): .+\n    """([^"]+(?:"[^"]+)*)"""$', re.MULTILINE)
"""A field of a class, and the docstring under it."""


def takes(options: type) -> Callable[[F], F]:
    """Decorates a function whose last parameter is `**name: Unpack[options]`, `options` being a TypedDict.

    `inspect.signature` shows each option as a keyword with its type (`= ...`, since no value means an omitted
    option), and `help` a line for each. The behaviour of the function does not change.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        own = [_show(each) for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        result = _write(signature.return_annotation)
        signed: Any = function
        signed.__signature__ = signature.replace(parameters=[*own, *_parameters(options)], return_annotation=result)
        if function.__doc__ is not None:
            lines = [f"    {name}: {line}" for name, line in option_lines(options).items()]
            function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Options:", *lines])
        return function

    return decorate


@cache
def option_types(options: type) -> Mapping[str, str]:
    """Returns the type of each option as written in its TypedDict but for modules, those of its bases first."""
    return {name: _write(getattr(hint, "__forward_arg__", str(hint))) for name, hint in options.__annotations__.items()}


@cache
def option_lines(options: type) -> dict[str, str]:
    """Returns the docstring under each field of a TypedDict, in one line, in the order of `option_types`.

    Fields are missing if the source of their module is not installed.
    """
    documented = _docstrings_of(options.__module__).get(options.__name__, {})
    return {name: documented[name] for name in option_types(options) if name in documented}


class _Source(str):
    """An annotation as written in the source, which signatures show without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _write(annotation: str) -> _Source:
    return _Source(_MODULE.sub("", annotation))


class _LeftOut:
    """The default of an option that may be omitted; it has no value."""

    def __repr__(self) -> str:
        return "..."


_LEFT_OUT = _LeftOut()


def _show(parameter: inspect.Parameter) -> inspect.Parameter:
    named = parameter.annotation is not parameter.empty
    return parameter.replace(annotation=_write(parameter.annotation)) if named else parameter


@cache
def _parameters(options: type) -> tuple[inspect.Parameter, ...]:
    types = option_types(options)
    return tuple(inspect.Parameter(name, _KEYWORD, default=_LEFT_OUT, annotation=types[name]) for name in types)


@cache
def _docstrings_of(module: str) -> Mapping[str, Mapping[str, str]]:
    """Returns the docstrings of the fields of each class in a module, with those of its bases, each in one line."""
    try:
        source = inspect.getsource(sys.modules[module])
    except OSError:
        return {}
    documented: dict[str, dict[str, str]] = {}
    for name, bases, body in _CLASS.findall(source):
        lines: dict[str, str] = {}
        for base in bases.split(", "):
            lines |= documented[base] if base in documented else _documented_elsewhere(module, base)
        documented[name] = lines | {field: " ".join(text.split()) for field, text in _FIELD.findall(body)}
    return documented


def _documented_elsewhere(module: str, base: str) -> Mapping[str, str]:
    """Returns the docstrings of the fields of a TypedDict that `module` imports."""
    imported = getattr(sys.modules[module], base, None)
    return _docstrings_of(imported.__module__).get(base, {}) if is_typeddict(imported) else {}
