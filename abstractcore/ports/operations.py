"""`Operation`: a kind of request to a provider: chat, counting tokens, cached contents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from ..schema import CallWarning, CostSource, Encoded, JSONValue, MediaKind, ModelCall, ModelReply, Usage, WireResponse
from ..schema.deferred_costs import HasDeferredCost

T = TypeVar("T")


def _unknown_usage(value: object) -> Usage:
    return Usage()


def _nothing(value: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """One operation of a wire format, as pure functions. The engine sends, limits, retries and records it.

    `encode` returns the request for a lowered call; it raises `UnsupportedContentError` for content that the request
    cannot express. `decode` reads a successful response; it raises `ServerError` for an invalid one. `usage` returns
    the tokens that the provider reports in the result, and `to_record` its JSON for records with full content. One that
    `is_free` costs nothing, whatever it reports. Without `has_input`, the request has nothing of the call's messages.
    `reads_headers` are the headers of the response that `decode` reads. A failed request that `may_repeat` is sent
    again as it is; another one is continued by whoever makes it. Files of the kinds `natively` are its input: they are
    sent as they are, whatever the media policy says.
    """

    name: str
    encode: Callable[[ModelCall], Encoded]
    decode: Callable[[WireResponse], T]
    usage: Callable[[T], Usage] = _unknown_usage
    is_free: bool = False
    to_record: Callable[[T], JSONValue] = _nothing
    has_input: bool = True
    reads_headers: frozenset[str] = frozenset()
    may_repeat: bool = True
    natively: frozenset[MediaKind] = frozenset()

    @property
    def is_chat(self) -> bool:
        """Whether the result is a reply, which may be streamed."""
        return self.name == CHAT

    def read(self, response: WireResponse) -> ModelReply | OperationResult[T]:
        """Returns the result of a successful response. Raises as `decode` does."""
        value = self.decode(response)
        if self.is_chat and isinstance(value, ModelReply):
            return value
        return OperationResult(value, self.usage(value))


CHAT = "chat"
"""The operation whose result is a `ModelReply`. Every transpiler has it."""
TRANSCRIBE = "transcribe"
"""The operation whose result is a `Transcription` of the recording in a call. Its arguments are those of a
`Transcriber`, and `seconds`, the length of the recording."""


@dataclass(frozen=True, slots=True)
class OperationResult(HasDeferredCost, Generic[T]):
    """The result of an operation other than chat. `warnings` name what the request could not express.

    `cost` is in US dollars, with what `GenerateResponse` has beside it; it is computed when it is first read. Results
    that middleware and transpilers make have none.
    """

    value: T
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[CallWarning, ...] = ()
    cost: Decimal | None = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()

    @property
    def model(self) -> str | None:
        """The model that the provider reports in a result that is a reply."""
        return self.value.model if isinstance(self.value, ModelReply) else None


Operations: TypeAlias = Mapping[str, Callable[..., Operation[Any]]]
"""Operations other than chat by name. Each takes its arguments besides the call by keyword."""


class Operator(Protocol):
    """An object with operations, such as an LLM; for helpers of one vendor."""

    @property
    def operate(self) -> Callable[..., OperationResult[Any]]:
        """The method `LLM.operate`: takes the operation's name, then the arguments of `generate`."""
        ...

    @property
    def aoperate(self) -> Callable[..., Awaitable[OperationResult[Any]]]:
        """The async version of `operate`."""
        ...


@runtime_checkable
class ReportsAlternatives(Protocol):
    """A wire format whose replies have the most probable tokens. Transpilers may implement it."""

    @property
    def most_alternatives(self) -> int:
        """The highest `top_logprobs` that the provider accepts."""
        ...


@runtime_checkable
class HasOperations(Protocol):
    """A wire format with operations other than chat. Transpilers may implement it."""

    @property
    def operations(self) -> Operations:
        """Its operations, such as `count_tokens`."""
        ...
