"""Code around calls and around requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..schema import (
    AttemptRecord,
    CallWarning,
    Delta,
    MediaDecision,
    ModelCall,
    ModelReply,
    Outcome,
    Usage,
    WireRequest,
)
from ..scrubbing import Secrets
from .operations import Operation, OperationResult
from .runtimes import Runtime


class DeltaStream(Protocol):
    """A streamed reply, pulled one network chunk at a time."""

    async def read(self) -> list[Delta]:
        """The next deltas; an empty list is the end."""
        ...

    async def close(self) -> None:
        """Let go of the connection. May be called again."""
        ...

    def abort(self) -> None:
        """Cut the connection from another thread."""
        ...


@runtime_checkable
class MeteredStream(DeltaStream, Protocol):
    """A stream over an answer that was paid for."""

    @property
    def taken(self) -> Usage:
        """What the answer took, as far as the provider has reported it."""
        ...


Answer: TypeAlias = ModelReply | DeltaStream | OperationResult[Any]
"""The result of a call: a whole reply; a stream whose first deltas have arrived, if `call.stream` is set; or the
result of an operation other than chat."""


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended. `deltas` are what a stream gave, as far as it came; `reply` is there if it is whole,
    `result` is that of an operation other than chat.

    `seconds` counts from the beginning of the call, `seconds_to_first` to a stream's first deltas.
    """

    outcome: Outcome
    seconds: float
    reply: ModelReply | None = None
    deltas: Sequence[Delta] = ()
    error: BaseException | None = None
    seconds_to_first: float | None = None
    result: OperationResult[Any] | None = None


@dataclass(slots=True)
class CallContext:
    """One logical call on its way through the rings. A middleware may put another call in `call`.

    `operation` is what the provider is asked for: `operation.is_chat`, or `operation.name` is "count_tokens", say.

    `began` and `deadline` are on the runtime's clock, `started_at` in seconds since the epoch. `attempts` and
    `warnings` grow as the call goes on. The functions in `at_end` are called once, however the call ends: for a stream
    that is later than `next` returns. `streams` are those that attempts gave, `middleware_streams` those that
    middleware returned: all of them are closed when the call ends. `spent` is what each whole answer to a request took,
    whatever a middleware made of it; what a streamed one took is in `streams`. A middleware that answers without a
    request adds to neither: such an answer costs nothing. `headers` are HTTP headers of the user's own, names in lower
    case, which every request gets last. `secrets` are the credentials of the LLM:
    `secrets.text(...)` is a text without them.
    """

    call: ModelCall
    runtime: Runtime
    began: float
    started_at: float
    deadline: float | None
    trace_id: str
    operation: Operation[Any]
    attempts: list[AttemptRecord] = field(default_factory=list[AttemptRecord])
    decisions: tuple[MediaDecision, ...] = ()
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])
    streams: list[DeltaStream] = field(default_factory=list[DeltaStream])
    middleware_streams: list[DeltaStream] = field(default_factory=list[DeltaStream])
    spent: list[Usage] = field(default_factory=list[Usage])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    at_end: list[Callable[[CallEnd], None]] = field(default_factory=list[Callable[[CallEnd], None]])
    secrets: Secrets = field(default_factory=Secrets, repr=False)


@dataclass(slots=True)
class Attempt:
    """One request on its way to the provider. `operation` reads its response."""

    context: CallContext
    request: WireRequest
    operation: Operation[Any]
    number: int = 1


class CallMiddleware(Protocol):
    """Code around every logical call. It may answer without going on, change what goes on, or fail.

    Calls of every operation come here. One that answers by itself answers an operation other than chat with an
    `OperationResult`, or returns `await next(context)`.

    For a stream, `next` returns when the first deltas are there; what happens later is seen by returning a
    `DeltaStream` of one's own.
    """

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Once per call, before files are handled and the request is made."""
        ...


class AttemptMiddleware(Protocol):
    """Code around every request. It may also try again.

    One that answers every request by itself may say so with an attribute `offline` that is True: its LLM needs no API
    key, and sends nothing. `attempt.operation.read(response)` is the answer in a response that it has.
    """

    def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Awaitable[Answer]:
        """Once per request, before its bytes leave."""
        ...


Middleware: TypeAlias = CallMiddleware | AttemptMiddleware
CallNext: TypeAlias = Callable[[CallContext], Awaitable[Answer]]
AttemptNext: TypeAlias = Callable[[Attempt], Awaitable[Answer]]
