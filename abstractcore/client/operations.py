"""Operations of a provider's wire format, by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..errors import InvalidInputError, UnsupportedOptionError
from ..ports import HasOperations, Operation, Operations, Transpiler
from ..registry import did_you_mean, nearest_names
from ..schema.quoting import shown

_NONE: Operations = MappingProxyType({})


def find_operation(transpiler: Transpiler, name: str, arguments: Mapping[str, Any]) -> Operation[Any]:
    """Returns the operation `name` with its arguments.

    Raises `UnsupportedOptionError` for one that the provider does not have, `InvalidInputError` for arguments that it
    does not take.
    """
    operations: Operations = transpiler.operations if isinstance(transpiler, HasOperations) else _NONE
    factory = operations.get(name)
    if factory is None:
        nearest = nearest_names(name, operations)
        hint = did_you_mean(nearest) if nearest else f"Its operations are: {', '.join(['chat', *operations])}."
        raise UnsupportedOptionError(f"this provider has no operation {shown(name)}.", hint=hint)
    try:
        inspect.signature(factory).bind(**arguments)
    except TypeError as error:
        raise InvalidInputError(f"the operation {name!r}: {error}", path="arguments") from None
    return factory(**arguments)
