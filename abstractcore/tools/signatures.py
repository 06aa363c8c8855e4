"""The parameters of a function: those that a model may set, and the one for the tool's context.

What the docstring of a tool says: its description, and a text for each argument. The annotations of a function's
parameters as types, also where they are text that refers to local names. What a model is given of a function or a
type: its name, its description and its arguments.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType, UnionType
from typing import (
    TYPE_CHECKING,
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
from weakref import WeakKeyDictionary

from ..errors import InvalidInputError
from ..ports import ToolContext
from ..schema.base_error import one_line, shortened, shown
from .names import Arguments

if TYPE_CHECKING:
    from typing import TypeGuard

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


def resolve_annotation(function: Callable[..., Any], annotation: Any, captured: Mapping[str, Any]) -> Any:
    """Returns an annotation of `function` with its names replaced by what they name.

    `captured` are names captured at its definition. Raises `NameError`, and whatever the annotation's code raises.
    """
    definition = definition_of(function)
    scopes = {**_closure(definition), **captured}
    module = getattr(definition, "__globals__", {})
    try:
        return _evaluate(definition, annotation, module, scopes)
    except NameError:
        for scope in _defining_scopes(definition):
            scopes = {**scope, **scopes}
        owner = getattr(function, "__self__", None)
        if owner is not None:
            scopes = {**vars(owner if isinstance(owner, type) else type(owner)), **scopes}
        return _evaluate(definition, annotation, module, scopes)


def _evaluate(
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
        self._parameters = self._given_parameters()

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

    def _given_parameters(self) -> list[inspect.Parameter]:
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
            return resolve_annotation(self._function, given.annotation, self._captured)
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
            return head is not None and _is_context(resolve_annotation(self._function, head[1], self._captured))
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


_LONGEST = 50_000
"""A longer docstring is used as it is: parsing it would take long."""


@dataclass(frozen=True, slots=True)
class Documentation:
    """The prose of a docstring before its sections, and the texts of its arguments by name."""

    description: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])


def documentation_of(text: str | None) -> Documentation:
    """Returns the content of a docstring in Google, NumPy, Sphinx or Epydoc style; another one is all prose."""
    if not text or not text.strip():
        return Documentation()
    text = inspect.cleandoc(text)
    if len(text) > _LONGEST or not _has_sections(text):
        return Documentation(text)
    from docstring_parser import parse

    try:
        found = parse(text)
    except Exception:  # besides its own error the parser raises `IndexError` for some texts
        return Documentation(text)
    if not found.meta:
        return Documentation(text)
    arguments = {
        parameter.arg_name.lstrip("*"): inspect.cleandoc(parameter.description)
        for parameter in found.params
        if parameter.description
    }
    return Documentation((found.description or "").strip(), arguments)


def _has_sections(text: str) -> bool:
    """Returns whether any style could find a section: most docstrings are prose, and need no parser."""
    return any(line.rstrip().endswith(":") or line.lstrip()[:1] in (":", "@", "-", "=") for line in text.splitlines())


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
        known[is_method] = _new_definition(function, reader)
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
    return dataclasses.is_dataclass(cast(Any, given)) or (
        issubclass(given, dict) and hasattr(cast(Any, given), "__total__")
    )


def name_of_tool(function: Callable[..., Any]) -> str:
    """Returns the name of a function or type; the name of the class of a callable object."""
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = cast(Any, inner).func
    return getattr(inner, "__name__", None) or type(inner).__name__


def _new_definition(function: Callable[..., Any], reader: SignatureReader | None) -> ToolDefinition:
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
