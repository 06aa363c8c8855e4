"""`Operation`: a kind of request to a provider: what is requested, how it is sent, and what the response says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, Union, cast, runtime_checkable

from .. import schema
from ..schema import CallWarning, CostSource, Encoded, JSONValue, MediaKind, ModelCall, ModelReply, Usage, WireResponse
from ..schema.replies import HasDeferredCost

AnyInput: TypeAlias = Union[ModelCall, "schema.CallInput", "schema.OperationInput"]
"""The input of an operation."""
Input = TypeVar("Input")
Output = TypeVar("Output")


def _unknown_usage(value: object) -> Usage:
    return Usage()


def _nothing(value: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Operation(Generic[Input, Output]):
    """One operation of a wire format, as pure functions. The engine sends, limits, retries and records it.

    `input` is the class of its inputs: `ModelCall` for a chat or a token count, a `CallInput` for a call with
    arguments, an `OperationInput` for all others, such as texts to embed. A call is lowered before it is encoded.
    `encode` returns the request for an input; it raises `UnsupportedContentError` for content that the request cannot
    express. `decode` reads a successful response to an input; it raises `ServerError` for an invalid one.

    `usage` returns the tokens that the provider reports in the result, and `to_record` its JSON for records with full
    content. One that `is_free` costs nothing, whatever it reports. `reads_headers` are the headers of the response that
    `decode` reads. A failed request that `may_repeat` is sent again as it is; another one is continued by whoever makes
    it. Files of the kinds `natively` in a call are sent as they are, whatever the media policy says.
    """

    name: str
    input: type[Input]
    encode: Callable[[Input], Encoded]
    decode: Callable[[WireResponse, Input], Output]
    usage: Callable[[Output], Usage] = _unknown_usage
    is_free: bool = False
    to_record: Callable[[Output], JSONValue] = _nothing
    reads_headers: frozenset[str] = frozenset()
    may_repeat: bool = True
    natively: frozenset[MediaKind] = frozenset()

    @property
    def is_chat(self) -> bool:
        """Whether the result is a reply, which may be streamed."""
        return self.name == CHAT

    @property
    def takes_call(self) -> bool:
        """Whether the input is a call, or has one: the `call` of a context."""
        return self.input is ModelCall or issubclass(self.input, schema.CallInput)

    def read(self, response: WireResponse, given: Input) -> ModelReply | OperationResult[Output]:
        """Returns the result of a successful response to an input. Raises as `decode` does."""
        value = self.decode(response, given)
        if self.is_chat and isinstance(value, ModelReply):
            return value
        return OperationResult(value, self.usage(value))


CHAT = "chat"
"""The operation on a `ModelCall` whose result is a `ModelReply`. Every transpiler has it."""
TRANSCRIBE = "transcribe"
"""The operation on a `TranscriptionInput` whose result is a `Transcription`."""


def call_in(given: AnyInput) -> ModelCall | None:
    """Returns the call that an input is, or has; None for one without a call."""
    if isinstance(given, ModelCall):
        return given
    return given.call if isinstance(given, schema.CallInput) else None


def with_call(given: AnyInput, call: ModelCall) -> ModelCall | schema.CallInput:
    """Returns an input that is a call, or has one, with another call."""
    return call if isinstance(given, ModelCall) else cast("schema.CallInput", given).with_(call=call)


@dataclass(frozen=True, slots=True)
class OperationResult(HasDeferredCost, Generic[Output]):
    """The result of an operation other than chat. `warnings` name what the request could not express.

    `cost` is in US dollars, with what `GenerateResponse` has beside it; it is computed when it is first read. Results
    that middleware and transpilers make have none.
    """

    value: Output
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


Operations: TypeAlias = Mapping[str, Operation[Any, Any]]
"""Operations other than chat by name."""


class Operator(Protocol):
    """An object with operations, such as an LLM; for helpers of one vendor."""

    @property
    def operate(self) -> Callable[..., OperationResult[Any]]:
        """The method `LLM.operate`: takes the operation's name, then the arguments of its input."""
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
