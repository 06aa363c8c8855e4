"""`EventStream`: a response that is sent as it comes, with heartbeats while it is quiet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial

from abstractcore.errors import AbstractCoreError

from .connection import ClientGone, Connection, Sink
from .exchange import Exchange
from .failures import shown_error
from .heartbeats import Heartbeats
from .settings import OnDisconnect


class EventStream(ABC):
    """Streams the response to a request. Its head is sent with the first event, or with the first heartbeat: until
    then, an error becomes a response with a status of its own.
    """

    def __init__(self, exchange: Exchange, on_disconnect: OnDisconnect) -> None:
        self._exchange = exchange
        self._on_disconnect: OnDisconnect = on_disconnect
        self._has_events = False

    async def send_to(self, connection: Connection) -> None:
        """Sends the stream; raises the error of one that has not begun."""
        exchange, state = self._exchange, self._exchange.state
        connection.stream_head = exchange.headers(
            {"cache-control": "no-cache", "x-accel-buffering": "no", **self._head()}
        )
        beat = partial(self._beat, connection)
        try:
            async with state.drains.watched(connection, self._on_disconnect):
                with Heartbeats(connection, state.settings.limits.heartbeat_seconds, beat):
                    await self.play(connection)
        except ClientGone:
            return
        except Exception as error:
            if not connection.started:
                raise
            shown = shown_error(error, exchange.request.trace_id, state.hidden)
            await connection.write(self._error(shown), more=False)

    async def _beat(self, connection: Connection) -> None:
        await connection.write(self._heartbeat())

    @abstractmethod
    async def play(self, sink: Sink) -> None:
        """Writes the whole stream."""

    @abstractmethod
    def _head(self) -> Mapping[str, str]:
        """Returns the headers of the stream's own."""

    @abstractmethod
    def _heartbeat(self) -> bytes:
        """Returns what keeps the stream alive, between two events."""

    @abstractmethod
    def _error(self, error: AbstractCoreError) -> bytes:
        """Returns the event of an error."""
