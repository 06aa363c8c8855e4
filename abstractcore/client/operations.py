"""Operations of a provider's wire format by name, and their inputs, from the arguments of `LLM.operate`.

`count_tokens`: the input tokens of a call, counted by its provider, or else as an estimate that says so.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final

from ..engine import InTime, Pipeline, Prepare, Prepared
from ..errors import (
    BadRequestError,
    InvalidInputError,
    ModelNotFoundError,
    NotFoundError,
    ProviderError,
    UnsupportedOptionError,
)
from ..ports import CHAT, AnyInput, HasOperations, Operation, Operations, Runtime, Transpiler
from ..registry import did_you_mean, nearest_names
from ..schema import ModelCall, OperationInput, SchemaError
from ..schema.base_error import shown
from ..schema.token_counts import TokenCount
from .pipelines import Pipelines, PreparedRequest

_NONE: Operations = MappingProxyType({})
_OF_ALL = frozenset(field.name for field in fields(OperationInput)) | {"call"}
"""Fields of inputs that are none of the arguments of an operation."""
_OF_REQUESTS = frozenset(
    {"options", "timeout", "headers", "strict", "tags", "parent_id", "trace_context", "priority", "interruption"}
)
"""What may be given beside the arguments of an operation without a call."""


def find_operation(transpiler: Transpiler, name: str) -> Operation[Any, Any]:
    """Returns the operation `name`.

    Raises `UnsupportedOptionError` for one that the provider does not have, and `InvalidInputError` for chat, which has
    methods of its own.
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected an operation's name, got {type(name).__name__}", path="operation")
    if name == CHAT:
        raise InvalidInputError("chat is not available here", path="operation", hint="Use llm.generate(...).")
    operations: Operations = transpiler.operations if isinstance(transpiler, HasOperations) else _NONE
    operation = operations.get(name)
    if operation is None:
        raise UnsupportedOptionError(f"this provider has no operation {shown(name)}.", hint=_hint(name, operations))
    return operation


def check_arguments(operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> None:
    """Raises `InvalidInputError` for arguments that the operation does not take, and for missing ones."""
    if not isinstance(arguments, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a mapping, got {type(arguments).__name__}", path="arguments")
    parameters = inspect.signature(operation.input).parameters
    own = [parameters[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in _names(operation)]
    try:
        inspect.Signature(own).bind(**arguments)
    except TypeError as error:
        raise InvalidInputError(f"the operation {operation.name!r}: {error}", path="arguments") from None


def with_input(prepare: Prepare, input_of: Callable[[ModelCall], AnyInput]) -> Prepare:
    """Returns a function that prepares the input that `input_of` makes of the call of `prepare`."""

    async def prepare_input(runtime: Runtime) -> Prepared:
        prepared = await prepare(runtime)
        return replace(prepared, input=input_of(prepared.call))

    return prepare_input


def input_on_call(operation: Operation[Any, Any], arguments: Mapping[str, Any], call: ModelCall) -> AnyInput:
    """Returns the input of an operation that takes a call; raises `InvalidInputError` with the path of an invalid
    argument.
    """
    return call if operation.input is ModelCall else _new_input(operation, {"call": call, **arguments}, arguments)


def input_without_call(
    operation: Operation[Any, Any],
    arguments: Mapping[str, Any],
    request: Mapping[str, Any],
    options: Mapping[str, Any],
) -> OperationInput:
    """Returns the input of an operation without a call: its arguments, with fields that are among the `options`.

    Raises `InvalidInputError` with the path of an invalid value, and for anything in a `request` that it has not.
    """
    taken = {name for name in _names(operation) if name not in arguments}
    values = {name: value for name, value in options.items() if name in taken or name in _OF_ALL}
    made = _new_input(operation, {**values, **arguments}, arguments)
    others = [name for name, value in request.items() if value is not None and name not in taken | _OF_REQUESTS]
    if others:
        hint = "Leave it out: what the operation takes is in `arguments`."
        raise InvalidInputError(f"the operation {operation.name!r} does not take it", path=others[0], hint=hint)
    return made


def check_input(operation: Operation[Any, Any], given: AnyInput) -> None:
    """Raises `InvalidInputError` for an input of another class than that of the operation."""
    if not isinstance(given, operation.input):
        expected, name = operation.input.__name__, type(given).__name__
        raise InvalidInputError(f"the operation {operation.name!r} expects a {expected}, got {name}", path="call")


def _new_input(operation: Operation[Any, Any], values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    """Returns an input; raises `InvalidInputError` with the path of an invalid value."""
    try:
        return operation.input(**values)
    except SchemaError as error:
        name = error.path.partition(".")[0].partition("[")[0]
        path = f"arguments.{error.path}" if name in arguments else error.path
        raise InvalidInputError(error.message, path=path, hint=error.hint) from None


def _names(operation: Operation[Any, Any]) -> list[str]:
    """Returns the names of the arguments of an operation: fields of its input."""
    if operation.input is ModelCall:
        return []
    return [field.name for field in fields(operation.input) if field.init and field.name not in _OF_ALL]


def _hint(name: str, operations: Operations) -> str:
    nearest = nearest_names(name, operations)
    if nearest:
        return did_you_mean(nearest)
    return (
        f"Its operations: {', '.join(operations)}." if operations else "It supports chat only: use llm.generate(...)."
    )


_COUNT_TOKENS: Final = "count_tokens"
_NO_ROUTE: Final = frozenset({405, 501})
_NOT_COUNTED: Final = re.compile(r"counting tokens|token counting")
"""What Bedrock says of a model or a file that it does not count (issue 6370 of aws-sdk-java-v2 on GitHub)."""


async def count_tokens(pipelines: Pipelines, pipeline: Pipeline, request: PreparedRequest) -> TokenCount:
    """Returns the provider's count; an estimate if its wire format has none, or its server has no route for it.

    Raises errors as a call does, also those of a provider that can count and fails.
    """
    transpiler, prepare = pipelines.session.transpiler, _once(request.prepare)
    if isinstance(transpiler, HasOperations) and _COUNT_TOKENS in transpiler.operations:
        operation = find_operation(transpiler, _COUNT_TOKENS)
        try:
            return TokenCount((await pipeline.operate(operation, prepare, request.timeout)).value)
        except ProviderError as error:
            if not _has_no_count(error):
                raise
    prepared = await prepare(pipeline.runtime)
    async with InTime(pipeline.runtime, request.timeout):
        plan = await pipeline.runtime.call(pipelines.plan, prepared.call, (), kind="files")
    return TokenCount(plan.estimated_input_tokens or 0, estimated=True)


def _once(prepare: Prepare) -> Prepare:
    """Returns a function that prepares a call once: an open file can be read once."""
    made: list[Prepared] = []

    async def prepared(runtime: Runtime) -> Prepared:
        if not made:
            made.append(await prepare(runtime))
        return made[0]

    return prepared


def _has_no_count(error: ProviderError) -> bool:
    """Whether an error says that the server has no route for counts, or does not count this model or file."""
    if isinstance(error, ModelNotFoundError):
        return False
    if isinstance(error, NotFoundError) or error.status in _NO_ROUTE:
        return True
    return isinstance(error, BadRequestError) and _NOT_COUNTED.search(error.message) is not None
