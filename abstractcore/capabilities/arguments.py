"""Which of the user's arguments a method of a backend takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..errors import UnknownOptionError, UnsupportedOptionError
from ..registry import name_hint
from ..schema import CallWarning, JSONValue


def taken(
    method: Callable[..., object], where: str, given: Mapping[str, Any], standard: Collection[str], *, strict: bool
) -> tuple[dict[str, Any], list[CallWarning]]:
    """Returns the arguments that `method` takes, and warnings for others of the `standard` ones.

    Raises `UnknownOptionError` with similar names for an argument that is neither, and `UnsupportedOptionError` instead
    of warnings if the call is `strict`.
    """
    names = _names(method)
    if names is None:
        return {**given}, []
    warnings: list[CallWarning] = []
    for name, value in given.items():
        if name in names:
            continue
        if name not in standard:
            hint = name_hint(name, sorted({*names, *standard}), "arguments", where)
            raise UnknownOptionError(f"{where} has no argument {name!r}.", hint=hint)
        message = f"{where} does not take {name!r}"
        if strict:
            raise UnsupportedOptionError(f"{message}.", hint="Leave it out, or choose another backend.")
        warnings.append(CallWarning("unsupported_option", name, message, requested=_small(value)))
    return {name: value for name, value in given.items() if name in names}, warnings


def _names(method: Callable[..., object]) -> set[str] | None:
    """Returns the names of the parameters that may be given by name; None if any may."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):  # of a function in C
        return None
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    return {each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)}


def _small(value: object) -> JSONValue:
    return value if isinstance(value, str | int | float | bool) else None
