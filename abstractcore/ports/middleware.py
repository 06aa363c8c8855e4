"""Middleware: the interfaces of code around calls and around attempts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from .. import schema
from ..errors import ConfigurationError
from ..lazy_modules import LazyModule
from ..schema import AttemptRecord, CallWarning, ModelCall, ModelReply, WireRequest, WireResponse
from ..scrubbing import Secrets
from .operations import AnyInput, Operation, OperationResult, call_in, with_call
from .pricing import NO_TERMS, BilledResponse, Pricing, Terms
from .runtimes import Runtime
from .transports import Body, FetchedFile

if TYPE_CHECKING:
    from . import conversions
else:
    conversions = LazyModule("abstractcore.ports.conversions")


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
    neither: its answer costs nothing. `terms` are what the requests ask for that changes their price. `headers` are the
    user's HTTP headers, with lower-case names, which are added last to every request. `secrets` are the credentials of
    the LLM: `secrets.text(...)` returns a text without them. `converted` has the files that were checked or converted
    for this call, and for earlier rounds of its loop: none of them is converted again. `downloads` has what was
    downloaded for them, by URL. The last `added_messages` of the call were added by its rounds. `stored` has the files
    of the request that AbstractCore uploaded to the provider's store, by id. `on_media_progress` is the user's function
    for the progress of conversions. `pricing` has the prices of a call that a backend answers instead of the LLM's
    model. `hold_end` is set where the answer will be checked: it gets the end of the call, and returns whether it will
    have the functions in `at_end` called itself. `verification` is then the result of the check.
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


Middleware: TypeAlias = CallMiddleware | AttemptMiddleware
CallNext: TypeAlias = Callable[[CallContext], Awaitable[Answer]]
AttemptNext: TypeAlias = Callable[[Attempt], Awaitable[Answer]]
