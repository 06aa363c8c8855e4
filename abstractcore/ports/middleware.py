"""`Operation`: a kind of request to a provider. `CallContext`, `Attempt`: one on its way through the middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, Union, cast, runtime_checkable

from .. import schema
from ..errors import ConfigurationError
from ..lazy_modules import LazyModule
from ..schema import (
    AttemptRecord,
    CallWarning,
    CostSource,
    Encoded,
    JSONValue,
    MediaKind,
    ModelCall,
    ModelReply,
    Usage,
    WireRequest,
    WireResponse,
)
from ..schema.costs import CostSums, FindCost, HasDeferredCost
from ..scrubbing import Secrets
from .pricing import NO_TERMS, BilledResponse, Pricing, Terms
from .runtimes import Runtime
from .transports import Body, FetchedFile

if TYPE_CHECKING:
    from . import conversions
else:
    conversions = LazyModule("abstractcore.ports.conversions")

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
EMBED = "embed"
"""The operation on an `EmbedInput` whose result is an `EmbedReply`."""
RERANK = "rerank"
"""The operation on a `RerankInput` whose result is a `RerankReply`."""


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
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None

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


class DeltaStream(Protocol):
    """A streamed reply, read one network chunk at a time."""

    async def read(self) -> list[schema.Delta]:
        """Returns the next deltas; an empty list at the end."""
        ...

    async def close(self) -> None:
        """Releases the connection. May be called again."""
        ...

    def abort(self) -> None:
        """Closes the connection. May be called from any thread."""
        ...


@runtime_checkable
class MeteredStream(DeltaStream, Protocol):
    """A stream of a provider's response, which has its price."""

    @property
    def billed(self) -> BilledResponse:
        """The response so far, with the usage that the provider has reported."""
        ...


