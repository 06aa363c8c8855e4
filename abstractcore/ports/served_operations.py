"""`ServedOperation`: the server side of an operation other than chat. Programs that only call models do without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from ..schema import ParsedInput, Rendered, WireRequest

Input = TypeVar("Input")
Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class ServedOperation(Generic[Input, Output]):
    """One operation of a wire format for servers, as pure functions; `name` is that of the client side.

    `parse` returns the input of a client's request; it raises `InvalidInputError` with the path of an invalid value.
    `render` returns the body of the response to that request, which may say how: as base64, say. Its warnings name what
    the response cannot express.
    """

    name: str
    parse: Callable[[WireRequest], ParsedInput[Input]]
    render: Callable[[Output, WireRequest], Rendered]


@runtime_checkable
class ServesOperations(Protocol):
    """A wire format with the server side of operations other than chat. Transpilers may implement it."""

    @property
    def served_operations(self) -> Mapping[str, ServedOperation[Any, Any]]:
        """The operations by name, such as "embed"."""
        ...
