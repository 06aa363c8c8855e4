"""`PieceStream`: the pieces that a backend yields, as the deltas of a reply."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Protocol, cast

from ..engine import out_of_time, overdue, remaining, time_given
from ..errors import StreamInterruptedError
from ..ports import BilledResponse, Feed, Interruption, Runtime
from ..ports.capabilities import Made
from ..schema import Delta, JSONValue, PartDelta, ReplyEnd, ReplyStart, Usage, UsageDelta
from .current import CurrentCall
from .results import MODEL

if TYPE_CHECKING:
    from .invocation import Invocation


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