Answer: TypeAlias = ModelReply | DeltaStream | OperationResult[Any]
"""The result of a call: a whole reply; a stream whose first deltas have arrived, if `call.stream` is set; or the
result of an operation other than chat."""


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended. `deltas` are those of a stream so far; `reply` is set if it is complete, `result` for an
    operation other than chat.

    `seconds` is the duration of the call, `seconds_to_first` the time to a stream's first deltas.
    """

    outcome: schema.Outcome
    seconds: float
    reply: ModelReply | None = None
    deltas: Sequence[schema.Delta] = ()
    error: BaseException | None = None
    seconds_to_first: float | None = None
    result: OperationResult[Any] | None = None


@dataclass(frozen=True, slots=True)
class CacheHit:
    """An answer that a cache gave instead of a request: when it was asked for, in seconds since the epoch, and the
    tokens and the model that it took then.
    """

    stored_at: float
    usage: Usage
    model: str


class NestedCall(NamedTuple):
    """A call that was made for another one, and has a record and budgets of its own: its tokens and its cost are those
    of the response to the other call too, and of no further sum.
    """

    usage: Usage
    find_cost: FindCost


@dataclass(slots=True)
class CallContext:
    """One request on its way through the middleware. A middleware may set `input` to another one of the same class.

    `operation` is the requested operation: `operation.is_chat`, or a name such as "count_tokens" in `operation.name`.
    `input` is what it is requested for. That of a chat is its call: `call`, which a middleware may set too; texts to
    embed, and other inputs without a call, have none. Every input has `model`, `provider`, `strict`, `tags` and
    `parent_id`.

    `monotonic_start` and `deadline` are on the runtime's clock, `started_at` in seconds since the epoch. `attempts` and
    `warnings` grow during the call. The functions in `at_end` are called once, however the call ends; for a stream that
    is after `next` has returned. `streams` are those of attempts, `middleware_streams` those that middleware returned:
    all of them are closed when the call ends. `responses` are the complete ones, each with its usage, whatever
    middleware returned instead; streamed ones are in `streams`. A middleware that answers without a request adds to
    neither: its answer costs nothing. `lost` are requests that left and whose responses have not arrived, and `unsent`
    counts the attempts that have sent nothing. `terms` are what the requests ask for that changes their price.
    `headers` are the user's HTTP headers, with lower-case names, which are added last to every request. `secrets` are
    the credentials of the LLM: `secrets.text(...)` returns a text without them. `converted` has the files that were
    checked or converted for this call, and for earlier rounds of its loop: none of them is converted again. `downloads`
    has what was downloaded for them, by URL. The last `added_messages` of the call were added by its rounds. `stored`
    has the files of the request that AbstractCore uploaded to the provider's store, by id. `on_media_progress` is the
    user's function for the progress of conversions. `pricing` has the prices of a call that a backend answers instead
    of the LLM's model. `hold_end` is set where the answer will be checked: it gets the end of the call, and returns
    whether it will have the functions in `at_end` called itself. `verification` is then the result of the check.
    `before_request` is awaited before each request leaves. `interaction` is the id of the interaction that the call
    belongs to, if there is one. An answer that is `discarded` is asked for again. `count_cost` is called with US
    dollars that were spent for the call beside its requests, such as the price of a tool run. `trace_context` is the
    span of another tracing system that the call belongs to, `span` its own one, which its requests name. `nested` are
    the calls that were made for this one, such as captions of its files: they have records of their own. `conversation`
    is an id of the rounds that it is one of; one that `corrects` follows an answer that was not valid. A call that
    `is_taken_over` is made by another LLM than the one that began it. Its answer has to arrive, or a stream to begin,
    at `begin_by` on the runtime's clock; a pause of more than `longest_pause` seconds before a retry ends its attempts.
    Of calls that wait for limits, those of a higher `priority` go first; `seconds_waited` is how long this one has
    waited for them. A key that was refused is asked for once more: `key_is_renewed`. A cache that answers the call sets
    `cache_hit`. A call of a group of models that a member has answered as it was has in `asked` the input that the
    group was given.
    """

    input: AnyInput
    runtime: Runtime
    monotonic_start: float
    started_at: float
    deadline: float | None
    trace_id: str
    operation: Operation[Any, Any]
    attempts: list[AttemptRecord] = field(default_factory=list[AttemptRecord])
    decisions: tuple[schema.MediaDecision, ...] = ()
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])
    streams: list[DeltaStream] = field(default_factory=list[DeltaStream])
    middleware_streams: list[DeltaStream] = field(default_factory=list[DeltaStream])
    responses: list[BilledResponse] = field(default_factory=list[BilledResponse])
    lost: list[BilledResponse] = field(default_factory=list[BilledResponse])
    unsent: int = 0
    terms: Terms = NO_TERMS
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    at_end: list[Callable[[CallEnd], None]] = field(default_factory=list[Callable[[CallEnd], None]])
    secrets: Secrets = field(default_factory=Secrets, repr=False)
    converted: conversions.ConvertedFiles = field(default_factory=dict[Any, Any], repr=False)
    downloads: dict[str, FetchedFile] = field(default_factory=dict[Any, Any], repr=False)
    added_messages: int = 0
    stored: dict[str, schema.StoredFile] = field(default_factory=dict[str, Any])
    on_media_progress: Callable[[schema.MediaProgress], object] | None = field(default=None, repr=False)
    pricing: Pricing | None = field(default=None, repr=False)
    hold_end: Callable[[CallContext, CallEnd], bool] | None = field(default=None, repr=False)
    verification: schema.Verification | None = None
    before_request: Callable[[], Awaitable[None]] | None = field(default=None, repr=False)
    count_cost: Callable[[Decimal], object] | None = field(default=None, repr=False)
    interaction: str | None = None
    discarded: bool = False
    trace_context: Mapping[str, str] = field(default_factory=dict[str, str])
    span: Mapping[str, str] = field(default_factory=dict[str, str])
    nested: list[NestedCall] = field(default_factory=list["NestedCall"], repr=False)
    conversation: str | None = None
    corrects: bool = False
    is_taken_over: bool = False
    begin_by: float | None = None
    longest_pause: float | None = None
    cache_hit: CacheHit | None = None
    priority: int = 0
    seconds_waited: float = 0.0
    key_is_renewed: bool = False
    asked: AnyInput | None = None

    @property
    def call(self) -> ModelCall:
        """The call that the input is, or has. Raises `ConfigurationError` for an input without one, such as that of
        an embedding: see `operation.takes_call`.
        """
        call = call_in(self.input)
        if call is None:
            raise self._without_call()
        return call

    @call.setter
    def call(self, call: ModelCall) -> None:
        if call_in(self.input) is None:
            raise self._without_call()
        self.input = with_call(self.input, call)

    def _without_call(self) -> ConfigurationError:
        return ConfigurationError(
            f"the operation {self.operation.name!r} has no call: its input is a {type(self.input).__name__}.",
            hint="Use context.input, or context.call only if context.operation.takes_call.",
        )


@dataclass(slots=True)
class Attempt:
    """One attempt: a request to the provider. `operation` decodes its response.

    `encoded` is the input that the request was encoded from: that of the context, unless the model or the files of its
    call made changes necessary; None for a request that a backend sends. `listen`, if set, gets the response before its
    body is read, and returns the one that is read instead of it.
    """

    context: CallContext
    request: WireRequest
    operation: Operation[Any, Any]
    number: int = 1
    listen: Callable[[Body], Body] | None = None
    encoded: AnyInput | None = None

    def read(self, response: WireResponse) -> ModelReply | OperationResult[Any]:
        """Returns the result of a successful response; raises `ServerError` for an invalid one."""
        return self.operation.read(response, self.encoded)


class CallMiddleware(Protocol):
    """Code around every logical call, of any operation. It may change the call, answer without `next`, or raise.

    To answer an operation other than chat, it returns an `OperationResult` (of one that a backend answers, a
    `ModelReply`), or the result of `await next(context)`.

    For a stream, `next` returns when the first deltas have arrived; return a `DeltaStream` that wraps it to handle the
    following ones.
    """

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Called once per call, before files are handled and the request is encoded."""
        ...


class AttemptMiddleware(Protocol):
    """Code around every attempt. It may retry.

    One that answers every request without sending it may set an attribute `offline` to True: its LLM needs no API key.
    `attempt.read(response)` decodes a response.
    """

    def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Awaitable[Answer]:
        """Called once per attempt, before the request is sent."""
        ...


@runtime_checkable
class DependsOnSettings(Protocol):
    """Middleware whose behaviour depends on the settings of its LLM, as that of a cache does."""

    def for_settings(self, digest: Callable[[], str]) -> CallMiddleware:
        """Returns the middleware of one LLM. `digest` returns the SHA-256 of what its answers depend on besides their
        calls: the server with its credentials, options such as `vision_model`, and facts about the model.
        """
        ...


Middleware: TypeAlias = CallMiddleware | AttemptMiddleware
CallNext: TypeAlias = Callable[[CallContext], Awaitable[Answer]]
AttemptNext: TypeAlias = Callable[[Attempt], Awaitable[Answer]]

enclosing_call: ContextVar[CallContext | None] = ContextVar("abstractcore_enclosing_call", default=None)
"""The call that this code runs for, in a conversion of its files or in a backend: calls that are made here are
`nested` in it.
"""
current_budgets: ContextVar[tuple[Any, ...]] = ContextVar("abstractcore_budgets", default=())
"""The budgets of the calls and the `with` blocks that this code runs in, outermost first: they hold for further calls
that are made here. It is here, and not with budgets, which a call without any does not import.
"""
