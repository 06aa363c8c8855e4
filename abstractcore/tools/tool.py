"""`Tool`: the spec of a tool with what runs it.

`@tool`: makes a tool of a function.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import (
    Any,
    Generic,
    Literal,
    ParamSpec,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from .. import schema
from ..copying import with_same_attributes
from ..errors import InvalidInputError
from ..ports import ToolContext
from ..ports.pricing import as_price
from ..schema import JSONObject, SchemaError, ToolCall, ToolLabel, ToolSpec
from ..schema.base_error import shown
from .names import CONTEXT, AnyArguments, PreparedArguments, check_name, checks_option_names, unknown_option
from .signatures import (
    SignatureReader,
    ToolDefinition,
    definition_for,
    definition_of,
    is_argument_type,
    is_defined,
    name_of_tool,
)

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
OnError: TypeAlias = Literal["report", "raise"]
"""What happens to an exception of a tool: the model reads it, or the call of `generate` ends with a `ToolError`."""
Run: TypeAlias = Callable[[ToolCall, ToolContext[Any]], Awaitable[Any] | Any]
"""Runs a call of a tool that has a spec already."""


class RunOptions(TypedDict, total=False):
    """How calls of a tool are run."""

    timeout: float | None
    """Time limit of a call in seconds; default: the policy's."""
    isolate: bool
    """Whether each call runs in a process of its own, which is killed at the time limit."""
    final: bool
    """Whether a result ends the loop: the model does not see it."""
    parallel: bool
    """Whether it may run beside other calls of a round; False makes it wait for them, and them for it."""
    on_error: OnError
    """Whether the model reads the type and the message of an exception ("report"), or the call of `generate` ends with
    a `ToolError` ("raise")."""
    price: Decimal | float | str | None
    """What a run costs, in US dollars: it is added to the cost of the response. A float is taken as it is printed."""


class ToolOptions(RunOptions, total=False):
    """The options of a tool. What is not given comes from the function: its name, docstring and parameters."""

    name: str | None
    """Name of the tool; default: that of the function. 1 to 64 ASCII letters, digits, "_" and "-", the first a letter
    or "_", since every provider accepts these."""
    description: str | None
    """Description for the model; default: the docstring without its sections."""
    defer: bool
    """Whether the model must find the tool by tool search first."""
    read_only: bool
    """Hint to policies: it changes nothing."""
    idempotent: bool
    """Hint to policies: calling it twice is the same as calling it once."""
    destructive: bool
    """Hint to policies: it may delete or overwrite."""
    labels: tuple[ToolLabel, ...]
    """What it does with data: its results are "private" or "untrusted", or it "sends" data out."""
    strict: bool | None
    """Whether the provider must hold the model to the schema, where it can."""


