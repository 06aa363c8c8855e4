"""`RoundStream`: a streamed call of several rounds, with the events of its tools between them."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, Literal

from ..errors import InvalidInputError, StreamInterruptedError
from ..outputs import OutputType
from ..ports import Feed, Interruption
from ..schema import (
    GenerateResponse,
    ModelReply,
    StreamEvent,
    ToolEnded,
    ToolEvent,
    ToolLoop,
    ToolProgress,
    partial_reply,
)
from .call_stream import CallStream
from .endings import close_all
from .pipeline import Pipeline
from .tool_rounds import Rounds

MOST_PROGRESS: Final = 100
"""How many events of progress are kept for each call until they are read."""


class RoundStream:
    """As `CallStream`: the deltas of each round, then the events of the tools that it called, and so on."""

    def __init__(self, pipeline: Pipeline, rounds: Rounds) -> None:
        self._pipeline = pipeline
        self._rounds = rounds
        self._call: CallStream | None = None
        self._feed: Feed[None] | None = None
        self._events = ToolEventBuffer()
        self._reading = False
        self._has_deltas = False
        self._interruption = Interruption()
        self.state: Literal["new", "open", "done", "broken", "closed"] = "new"
        self._response: GenerateResponse[Any] | None = None

    @property
    def output_type(self) -> OutputType | None:
        """The type of the output, if one was requested."""
        return self._rounds.output_type

    @property
    def trace_id(self) -> str | None:
        """The id of the call of the current round in records, once it has begun."""
        return None if self._call is None else self._call.trace_id

    def accept_answer(self) -> None:
        """Has the current answer, of which parts are in use, never asked for again."""
        self._rounds.accept_answer()

    @property
    def loop(self) -> ToolLoop | None:
        """The state of the loop so far."""
        return self._rounds.loop

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response; raises `StreamInterruptedError` while the stream has not been read to its end."""
        if self._response is None:
            hint = "Read it to its end first; `partial` has what arrived so far."
            raise StreamInterruptedError(
                f"there is no response yet: the stream is {self.state}", hint=hint, partial=self.partial()
            )
        return self._response

    async def read(self) -> list[StreamEvent]:
        """Returns the next deltas and events; an empty list at the end."""
        if self.state == "done":
            return []
        if self._reading:
            raise InvalidInputError("this stream is being read already", hint="Give each reader a stream of its own.")
        if self.state in ("broken", "closed"):
            raise self._interruption_error(f"this stream is {self.state}")
        self._reading = True
        try:
            return await self._pipeline.runtime.interruptible(self._interruption, self._read)
        except BaseException as error:
            self.state = "broken"
            is_closed = self._interruption.is_set
            self._interruption.set()
            try:
                await self._close_parts()
            finally:
                self._rounds.end(error, closed_early=is_closed)
            raise
        finally:
            self._reading = False

    async def _read(self) -> list[StreamEvent]:
        while self.state != "done":
            events = await self._step()
            self._interruption.check()
            if events:
                return events
        return []

    async def _step(self) -> list[StreamEvent]:
        """Reads from what is open: the calls of a round, or its reply; opens the next one at its end."""
        if self._feed is not None:
            if not await self._feed.read():
                self._feed = None
            return [*self._events.take()]
        if self._call is not None:
            deltas = await self._call.read()
            if deltas:
                if not self._has_deltas:
                    self._has_deltas = True
                    self._rounds.note_first_deltas()
                return [*deltas]
            await self._rounds.check_output(self._call.response)
            await self._rounds.take(self._call.response)
            self._call = None
            self._run(self._rounds.run_calls)
            return []
        if self.state == "new":
            self.state = "open"
            self._run(self._rounds.begin)
            return []
        await self._open_round()
        return []

    def _run(self, calls: Callable[[Callable[[ToolEvent], object]], Awaitable[None]]) -> None:
        """Has the next reads return the events of calls that run."""
        self._events = events = ToolEventBuffer()

        def produce(wake: Callable[[None], None]) -> Awaitable[None]:
            return events.fill(wake, calls)

        self._feed = self._pipeline.runtime.feed(produce)

    async def _open_round(self) -> None:
        prepare = self._rounds.next_round()
        if prepare is None:
            self._response = await self._rounds.response()
            self.state = "done"
        else:
            self._call = CallStream(self._pipeline, prepare, self._rounds.seconds_left(), self._rounds.read_output)

    async def close(self) -> None:
        """As `CallStream.close`; async and isolated tools that run are cancelled, others abandoned."""
        if self.state == "done":
            return
        self._interruption.set()
        if self._reading:
            self.abort()
            return
        self._leave()
        await self._close_parts()

    def drop(self) -> None:
        """Closes a stream without references: closes the connection without waiting."""
        self._leave()
        self.abort()

    def abort(self) -> None:
        """Closes the connection without waiting; the next read raises."""
        self._interruption.set()
        if self._call is not None:
            self._call.abort()

    async def _close_parts(self) -> None:
        await close_all([part for part in (self._call, self._feed) if part is not None])

    def _leave(self) -> None:
        if self.state == "open":
            self._rounds.end(self._interruption_error("the stream was closed"), closed_early=True)
        if self.state != "done":
            self.state = "closed"

    def _interruption_error(self, message: str) -> StreamInterruptedError:
        return StreamInterruptedError(message, partial=self.partial())

    def partial(self) -> ModelReply:
        """Returns the reply of the current round so far, else that of the latest round."""
        if self._call is not None:
            return self._call.partial()
        loop = self._rounds.loop
        return loop.replies[-1] if loop is not None and loop.replies else partial_reply([])


