"""What a provider can be asked for: a chat, a token count, content to keep; later embeddings, speech, images."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from ..schema import CallWarning, Encoded, JSONValue, ModelCall, ModelReply, Usage, WireResponse

T = TypeVar("T")


def _unknown_usage(value: object) -> Usage:
    return Usage()


def _nothing(value: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """One operation of a wire format. Pure, as the format is; the engine sends, limits, retries and records it.

    `encode` makes the request for a lowered call; it raises `UnsupportedContentError` for content that has no place in
    it. `decode` reads a successful response; it raises `ServerError` for what is not one. `usage` returns the tokens
    that the provider reports in the result, and `to_record` what a record with full content shows of it.
    """

    name: str
    encode: Callable[[ModelCall], Encoded]
    decode: Callable[[WireResponse], T]
    usage: Callable[[T], Usage] = _unknown_usage
    to_record: Callable[[T], JSONValue] = _nothing

    @property
    def is_chat(self) -> bool:
        """Whether its result is a reply, which may be streamed."""
        return self.name == CHAT

    def read(self, response: WireResponse) -> ModelReply | OperationResult[T]:
        """Returns the result in a successful response. Raises as `decode` does."""
        value = self.decode(response)
        return value if isinstance(value, ModelReply) else OperationResult(value, self.usage(value))


CHAT = "chat"
"""The operation whose result is a `ModelReply`. Every transpiler has it."""


@dataclass(frozen=True, slots=True)
class OperationResult(Generic[T]):
    """The result of an operation other than chat. `warnings` name what the request could not ask for."""

    value: T
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[CallWarning, ...] = ()


Operations: TypeAlias = Mapping[str, Callable[..., Operation[Any]]]
"""Operations other than chat by name. Each takes the arguments that it needs beside the call, by keyword."""


class Operator(Protocol):
    """What can be asked for operations, as an LLM can; for helpers of a vendor's own."""

    @property
    def operate(self) -> Callable[..., OperationResult[Any]]:
        """As `LLM.operate`: the operation's name, then the arguments of `generate`."""
        ...

    @property
    def aoperate(self) -> Callable[..., Awaitable[OperationResult[Any]]]:
        """As `operate`, in an event loop."""
        ...


@runtime_checkable
class HasOperations(Protocol):
    """A wire format with operations other than chat: a transpiler may be one too."""

    @property
    def operations(self) -> Operations:
        """Its operations, such as `count_tokens`."""
        ...
