"""Operations of a provider's wire format, by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..errors import InvalidInputError, UnsupportedOptionError
from ..ports import CHAT, HasOperations, Operation, Operations, Transpiler
from ..registry import did_you_mean, nearest_names
from ..schema.quoting import shown
from .options import CallRequest

_NONE: Operations = MappingProxyType({})


def find_operation(transpiler: Transpiler, name: str, arguments: Mapping[str, Any]) -> Operation[Any]:
    """Returns the operation `name` with its arguments.

    Raises `UnsupportedOptionError` for one that the provider does not have, `InvalidInputError` for chat, which has
    methods of its own, and for arguments that the operation does not take.
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected an operation's name, got {type(name).__name__}", path="operation")
    if not isinstance(arguments, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a mapping, got {type(arguments).__name__}", path="arguments")
    if name == CHAT:
        raise InvalidInputError("chat is not available here", path="operation", hint="Use llm.generate(...).")
    operations: Operations = transpiler.operations if isinstance(transpiler, HasOperations) else _NONE
    factory = operations.get(name)
    if factory is None:
        raise UnsupportedOptionError(f"this provider has no operation {shown(name)}.", hint=_hint(name, operations))
    try:
        inspect.signature(factory).bind(**arguments)
    except TypeError as error:
        raise InvalidInputError(f"the operation {name!r}: {error}", path="arguments") from None
    return factory(**arguments)


def prompt_for(operation: Operation[Any], prompt: str | None, request: CallRequest) -> str | None:
    """Returns the prompt of an operation: its name if none is given and none is sent, since a call has a message."""
    return (
        prompt if operation.has_input or request.get("messages") or request.get("media") else prompt or operation.name
    )


def _hint(name: str, operations: Operations) -> str:
    nearest = nearest_names(name, operations)
    if nearest:
        return did_you_mean(nearest)
    return (
        f"Its operations: {', '.join(operations)}." if operations else "It supports chat only: use llm.generate(...)."
    )
