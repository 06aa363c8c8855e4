"""`Invocation`: one call of a method of a backend: the attempt of its call, in place of a request to the provider.

`CurrentCall` is the call in which its code runs, for what its owner offers; `PieceStream` the pieces that it yields.
"""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from ..concurrency.functions import is_async
from ..engine import out_of_time, overdue, remaining, time_given
from ..errors import (
    AbstractCoreError,
    AuthenticationError,
    BackendError,
    ConfigurationError,
    ServerError,
    StreamInterruptedError,
)
from ..ports import Answer, Attempt, BilledResponse, CallContext, Feed, Interruption, Operation, Runtime
from ..ports.capabilities import Made, MediaBytes
from ..ports.middleware import enclosing_call
from ..registry import failure_text
from ..schema import (
    EMPTY,
    MEDIA_PARTS,
    AttemptRecord,
    Delta,
    Encoded,
    JSONValue,
    ModelReply,
    OperationInput,
    PartDelta,
    ReplyEnd,
    ReplyStart,
    SchemaError,
    Usage,
    UsageDelta,
    WireRequest,
    WireResponse,
    freeze,
)
from .results import MODEL, ResultReader

if TYPE_CHECKING:
    from ..engine import Pipeline
    from ..schema import CallProgress


@dataclass(frozen=True, slots=True)
class CurrentCall:
    """A call of a backend, and the pipeline, sync or async, that makes it."""

    context: CallContext
    pipeline: Pipeline
    on_progress: Callable[[CallProgress], object] | None = None

    @contextmanager
    def running(self) -> Generator[None]:
        """Makes this the current call of the block, and of threads and tasks that it starts."""
        token, enclosing = _current.set(self), enclosing_call.set(self.context)
        try:
            yield
        finally:
            enclosing_call.reset(enclosing)
            _current.reset(token)


_current: ContextVar[CurrentCall | None] = ContextVar("abstractcore_backend_call", default=None)


def current_call(what: str) -> CurrentCall:
    """Returns the current call; raises `ConfigurationError`, which names `what` needs it, outside of all calls."""
    call = _current.get()
    if call is None:
        raise ConfigurationError(f"{what} is available in calls of a backend only.")
    return call