@dataclass(frozen=True, slots=True)
class _Settings:
    """The options of a tool that are not in its spec."""

    timeout: float | None = None
    isolate: bool = False
    final: bool = False
    parallel: bool = True
    on_error: OnError = "report"
    price: Decimal | float | str | None = None

    def __post_init__(self) -> None:
        if self.price is not None:
            object.__setattr__(self, "price", as_price(self.price, "price"))
        for name in ("isolate", "final", "parallel"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInputError(f"expected True or False, got {shown(getattr(self, name))}", path=name)
        timeout: object = self.timeout
        if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected seconds above 0, or None, got {shown(timeout)}", path="timeout")
        if self.on_error not in ("report", "raise"):
            raise InvalidInputError(f'expected "report" or "raise", got {shown(self.on_error)}', path="on_error")


@checks_option_names
class Tool(Generic[P, R]):
    """A function that a model can call. Calling the tool calls the function.

    `function` is a function, a method, a `functools.partial`, an object with `__call__`, sync or async; or a pydantic
    model, a dataclass or a TypedDict, which is `final`: the loop ends with a value of it. The function is examined when
    it is made a tool, its types are when they are first needed. In a class it becomes a tool of each object:
    `tools=[shop.buy]`. Raises `InvalidInputError` for a function that cannot be a tool, and for a name that some
    provider does not accept; `UnknownOptionError` for an option of another name.
    """

    def __init__(self, function: Callable[P, R], **options: Unpack[ToolOptions]) -> None:
        self.is_type = is_argument_type(function)
        """Whether `function` is a type: a call makes a value of it."""
        self._options, self._settings = read_options(options, is_final=self.is_type)
        self._is_classmethod = isinstance(function, classmethod)
        self._is_static = isinstance(function, staticmethod)
        self._is_method = False
        found: Any = cast(Any, function).__func__ if self._is_classmethod or self._is_static else function
        if not callable(found):
            hint = f"To name a tool: @tool(name={shown(found)})." if isinstance(found, str) else None
            raise InvalidInputError(f"expected a function, got {type(found).__name__}", path="tools", hint=hint)
        self._function: Callable[..., Any] = found
        self._run: Run | None = None
        self._definition: ToolDefinition | None = None
        self._spec: ToolSpec | None = None
        self._is_trusted = True
        self._source: schema.ToolSource = "function"
        self._server: str | None = None
        if self.isolate:
            self._check_isolated()
        self._check_name()
        needs_no_reader = self.is_type or self._is_unbound() or is_defined(found)
        self._reader = None if needs_no_reader else SignatureReader(found)
        if not self.is_type:
            functools.update_wrapper(self, found, updated=())

    @classmethod
    def of(
        cls,
        spec: ToolSpec,
        run: Run,
        *,
        is_trusted: bool = True,
        source: schema.ToolSource = "function",
        server: str | None = None,
        **options: Unpack[RunOptions],
    ) -> Tool[..., Any]:
        """Returns a tool of a spec: `run(call, context)`, sync or async, runs a call, whose arguments it validates.

        It cannot be isolated. `is_trusted`: whether the spec is the one that was trusted; calls of others wait for
        approval. `source` and the name of its `server` are for records.
        """
        if options.get("isolate"):
            raise InvalidInputError("a tool of a spec cannot be isolated", path="isolate", hint="Isolate a function.")
        made = with_same_attributes(_examine())
        if options:
            _, made._settings = read_options(options)
        made._function = made._run = run
        made._definition = ToolDefinition(spec.name, spec.description, AnyArguments(spec.parameters))
        made._options, made._spec, made._is_trusted = {"name": spec.name}, spec, is_trusted
        made._source, made._server = source, server
        return made

    def __copy__(self) -> Tool[P, R]:
        return self

    def __deepcopy__(self, memo: object) -> Tool[P, R]:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        # The function that a decorator replaced is found by no name: the name leads to this tool.
        name: object = getattr(self, "__qualname__", None)
        if isinstance(name, str) and _object_named(self.__module__, name) is self:
            return name
        return super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """Returns the attributes without what is read of the function when it is needed."""
        derived = {"_definition": None, "_reader": None} if self._run is None else {}
        return {**vars(self), **derived}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls the function."""
        return self._function(*args, **kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        """Notes that the function is defined in a class, whatever its first parameter is called."""
        defined_in = getattr(self._function, "__qualname__", "").rpartition(".")[0]
        self._is_method = not self._is_static and defined_in == owner.__qualname__

    def __get__(self, instance: Any, owner: type | None = None) -> Tool[..., R]:
        """Returns the tool of an object, for a method."""
        if not self._is_unbound() or (instance is None and not self._is_classmethod):
            return self
        return self.of_object(owner or type(instance) if self._is_classmethod else instance)

    def renamed(self, name: str) -> Tool[P, R]:
        """Returns the tool with another name for the model."""
        made = with_same_attributes(self)
        made._options = {**self._options, "name": name}
        made._spec = replace(self.spec, name=name)
        return made

    def of_object(self, owner: Any) -> Tool[..., R]:
        """Returns the tool that calls the function as a method of `owner`."""
        return self.of_function(self._function.__get__(owner))

    def of_function(self, function: Callable[..., R]) -> Tool[..., R]:
        """Returns a tool of another function with the options of this one."""
        made: Tool[..., R] = Tool(function, name=self._options.get("name"))
        made._options, made._settings = self._options, self._settings
        return made

    def unisolated(self) -> Tool[..., R]:
        """Returns the tool without isolation, which reports exceptions: as the process of an isolated tool runs it."""
        made = with_same_attributes(self)
        made._settings = replace(self._settings, isolate=False, on_error="report", timeout=None)
        return made

    @property
    def spec(self) -> ToolSpec:
        """What the model is given; raises `InvalidInputError` for parameters that have no JSON Schema."""
        if self._spec is None:
            definition = self._full_definition()
            name, description = self._options.get("name"), self._options.get("description")
            if self.isolate:
                from .isolation import check_importable

                check_importable(self._function)
            flags = {key: value for key, value in self._options.items() if key not in ("name", "description")}
            self._spec = ToolSpec(
                name=name or definition.name,
                description=definition.description if description is None else description,
                parameters=definition.arguments.schema,
                **flags,
            )
        return self._spec

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self._options.get("name") or name_of_tool(self._function)

    @property
    def function(self) -> Callable[..., Any]:
        """The function that is called."""
        return self._function

    @property
    def timeout(self) -> float | None:
        """The time limit of a call in seconds; None means that of the policy."""
        return self._settings.timeout

    @property
    def isolate(self) -> bool:
        """Whether each call runs in a process of its own."""
        return self._settings.isolate

    @property
    def final(self) -> bool:
        """Whether a result ends the loop."""
        return self._settings.final

    @property
    def parallel(self) -> bool:
        """Whether it may run beside other calls of a round."""
        return self._settings.parallel

    @property
    def is_trusted(self) -> bool:
        """Whether its definition is the one that was trusted."""
        return self._is_trusted

    @property
    def on_error(self) -> OnError:
        """What happens to an exception of the function."""
        return self._settings.on_error

    @property
    def price(self) -> Decimal | None:
        """What a run costs, in US dollars; None if no price is declared."""
        return cast("Decimal | None", self._settings.price)

    @property
    def source(self) -> schema.ToolSource:
        """Where its results come from, for records."""
        return self._source

    @property
    def server(self) -> str | None:
        """The name of the server or agent that runs it, if one does."""
        return self._server

    @property
    def takes_context(self) -> str | None:
        """The name of the function's parameter for a `ToolContext`."""
        return self._full_definition().context

    @property
    def returns_none(self) -> bool:
        """Whether the function is annotated to return None."""
        return self._full_definition().returns_none

    def prepare(self, arguments: JSONObject) -> PreparedArguments:
        """Returns validated arguments; raises `ArgumentsError` with all problems, and what types' validators raise."""
        return self._full_definition().arguments.prepare(self.name, arguments)

    def bound(
        self, prepared: PreparedArguments, call: ToolCall, context: ToolContext[Any]
    ) -> functools.partial[Awaitable[Any] | Any]:
        """Returns the call of the function, which needs no more arguments. `prepared` are its checked arguments."""
        if self._run is not None:
            return functools.partial(self._run, call, context)
        if self.is_type:
            return functools.partial(_itself, *prepared.positional)
        positional, keywords = prepared.positional, prepared.keywords
        if self._full_definition().context is not None:
            positional = tuple(context if value is CONTEXT else value for value in positional)
            keywords = {name: context if value is CONTEXT else value for name, value in keywords.items()}
        return functools.partial(self._function, *positional, **keywords)

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"

    def _check_name(self) -> None:
        if self.name == "<lambda>":
            hint = 'Give it one: Tool(lambda city: ..., name="weather").'
            raise InvalidInputError("a lambda has no name", path="tools", hint=hint)
        check_name(self.name)

    def _check_isolated(self) -> None:
        """Raises `InvalidInputError` for a function that a process of its own cannot import."""
        from .isolation import check_has_name

        if self.is_type or (self._is_unbound() and not self._is_classmethod):
            raise InvalidInputError(
                f"{self.name} cannot be isolated: it is a {'type' if self.is_type else 'method of an object'}",
                path="isolate",
                hint="Isolate a function at the top of a module.",
            )
        check_has_name(self._function)

    def _full_definition(self) -> ToolDefinition:
        if self._definition is None:
            if self._is_unbound():
                qualified = definition_of(self._function).__qualname__
                owner = qualified.split(".")[-2].lower()
                raise InvalidInputError(
                    f"{qualified} is a method of a class",
                    path="tools",
                    hint=f"Pass that of an object: tools=[{owner}.{self.name}].",
                )
            self._definition = definition_for(self._function, self._reader)
            self._reader = None
        return self._definition

    def _is_unbound(self) -> bool:
        """Returns whether the function is a method in a class: its first parameter is the object or the class."""
        if self._is_classmethod or self._is_method:
            return True
        if self._is_static or not inspect.isfunction(self._function):
            return False
        around = self._function.__qualname__.rpartition(".")[0]
        return bool(around) and not around.endswith("<locals>") and _first_parameter(self._function) in ("self", "cls")


def tool_of(given: Callable[..., Any]) -> Tool[..., Any]:
    """Returns the tool of a function, a type, a method or a partial of a tool; raises `InvalidInputError`."""
    if isinstance(given, Tool):
        return cast("Tool[..., Any]", given)
    inner = getattr(given, "__func__", None)
    if isinstance(inner, Tool):  # a class method around a tool
        return cast("Tool[..., Any]", inner).of_object(cast(Any, given).__self__)
    inner = getattr(given, "func", None)
    if isinstance(inner, Tool) and isinstance(given, functools.partial):
        inner = cast("Tool[..., Any]", inner)
        partial = cast("functools.partial[Any]", given)
        return inner.of_function(functools.partial(inner.function, *partial.args, **partial.keywords))
    return Tool(given)


def _itself(value: Any) -> Any:
    return value


@functools.cache
def _examine() -> Tool[..., Any]:
    """Returns a tool of which those of specs are copies: to examine a function takes long, and servers have thousands
    of tools.
    """
    return Tool(_itself)


def read_options(options: Mapping[str, Any], *, is_final: bool = False) -> tuple[dict[str, Any], _Settings]:
    """Returns the options of a spec, and the others; raises `UnknownOptionError` and `InvalidInputError`."""
    given = dict(options)
    known = ToolOptions.__annotations__
    for name in given:
        if name not in known:
            raise unknown_option(name, known, "a tool", "help(abstractcore.tool)")
    own = {name: given.pop(name) for name in RunOptions.__annotations__ if name in given}
    if given.get("name") is not None:
        check_name(given["name"])
    if given:
        spec = {"name": "x", **{name: value for name, value in given.items() if value is not None}}
        try:
            ToolSpec(**cast(Any, spec))
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.path, hint=error.hint) from None
    return given, _Settings(**cast(Any, {"final": is_final, **own}))


