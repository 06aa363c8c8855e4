"""An answer as a stream: its events, heartbeats while it is quiet, and its end."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, cast

import abstractcore
from abstractcore.errors import AbstractCoreError
from abstractcore.ports import StreamRenderer
from abstractcore.schema import Delta, ReplyEnd, StreamEvent, UsageDelta

from ..access.guarded_replies import GuardedStream
from ..configuration.settings import OnDisconnect
from ..context import RequestContext
from ..failures import shown_error
from ..records import RECEIPT_HEADER
from ..requests import ClientConnection, ClientGone, Sink
from ..tools.adapting import StreamedClientTools
from ..tools.rounds import RoundsStream
from .jobs import MODEL_CHANGE, AnswerJob, PlannedCall, answer_of_members, in_member_time
from .reasoning import StreamSignatureEncoder
from .replies import StreamedArguments, reply_extension, reply_warnings, with_extension


class Heartbeats:
    """While it runs (`with`), calls `beat` whenever nothing was sent for `seconds`. A client that reads slowly gets
    none.

    One timer for each stream, which chunks do not touch.
    """

    def __init__(self, connection: ClientConnection, seconds: float, beat: Callable[[], Awaitable[None]]) -> None:
        self._connection = connection
        self._seconds = seconds
        self._beat = beat
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._connection.last_sent = self._loop.time()
        self._timer = self._loop.call_later(self._seconds, self._look)

    def __exit__(self, *exception: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _look(self) -> None:
        quiet = self._loop.time() - self._connection.last_sent
        left = self._seconds - quiet
        if left <= 0:
            left = self._seconds
            if not self._connection.is_sending and not self._connection.gone:
                self._task = self._loop.create_task(self._send())
        self._timer = self._loop.call_later(left, self._look)

    async def _send(self) -> None:
        await self._beat()


class EventStream(ABC):
    """Streams the response to a request. Its head is sent with the first event, or with the first heartbeat: until
    then, an error becomes a response with a status of its own.
    """

    def __init__(self, context: RequestContext, on_disconnect: OnDisconnect) -> None:
        self._context = context
        self._on_disconnect: OnDisconnect = on_disconnect
        self._has_events = False

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the stream; raises the error of one that has not begun."""
        context, state = self._context, self._context.state
        connection.stream_head = context.headers(
            {"cache-control": "no-cache", "x-accel-buffering": "no", **self._head()}
        )
        beat = partial(self._beat, connection)
        try:
            async with state.drains.watch(connection, self._on_disconnect):
                with Heartbeats(connection, state.settings.limits.heartbeat_seconds, beat):
                    await self.play(connection)
        except ClientGone:
            return
        except Exception as error:
            if not connection.started:
                raise
            shown = shown_error(error, context.request.trace_id, state.hidden_addresses)
            await connection.write(self._error(shown), more=False)

    async def _beat(self, connection: ClientConnection) -> None:
        await connection.write(self._heartbeat())

    @abstractmethod
    async def play(self, sink: Sink) -> None:
        """Writes the whole stream."""

    @abstractmethod
    def _head(self) -> Mapping[str, str]:
        """Returns the headers of the stream's own."""

    @abstractmethod
    def _heartbeat(self) -> bytes:
        """Returns the bytes that keep the stream alive, between two events."""

    @abstractmethod
    def _error(self, error: AbstractCoreError) -> bytes:
        """Returns the event of an error."""


_Stream: TypeAlias = "abstractcore.AsyncStream[None] | RoundsStream"