@dataclass(frozen=True, slots=True)
class BackendInput(OperationInput):
    """The arguments of a method of a backend, the provider: texts, files, and any other values of Python code."""

    arguments: tuple[object, ...] = ()
    keywords: Mapping[str, object] = EMPTY
    stream: bool = False

    def for_record(self) -> BackendInput:
        """Returns the input with files as parts, and with the types of values that JSON cannot represent."""
        arguments = tuple(map(_record_value, self.arguments))
        return self.with_(arguments=arguments, keywords={name: _record_value(v) for name, v in self.keywords.items()})


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of `method`, a method of the backend `backend_id`.

    `without_key` returns the error to raise where the backend has no key. One that `is_local` costs nothing itself.
    """

    backend_id: str
    name: str
    method: Callable[..., object]
    reader: ResultReader
    without_key: Callable[[AuthenticationError], AbstractCoreError]
    is_local: bool = False
    on_progress: Callable[[CallProgress], object] | None = None

    @property
    def operation(self) -> Operation[BackendInput, ModelReply]:
        """The operation that is answered by the backend."""
        return Operation(self.name, BackendInput, self.encode, _no_response, may_repeat=False)

    def encode(self, given: BackendInput) -> Encoded:
        """Returns the call as a request, for attempts and cassettes, with the hash of each file."""
        named = {name: _shown(value) for name, value in given.keywords.items()}
        shown = {"backend": self.backend_id, "arguments": [*map(_shown, given.arguments)], **named}
        body = json.dumps(shown, ensure_ascii=False, sort_keys=True).encode()
        return Encoded(WireRequest(f"/{self.name}", {"content-type": "application/json"}, body))

    async def answer(self, pipeline: Pipeline, now: Callable[[], float], attempt: Attempt) -> Answer:
        """Calls the method and returns its result as a reply, or as a stream of parts.

        Raises `BackendError` for exceptions that are none of this package, and `PluginError` for an invalid result.
        `now` returns seconds since the epoch.
        """
        context, given = attempt.context, cast(BackendInput, attempt.encoded)
        began, started_at, before = context.runtime.now(), now(), len(context.attempts)
        current = CurrentCall(context, pipeline, self.on_progress)
        failure: BaseException | None = None
        try:
            with current.running():
                value = await self._call_method(given, context)
                if given.stream:
                    stream = PieceStream(value, self, current, started_at)
                    await stream.begin()
                    context.streams.append(stream)
                    return stream
            reply = self.reader.reply(value)
            context.responses.append(BilledResponse(reply.usage, reply.model or "", started_at))
            return reply
        except BaseException as error:
            failure = self.explained(error, context)
            if failure is error:
                raise
            raise failure from error
        finally:
            if len(context.attempts) == before:
                seconds = context.runtime.now() - began
                name = None if failure is None else type(failure).__name__
                context.unsent += int(self.is_local)
                context.attempts.append(AttemptRecord(before + 1, started_at, seconds, error=name))

    async def _call_method(self, given: BackendInput, context: CallContext) -> object:
        call = partial(self.method, *given.arguments, **given.keywords)
        if given.stream:
            value = call()  # a generator has not begun yet
            return await cast("Awaitable[object]", value) if isinstance(value, Awaitable) else value
        if is_async(self.method):
            return await cast("Awaitable[object]", call())
        value = await context.runtime.invoke(call)
        return [*cast("Iterator[object]", value)] if isinstance(value, Iterator) else value

    def explained(self, error: BaseException, context: CallContext) -> BaseException:
        """Returns `error`, or as a `BackendError` if it is an exception that is none of this package; for one of a key
        that no request has been sent with, what `without_key` returns.
        """
        if not isinstance(error, Exception) or (isinstance(error, TimeoutError) and overdue(context)):
            return error
        if isinstance(error, AuthenticationError) and error.status is None:
            return self.without_key(error)
        if isinstance(error, AbstractCoreError) and not isinstance(error, SchemaError):
            return error
        return BackendError(f"{self.name} failed: {failure_text(error)}", provider=self.backend_id)


def _no_response(response: WireResponse, given: BackendInput) -> ModelReply:
    raise ServerError("a backend answers without a response")


def _record_value(value: object) -> object:
    """Returns an argument as records have it: a file as its part."""
    if isinstance(value, MediaBytes):
        return value.part
    return value if isinstance(value, MEDIA_PARTS) else _shown(value)


def _shown(value: object) -> JSONValue:
    """Returns an argument as JSON."""
    if isinstance(value, MediaBytes):
        return {"media_type": value.media_type, "sha256": value.part.blob.sha256}
    if isinstance(value, MEDIA_PARTS):
        return {"media_type": value.blob.media_type, "sha256": value.blob.sha256}
    if isinstance(value, Mapping | list | tuple | str | int | float | bool | None):
        with suppress(SchemaError, TypeError, ValueError):
            return cast("JSONValue", json.loads(json.dumps(freeze(cast(object, value)))))
    return {"type": type(cast(object, value)).__name__}


class PieceStream:
    """The pieces of one call of a backend.

    An async generator is read by the caller. A sync one runs in a thread of its own from its begin to its end, since it
    may hold locks.
    """

    def __init__(self, value: object, invocation: Invocation, current: CurrentCall, started_at: float) -> None:
        self._invocation = invocation
        self._current = current
        self._started_at = started_at
        self._interruption = Interruption()
        self._pieces = _pieces(value, current.context.runtime)
        self._first: list[Delta] | None = None
        self._sequence = self._block = 0
        self._usage = Usage()
        self._metadata: dict[str, JSONValue] = {}
        self._ended = False

    @property
    def billed(self) -> BilledResponse:
        """The usage so far."""
        model = str(self._metadata.get(MODEL, ""))
        return BilledResponse(self._usage, model, self._started_at, complete=self._ended)

    async def begin(self) -> None:
        """Reads the first pieces."""
        self._first = [ReplyStart(self._next_number()), *await self._read()]

    async def read(self) -> list[Delta]:
        """Returns the next deltas; an empty list at the end."""
        first, self._first = self._first, None
        return first or await self._read()

    async def close(self) -> None:
        """Ends the backend's generator, a sync one after its current piece."""
        with self._current.running():
            await self._pieces.close()

    def abort(self) -> None:
        """Ends a read in progress. May be called from any thread."""
        self._interruption.set()
        self._pieces.stop()

    async def _read(self) -> list[Delta]:
        deltas: list[Delta] = []
        while not deltas and not self._ended:
            try:
                with self._current.running():
                    pieces = await self._read_in_time()
                for piece in pieces:
                    deltas += self._deltas(piece)
            except BaseException as error:
                failure = self._invocation.explained(error, self._current.context)
                if failure is error:
                    raise
                raise failure from error
            if not pieces:
                self._ended = True
                deltas.append(UsageDelta(self._next_number(), self._usage))
                deltas.append(ReplyEnd(self._next_number(), "stop", provider_metadata=self._metadata))
        return deltas

    async def _read_in_time(self) -> list[object]:
        context = self._current.context
        left = remaining(context)
        alarm_off = None if left is None else context.runtime.alarm(left, self._interruption.set)
        try:
            return await context.runtime.interruptible(self._interruption, self._pieces.read)
        except (StreamInterruptedError, TimeoutError):
            if overdue(context):
                raise out_of_time(time_given(context)) from None
            raise
        finally:
            if alarm_off is not None:
                alarm_off()

    def _deltas(self, piece: object) -> list[Delta]:
        if isinstance(piece, Made):
            self._metadata |= piece.metadata
            if piece.model is not None:
                self._metadata[MODEL] = piece.model
            self._usage = piece.usage or self._usage
            self._current.context.warnings += piece.warnings
            piece = piece.content
        deltas: list[Delta] = []
        for part in self._invocation.reader.pieces(piece):
            deltas.append(PartDelta(self._next_number(), self._block, part))
            self._block += 1
        return deltas

    def _next_number(self) -> int:
        self._sequence += 1
        return self._sequence - 1