class ToolEventBuffer:
    """Keeps events in order. Tools put them from any thread, and never wait for the reader.

    Of the progress of a call, the newest `MOST_PROGRESS` events are kept; the first of those that are read has the
    number of the older ones in `dropped`. Progress after the end of its call, and events after `fill` has ended, are
    ignored.
    """

    def __init__(self) -> None:
        # Reentrant: a thread that puts an event may garbage-collect another stream.
        self._lock = threading.RLock()
        self._events: dict[int, ToolEvent] = {}
        self._next = 0
        self._progress: defaultdict[str, deque[int]] = defaultdict(deque)
        self._dropped: defaultdict[str, int] = defaultdict(int)
        self._ended: set[str] = set()
        self._is_open = True

    async def fill(
        self, wake: Callable[[None], object], run: Callable[[Callable[[ToolEvent], object]], Awaitable[None]]
    ) -> None:
        """Awaits `run` with the function that puts an event. `wake` is called when there are events to take."""

        def put(event: ToolEvent) -> None:
            with self._lock:
                is_first = not self._events
                if self._add(event) and is_first:
                    wake(None)

        try:
            await run(put)
        finally:
            with self._lock:
                self._is_open = False

    def take(self) -> list[ToolEvent]:
        """Returns the events since the last time, in order."""
        with self._lock:
            for call_id, number in self._dropped.items():
                first = self._progress[call_id][0]
                event = self._events[first]
                assert isinstance(event, ToolProgress)
                self._events[first] = replace(event, dropped=number)
            events = [*self._events.values()]
            for kept in (self._events, self._progress, self._dropped):
                kept.clear()
            return events

    def _add(self, event: ToolEvent) -> bool:
        """Adds an event unless it comes too late; returns whether it did."""
        if not self._is_open or (isinstance(event, ToolProgress) and event.call.id in self._ended):
            return False
        if isinstance(event, ToolProgress):
            numbers = self._progress[event.call.id]
            numbers.append(self._next)
            if len(numbers) > MOST_PROGRESS:
                del self._events[numbers.popleft()]
                self._dropped[event.call.id] += 1
        elif isinstance(event, ToolEnded):
            self._ended.add(event.step.call.id)
        self._events[self._next] = event
        self._next += 1
        return True
