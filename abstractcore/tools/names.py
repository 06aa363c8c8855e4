"""Names of tools that every provider and every prompted format can carry.

Wrong arguments of a class's constructor as errors that name the nearest option. The arguments of a tool's calls: the
interface of their validation, and the error with all their problems.
"""

from __future__ import annotations

import functools
import inspect
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from ..errors import AbstractCoreError, InvalidInputError, UnknownOptionError
from ..registry.suggestions import name_hint
from ..schema import JSONObject
from ..schema.base_error import one_line, shown

LONGEST_NAME = 64
"""OpenAI's, Mistral's and Amazon's limit; those of others are longer (`common/name_rules.py` of the providers)."""
_VALID = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")


def check_name(name: object) -> None:
    """Raises `InvalidInputError` with a valid name for one that some provider refuses for a tool."""
    if not isinstance(name, str):
        raise InvalidInputError(f"expected text, got {type(name).__name__}", path="name")
    if not _VALID.fullmatch(name):
        raise InvalidInputError(
            f"{shown(name)} is not a name that all providers accept for a tool: expected 1 to {LONGEST_NAME} ASCII "
            "letters, digits, '_' and '-', the first a letter or '_'",
            path="name",
            hint=f'Use @tool(name="{nearest_name(name)}").',
        )


def nearest_name(name: str) -> str:
    """Returns the closest valid name: without accents, with `_` for other characters."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", name[:1000]) if not unicodedata.combining(each))
    plain = _OTHERS.sub("_", plain).strip("_") or "tool"
    return (plain if _VALID.match(plain) else f"_{plain}")[:LONGEST_NAME]


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


CONTEXT: Final = object()
"""Stands for the tool's context among prepared arguments, until the tool is called."""


@dataclass(frozen=True, slots=True)
class PreparedArguments:
    """Validated arguments of a call, as the function takes them; `CONTEXT` stands for the tool's context."""

    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ArgumentsError(InvalidInputError):
    """The arguments of a call are invalid. `problems` has a line for each problem, with its path; `text` has them all,
    for the model.
    """

    def __init__(self, tool: str, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        listed = "".join(f"\n- {problem}" for problem in self.problems)
        self.text = f"invalid arguments for {one_line(tool)}:{listed}"
        super().__init__(self.text)


class Arguments(Protocol):
    """The arguments that one tool takes."""

    @property
    def schema(self) -> JSONObject:
        """The JSON Schema of the arguments, an object."""
        ...

    def prepare(self, tool: str, arguments: JSONObject) -> PreparedArguments:
        """Returns validated arguments of a call of `tool`; raises `ArgumentsError`, and what validators raise."""
        ...


class AnyArguments:
    """Arguments of a tool that another library or server describes and validates."""

    def __init__(self, schema: JSONObject) -> None:
        self.schema = schema

    def prepare(self, tool: str, arguments: JSONObject) -> PreparedArguments:
        """Returns no arguments: what runs such a tool gets the call."""
        return PreparedArguments()
