"""The parameters of a function: those that a model may set, and the one for the tool's context."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from ..errors import InvalidInputError
from ..ports import ToolContext
from ..schema.base_error import one_line, shortened, shown
from .annotations import captured_names, definition_of, resolved

_SUBSCRIPTED = re.compile(r"\s*([^\W\d][\w.]*)\s*\[")
_Kind = Literal["positional", "keyword"]
OMITTED: Final = object()
"""The default of an argument that has no value unless it is given."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool. `default` is `inspect.Parameter.empty` if it is required."""

    name: str
    kind: _Kind
    annotation: Any
    default: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function.

    `context` is the name of the parameter for a `ToolContext`; it has a place in `order`, the names of all parameters.
    `others` is the type of the values of `**kwargs`, or None if the function has none.
    """

    parameters: tuple[Parameter, ...]
    order: tuple[tuple[str, _Kind], ...]
    context: str | None
    others: Any | None
    returns_none: bool


class SignatureReader:
    """Reads the signature of a function: its names at once, its types when they are needed.

    Raises `InvalidInputError` for a function that cannot be a tool.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._captured = captured_names(function)
        self._label = getattr(definition_of(function), "__qualname__", None) or type(function).__name__
        self._parameters = self._checked()

    def read(self) -> Signature:
        """Returns the parameters with their types; raises `InvalidInputError` for a type that cannot be found."""
        found: list[Parameter] = []
        order: list[tuple[str, _Kind]] = []
        context: str | None = None
        others: Any | None = None
        for given in self._parameters:
            kind: _Kind = "positional" if given.kind is given.POSITIONAL_ONLY else "keyword"
            annotation = self._type(given)
            if _is_context(annotation):
                if context is not None:
                    raise self._problem(f"it has two parameters for the context, {context!r} and {given.name!r}")
                context = given.name
            elif given.kind is not given.VAR_KEYWORD:
                found.append(Parameter(given.name, kind, annotation, given.default))
            elif _form(annotation) == "Unpack":
                options = _options(get_args(annotation)[0])
                found += options
                order.extend((option.name, option.kind) for option in options)
                continue
            else:
                others = annotation
                continue
            order.append((given.name, kind))
        returns = inspect.signature(self._function).return_annotation
        return Signature(tuple(found), tuple(order), context, others, returns in (None, "None"))

    def _checked(self) -> list[inspect.Parameter]:
        """Returns the parameters that are to be given: not those that a partial has set."""
        function = self._function
        if isinstance(function, type):
            raise self._problem(
                f"{function.__name__} is a class",
                "Pass a pydantic model, a dataclass or a TypedDict, to get an instance; or a function that makes one.",
            )
        if inspect.isgeneratorfunction(definition_of(function)) or inspect.isasyncgenfunction(definition_of(function)):
            raise self._problem("it is a generator", "Return a list: the model reads the whole result at once.")
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError, NameError) as error:
            raise self._problem(
                f"its parameters are not known: {one_line(str(error))}",
                "Write a function with annotated parameters that calls it.",
            ) from None
        bound = _set_by_partial(function)
        given = [each for name, each in signature.parameters.items() if name not in bound]
        for each in given:
            if each.kind is each.VAR_POSITIONAL:
                raise self._problem(
                    f"it takes *{each.name}: arguments of a tool have names",
                    f"Take a list: {each.name}: list[str].",
                )
        return given

    def _type(self, given: inspect.Parameter) -> Any:
        """Returns the type of a parameter; one without annotation may be any JSON value."""
        if given.annotation is given.empty:
            return Any
        try:
            return resolved(self._function, given.annotation, self._captured)
        except Exception as error:  # annotations are code, which may raise any exception
            if self._names_context(given.annotation):
                return ToolContext
            type_of = f"the type {shown(given.annotation)} of its parameter {given.name!r}"
            raise self._problem(
                f"{type_of} is unknown: {one_line(str(error))}",
                "Define or import it at the top of the module, not under TYPE_CHECKING.",
            ) from None

    def _names_context(self, annotation: object) -> bool:
        """Returns whether a text is `ToolContext[X]`, also if X is imported for type checkers only."""
        head = _SUBSCRIPTED.match(annotation) if isinstance(annotation, str) else None
        try:
            return head is not None and _is_context(resolved(self._function, head[1], self._captured))
        except Exception:
            return False

    def _problem(self, message: str, hint: str | None = None) -> InvalidInputError:
        return InvalidInputError(f"{shortened(self._label, 200)} cannot be a tool: {message}", path="tools", hint=hint)


def _is_context(annotation: Any) -> bool:
    """Returns whether a type is `ToolContext`, `ToolContext[X]`, or one of these with None or in `Annotated`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is ToolContext or origin is ToolContext:
        return True
    if origin is Annotated:
        return _is_context(arguments[0])
    return origin in (Union, UnionType) and any(map(_is_context, arguments))


def _set_by_partial(function: Callable[..., Any]) -> set[str]:
    """Returns the names of the keywords that partials around the function have set."""
    found: set[str] = set()
    inner: Any = function
    while hasattr(inner, "func") and hasattr(inner, "keywords"):
        found |= set(inner.keywords)
        inner = inner.func
    return found


def _options(options: type) -> list[Parameter]:
    """Returns the parameters of `**kwargs: Unpack[options]`."""
    required: frozenset[str] = cast(Any, options).__required_keys__
    hints: Mapping[str, Any] = get_type_hints(options, include_extras=True)
    return [
        Parameter(name, "keyword", _without_required(hint), inspect.Parameter.empty if name in required else OMITTED)
        for name, hint in hints.items()
    ]


def _without_required(hint: Any) -> Any:
    return get_args(hint)[0] if _form(hint) in ("Required", "NotRequired", "ReadOnly") else hint


def _form(annotation: Any) -> str | None:
    """Returns the name of a special form such as `Unpack[...]`, of `typing` or `typing_extensions`."""
    return getattr(get_origin(annotation), "_name", None)
