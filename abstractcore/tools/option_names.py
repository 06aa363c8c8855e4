"""Wrong arguments of a class's constructor as errors that name the nearest option."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from ..errors import AbstractCoreError, InvalidInputError, UnknownOptionError
from ..registry.suggestions import name_hint
from ..schema.base_error import shown

C = TypeVar("C", bound=type)


def checks_option_names(made: C) -> C:
    """Decorates a class: its constructor raises `UnknownOptionError` with similar names for an unknown keyword, and
    `InvalidInputError` for missing and surplus arguments, instead of a bare `TypeError`.
    """
    construct: Callable[..., None] = made.__init__

    @functools.wraps(construct)
    def checked(self: Any, *args: Any, **options: Any) -> None:
        try:
            construct(self, *args, **options)
        except TypeError as error:
            problem = None if isinstance(error, AbstractCoreError) else _problem(made, (self, *args), options)
            if problem is None:
                raise
            raise problem from None

    setattr(made, "__init__", checked)  # noqa: B010 - type checkers refuse the assignment
    return made


def unknown_option(name: object, known: Collection[str], what: str, described: str) -> UnknownOptionError:
    """Returns the error for an option that `what` does not have; `described` lists those that it has."""
    return UnknownOptionError(f"{what} has no option {shown(name)}.", hint=name_hint(name, known, "options", described))


def _method_error(made: type, name: str) -> UnknownOptionError | None:
    """Returns the error for an option that is a method, or the beginning of its name; None if there is none such."""
    methods = [each for each in dir(made) if each.startswith(name) and callable(getattr(made, each))]
    if not methods or name.startswith("_"):
        return None
    method = min(methods, key=len)
    hint = f"Use its method: {made.__name__}(...).{method}(...)."
    return UnknownOptionError(f"{made.__name__} has no option {shown(name)}.", hint=hint)


def _problem(made: type, args: tuple[Any, ...], options: dict[str, Any]) -> AbstractCoreError | None:
    """Returns the error for arguments that the constructor does not take; None if it takes them."""
    import inspect

    signature = inspect.signature(made.__init__)
    known = [name for name, each in signature.parameters.items() if each.kind is not each.VAR_KEYWORD][1:]
    if len(known) == len(signature.parameters) - 1:
        for name in options:
            if name not in known:
                return _method_error(made, name) or unknown_option(name, known, made.__name__, f"help({made.__name__})")
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        return InvalidInputError(f"{made.__name__}: {error}", hint=f"Arguments are {', '.join(known)}.")
    return None