class StreamedAnswer(EventStream):
    """The stream of all choices."""

    def __init__(self, job: AnswerJob) -> None:
        super().__init__(job.context, job.resolved.on_disconnect)
        self._job = job
        self._dialect = job.context.dialect
        self._renderers: dict[int, StreamRenderer] = {}
        self._tail = b""
        self._is_complete = False

    def _head(self) -> Mapping[str, str]:
        stream_type = self._dialect.stream_type(self._job.client_request)
        return {"content-type": stream_type, "x-abstractcore-model": self._job.resolved.name}

    def _heartbeat(self) -> bytes:
        return self._dialect.heartbeat(self._job.client_request, self._job.stamp, begun=self._has_events)

    async def play(self, sink: Sink) -> None:
        """Writes the stream of the first model that answers; raises its error."""
        await self._job.for_each_choice(lambda number: self._stream_choice(number, sink))
        if not self._is_complete:
            self._tail += self._dialect.finish([self._renderers[number] for number in sorted(self._renderers)])
        if self._job.keep is not None:
            self._tail = await self._job.keep(self._tail)
        await sink.write(self._tail, more=False)

    def _error(self, error: AbstractCoreError) -> bytes:
        renderer = next(iter(self._renderers.values()), None)
        if renderer is None:
            renderer = self._dialect.renderer(self._context.format, self._job.client_request, self._job.stamp)
        return renderer.error(error)

    async def _stream_choice(self, number: int, sink: Sink) -> None:
        """Streams one choice, of the first model that begins to answer."""

        async def stream(llm: abstractcore.LLM) -> None:
            await self._stream(await self._job.plan(llm), number, sink)

        job = self._job
        await answer_of_members(self._context, job.resolved, stream, lambda: number in self._renderers, job.session_id)

    async def _stream(self, planned: PlannedCall, number: int, sink: Sink) -> None:
        """Streams a call, and settles it however it ends."""
        async with self._job.begin_call(planned) as (begun, spending):
            stream = _open_stream(begun, self._job.timeout)
            spending.partial = lambda: stream.partial
            async with stream:
                await self._pump(stream, begun, number, sink)
            spending.result = stream.response

    async def _pump(self, stream: _Stream, planned: PlannedCall, number: int, sink: Sink) -> None:
        """Sends the events of each network chunk together, as soon as they arrive."""
        guarded = None if planned.guarding is None else GuardedStream(stream, planned.relay, planned.guarding)
        source = stream if guarded is None else guarded
        job = self._job
        async with in_member_time(job.resolved):
            batch = await source.read()
        is_untouched = planned.relay.is_untouched and (guarded is None or guarded.is_read_only)
        receipt = job.context.entry.receipt
        if is_untouched and planned.head.is_renamed:
            receipt.add_reply_changes((MODEL_CHANGE,))
        sink.stream_head = {**sink.stream_head, RECEIPT_HEADER: await job.off_loop(receipt.header)}
        stamp = job.stamp
        if self._dialect.counts_first:
            stamp = replace(stamp, input_tokens=await job.off_loop(_input_tokens, batch, planned))
        renderer = self._dialect.renderer(planned.transpiler, job.client_request, stamp, number)
        self._renderers[number] = renderer
        encoder = None if planned.own_format else StreamSignatureEncoder(planned.origin)
        tools, arguments = StreamedClientTools(planned.tools), StreamedArguments(self._dialect)
        relay = planned.relay if guarded is None else guarded
        while batch:
            data = (
                planned.head.in_events(relay.take_events())
                if is_untouched
                else _render(batch, renderer, encoder, planned, tools, arguments)
            )
            if job.extension.is_given and isinstance(batch[-1], ReplyEnd):
                self._tail += data
            elif data:
                self._has_events = True
                await sink.write(data)
            batch = await source.read()
        if is_untouched:
            self._tail = planned.head.in_events(relay.take_rest())
            self._is_complete = True
        elif job.extension.is_given and job.client_request.choices == 1:
            self._add_extension(stream, planned, renderer)

    def _add_extension(self, stream: _Stream, planned: PlannedCall, renderer: StreamRenderer) -> None:
        """Puts the field `abstractcore` into the last object of the stream."""
        response = stream.response
        warnings = reply_warnings(planned, response, response.reply)
        extension = reply_extension(planned, response, response.reply, warnings)
        self._tail = with_extension(self._tail + self._dialect.finish([renderer]), extension)
        self._is_complete = True


def _input_tokens(batch: Sequence[StreamEvent], planned: PlannedCall) -> int:
    """Returns the tokens of the input beside cached ones, as far as the first deltas have them, else an estimate."""
    for delta in batch:
        if isinstance(delta, UsageDelta) and delta.usage.input is not None:
            usage = delta.usage
            return max(0, delta.usage.input - (usage.cached or 0) - (usage.cache_written or 0))
    return int(planned.llm.estimate_tokens(planned.call))


def _open_stream(planned: PlannedCall, timeout: float) -> _Stream:
    """Returns the stream of a call, or of all its rounds."""
    if planned.rounds is None:
        return planned.llm.astream_call(planned.call, timeout=timeout)
    return planned.rounds.stream(planned.llm, planned.call, timeout)


def _render(
    batch: Sequence[StreamEvent],
    renderer: StreamRenderer,
    encoder: StreamSignatureEncoder | None,
    planned: PlannedCall,
    tools: StreamedClientTools,
    arguments: StreamedArguments,
) -> bytes:
    deltas = cast("Sequence[Delta]", batch)  # a call given as data has no tools that run here, and no events of them
    rounds = planned.rounds
    if rounds is not None:
        deltas = [*map(rounds.shown_delta, deltas)]
    deltas = [*map(planned.head.in_delta, arguments.check(tools.in_deltas(deltas)))]
    return b"".join(map(renderer.feed, deltas if encoder is None else encoder.encode_signatures(deltas)))