class _Pieces(Protocol):
    """What a backend yields."""

    async def read(self) -> list[object]:
        """Returns the next pieces; an empty list at the end."""
        ...

    async def close(self) -> None: ...

    def stop(self) -> None:
        """Notifies a generator in another thread that its pieces are not wanted any more."""
        ...


def _pieces(value: object, runtime: Runtime) -> _Pieces:
    if isinstance(value, AsyncIterator):
        return _AsyncPieces(cast("AsyncIterator[object]", value))
    return _ThreadPieces(cast("Iterator[object]", value) if isinstance(value, Iterator) else iter([value]), runtime)


class _AsyncPieces:
    def __init__(self, source: AsyncIterator[object]) -> None:
        self._source = source

    async def read(self) -> list[object]:
        try:
            return [await anext(self._source)]
        except StopAsyncIteration:
            return []

    async def close(self) -> None:
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()

    def stop(self) -> None:
        """Does nothing: the interruption of the call ends its waits."""


class _ThreadPieces:
    def __init__(self, source: Iterator[object], runtime: Runtime) -> None:
        self._source = source
        self._runtime = runtime
        self._stopped = threading.Event()
        self._feed: Feed[object] = runtime.feed(self._produce)

    async def read(self) -> list[object]:
        return await self._feed.read()

    async def close(self) -> None:
        self.stop()
        await self._feed.close()

    def stop(self) -> None:
        self._stopped.set()

    async def _produce(self, put: Callable[[object], None]) -> None:
        await self._runtime.invoke(self._run, put)

    def _run(self, put: Callable[[object], None]) -> None:
        try:
            for piece in self._source:
                put(piece)
                if self._stopped.is_set():
                    return
        finally:
            close = getattr(self._source, "close", None)
            if close is not None:
                close()
