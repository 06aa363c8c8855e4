"""`Stream` and `AsyncStream`: the deltas of an answer as they arrive, and the response at the end."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from ..concurrency import drive
from ..copying import NotCopied
from ..engine import CallStream
from ..errors import InvalidInputError, OutputValidationError
from ..lazy_modules import LazyModule
from ..schema import GenerateResponse, ModelReply, StreamEvent, TextDelta, ToolLoop
from ..schema.reprs import RichDisplay, short_repr

if TYPE_CHECKING:
    from ..concurrency import LoopCloser
    from ..engine import interruptions, round_stream
    from ..outputs.partial_output import Elements, PartialOutput
else:
    interruptions = LazyModule("abstractcore.engine.interruptions")
    round_stream = LazyModule("abstractcore.engine.round_stream")

T = TypeVar("T")
E = TypeVar("E")


def _needs(what: str, use: str) -> Callable[..., NoReturn]:
    def refuse(*arguments: object) -> NoReturn:
        raise InvalidInputError(f"this stream supports only {what}.", hint=f"Use `{use}`.")

    return refuse


class _StreamBase(NotCopied, RichDisplay, Generic[T]):
    _holds = "a running call"
    _instead = "Read it to its end, and pass on `stream.response`."

    def __init__(self, call: CallStream | round_stream.RoundStream | interruptions.WrappedStream) -> None:
        self._call = call
        self._batch: Sequence[StreamEvent] = ()
        self._next = 0
        self._partial_output: PartialOutput | None = None
        output = call.output_type
        if output is not None:
            from ..outputs.partial_output import PartialOutput

            self._partial_output = PartialOutput(output)

    @property
    def partial_output(self) -> Any:
        """The output so far as JSON data, which is not validated; None while there is none, and without
        `response_model`. It begins anew with a further attempt. `response.output` is the validated one.
        """
        if self._partial_output is None:
            return None
        self._partial_output.mark_read(self._next)
        return self._partial_output.value

    def _take(self, batch: Sequence[StreamEvent]) -> None:
        self._batch, self._next = batch, 0
        if self._partial_output is not None:
            self._partial_output.next_batch(batch)

    def _rest(self) -> Sequence[StreamEvent]:
        """Returns the events of the batch that were not returned yet."""
        left = self._batch[self._next :] if self._next else self._batch
        self._next = len(self._batch)
        return left

    def _begin_elements(self) -> Elements:
        from ..outputs.partial_output import Elements

        output = self._call.output_type
        if output is None:
            hint = "Pass response_model=list[TYPE]."
            raise InvalidInputError("a stream without response_model has no elements", path="response_model", hint=hint)
        return Elements(output)

    def _elements_of(self, event: StreamEvent, elements: Elements) -> list[Any]:
        """Returns the elements that an event completes, after which the answer is not asked for again."""
        found: list[Any] = []
        try:
            found += elements.feed(event, self._call.partial)
        except OutputValidationError as error:
            self._call.drop()
            loop = self._call.loop
            if loop is not None:
                error.provider, error.model = loop.call.provider or None, loop.call.model
                error.output_attempts, error.loop = loop.output_attempts, loop if loop.replies else None
            if not found:
                raise
            elements.failure = error
        if found and not isinstance(self._call, CallStream):
            self._call.accept_answer()
        return found

    @property
    def response(self) -> GenerateResponse[T]:
        """The response, once the stream has been read to its end; before that `StreamInterruptedError`."""
        return self._call.response

    @property
    def partial(self) -> ModelReply:
        """What has arrived so far."""
        return self._call.partial()

    @property
    def loop(self) -> ToolLoop | None:
        """The state of the tool loop so far; None without `run_tools`."""
        return self._call.loop

    def __display__(self) -> Iterator[object]:
        """Yields what has arrived, and reads nothing."""
        if self._call.state == "done":
            yield self._call.response
            return
        from ..schema.displays import SmallPrint

        partial = self._call.partial()
        yield partial
        yield SmallPrint([f"{type(self).__name__}: {self._call.state}, {len(partial.text):,} characters so far"])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._call.state}, {short_repr(self._call.partial().text)} so far>"


class Stream(_StreamBase[T]):
    """The deltas of an answer. The request is sent at the first read; `close`, or leaving `with`, ends it.

    `for delta in stream` yields deltas, with `run_tools` also the events of tools between them; `for text in
    stream.text()` only the text of the answer.
    """

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Stream[T]:
        return self

    def __next__(self) -> StreamEvent:
        while self._next == len(self._batch):
            self._take(drive(self._call.read()))
            if not self._batch:
                raise StopIteration
        delta = self._batch[self._next]
        self._next += 1
        return delta

    def read(self) -> Sequence[StreamEvent]:
        """Returns the next events together: those of one network chunk. At the end it returns none."""
        left = self._rest()
        if left:
            return left
        self._take(drive(self._call.read()))
        return self._rest()

    def text(self) -> Iterator[str]:
        """Yields the text of the answer in chunks."""
        for delta in self:
            if isinstance(delta, TextDelta):
                yield delta.text

    def elements(self: Stream[list[E]]) -> Iterator[E]:
        """Yields each item of a `response_model=list[TYPE]` once, validated, as soon as it is complete.

        Raises `OutputValidationError` for an invalid item, and closes the stream; once an item has been yielded, the
        answer is not asked for again. Raises `InvalidInputError` for another `response_model`.
        """
        elements = self._begin_elements()
        return self._each_element(elements)

    def _each_element(self, elements: Elements) -> Iterator[Any]:
        for event in self:
            yield from self._elements_of(event, elements)
            if elements.failure is not None:
                raise elements.failure
        yield from elements.rest(self.response.output)

    def close(self) -> None:
        """Closes the stream and its connection, also from another thread."""
        drive(self._call.close())

    if not TYPE_CHECKING:  # type checkers give better messages if these are missing
        __aenter__ = __aexit__ = __aiter__ = _needs("sync code", "async with llm.astream(...) as stream")

    def __del__(self) -> None:
        if self._call.state == "open":
            self.close()


class AsyncStream(_StreamBase[T]):
    """As `Stream`, for `async with` and `async for`. Use both: only they can close the connection in time."""

    def __init__(self, call: CallStream | round_stream.RoundStream | interruptions.WrappedStream) -> None:
        super().__init__(call)
        self._closer: LoopCloser | None = None

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> AsyncStream[T]:
        return self

    async def __anext__(self) -> StreamEvent:
        while self._next == len(self._batch):
            await self._read()
            if not self._batch:
                raise StopAsyncIteration
        delta = self._batch[self._next]
        self._next += 1
        return delta

    async def read(self) -> Sequence[StreamEvent]:
        """As `Stream.read`."""
        left = self._rest()
        if left:
            return left
        await self._read()
        return self._rest()

    async def _read(self) -> None:
        if self._closer is None:
            from ..concurrency import LoopCloser

            self._closer = LoopCloser(self._call.close)
        try:
            self._take(await self._call.read())
        finally:
            self._forget_if_ended()

    def text(self) -> AsyncIterator[str]:
        """Yields the text of the answer in chunks."""
        return _AsyncTexts(self)

    def elements(self: AsyncStream[list[E]]) -> AsyncIterator[E]:
        """As `Stream.elements`, for `async for`."""
        return _AsyncElements(self, self._begin_elements())

    async def close(self) -> None:
        """Closes the stream and its connection."""
        await self._call.close()
        self._forget_if_ended()

    def _forget_if_ended(self) -> None:
        if self._closer is not None and self._call.state != "open":
            self._closer.forget()

    if not TYPE_CHECKING:
        __enter__ = __exit__ = __iter__ = _needs("async code", "with llm.stream(...) as stream")

    def __del__(self, _warn: Any = warnings.warn) -> None:
        if self._call.state == "open":
            if self._closer is None or not self._closer.soon():
                self._call.drop()
            _warn("an open stream was dropped: use it with `async with`", ResourceWarning, stacklevel=2, source=self)


class _AsyncTexts:
    """Not an async generator: one that is dropped is closed later, by its event loop."""

    def __init__(self, stream: AsyncStream[Any]) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        while True:
            delta = await anext(self._stream)
            if isinstance(delta, TextDelta):
                return delta.text


class _AsyncElements:
    """Not an async generator, as `_AsyncTexts`."""

    def __init__(self, stream: AsyncStream[Any], elements: Elements) -> None:
        self._stream = stream
        self._elements = elements
        self._ready: list[Any] = []
        self._ended = False

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        while not self._ready:
            if self._elements.failure is not None:
                raise self._elements.failure
            if self._ended:
                raise StopAsyncIteration
            try:
                event = await anext(self._stream)
            except StopAsyncIteration:
                self._ended = True
                self._ready = self._elements.rest(self._stream.response.output)
            else:
                self._ready = self._stream._elements_of(event, self._elements)  # pyright: ignore[reportPrivateUsage]
        return self._ready.pop(0)