def _object_named(module: str, name: str) -> object:
    """Returns the object of a module with a qualified name; None if there is none."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _first_parameter(function: Callable[..., Any]) -> str | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_varnames[0] if code is not None and code.co_argcount else None


S = TypeVar("S")


@overload
def tool(function: Callable[P, S], /, **options: Unpack[ToolOptions]) -> Tool[P, S]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[P, S]], Tool[P, S]]: ...
def tool(
    function: Callable[P, S] | None = None, /, **options: Unpack[ToolOptions]
) -> Tool[P, S] | Callable[[Callable[P, S]], Tool[P, S]]:
    """Makes a tool of a function, which is called as before: `@tool`, or with options `@tool(timeout=5)`.

    The model gets the function's name, the prose of its docstring, and its parameters with their types, defaults and
    texts. Raises `InvalidInputError` for a function that cannot be a tool, and for an invalid value of an option;
    `UnknownOptionError` for an option of another name.

    Options, all of them keywords (`abstractcore.tools.ToolOptions` describes each):
        name, description: In place of the function's name and docstring.
        timeout: Time limit of one call in seconds; default: that of the policy.
        isolate: Whether each call runs in a process of its own.
        final: Whether a result ends the loop; the model does not see it.
        parallel: Whether it may run beside other calls of a round; default True.
        on_error: Whether an exception is reported to the model ("report", the default) or ends the call ("raise").
        price: What a run costs, in US dollars.
        defer: Whether the model must find the tool by tool search first.
        read_only, idempotent, destructive: Hints to policies.
        labels: What it does with data: "private", "untrusted", "sends".
        strict: Whether the provider must hold the model to the schema, where it can.
    """
    if function is not None:
        return Tool(function, **options)
    read_options(options)
    return lambda function: Tool(function, **options)
