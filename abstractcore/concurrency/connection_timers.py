"""`ConnectionTimer`: the states of a connection to a server, the time limit of each, and which make room for others.

| state | from | until | time limit | makes room |
|---|---|---|---|---|
| HEAD | connection open, or first byte of a further request | head complete | `head_seconds` | yes |
| BODY | head complete | body complete | `body_seconds`, by the application (408) | last |
| ANSWER | body complete, or response begun | response ended | that of the call, by the application | no |
| REST | response ended before the body | body complete | `body_seconds` | yes |
| SENDING | the client takes less than is written | most is taken | `head_seconds` without a byte | last |
| IDLE | response ended | first byte of a further request | keep-alive time | yes |
| HANDSHAKE | head of a WebSocket handshake complete | accepted or refused | `head_seconds` | yes |
| OPEN | accepted, or message complete | message begun | ping each 20 seconds, pong in `head_seconds` | if idle |
| MESSAGE | first byte of a message | message complete | `body_seconds` | if idle |
| CLOSING | the server has closed its side | all is taken | `head_seconds` without a byte | yes |

A WebSocket connection as a whole has `websocket_seconds`, and each call in it `call_seconds`; its application knows
whether it is idle. Names in backticks are settings of `[limits]`. Those of the servers report states.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum, auto


class ConnectionState(Enum):
    """What a connection waits for."""

    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    REST = auto()
    SENDING = auto()
    IDLE = auto()
    HANDSHAKE = auto()
    OPEN = auto()
    MESSAGE = auto()
    CLOSING = auto()
    ENDED = auto()


_MAKE_ROOM = (
    ConnectionState.HEAD,
    ConnectionState.REST,
    ConnectionState.IDLE,
    ConnectionState.HANDSHAKE,
    ConnectionState.CLOSING,
)
_MAKE_ROOM_LAST = (ConnectionState.BODY, ConnectionState.SENDING)
_WRITING = (ConnectionState.SENDING, ConnectionState.CLOSING)


class ConnectionTimer:
    """Ends a connection that is longer in a state than `seconds` has for it; states that it does not have are limited
    by others.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport, seconds: Mapping[ConnectionState, float]
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._unread = 0
        self.state: ConnectionState | None = None
        self.since = 0.0
        """The time of the event loop at which the state began."""

    def enter(self, state: ConnectionState) -> None:
        """Begins the time of a state, if the connection is in another one."""
        if self.state in (state, ConnectionState.ENDED):
            return
        self.state = state
        self.since = self._loop.time()
        self._unread = self._transport.get_write_buffer_size() if state in _WRITING else 0
        self._start()

    def end(self) -> None:
        """Ends the connection at once."""
        self.stop()
        self._transport.abort()

    def stop(self) -> None:
        """Has no effect on the connection any more: it has ended, or another protocol has it."""
        self.state = ConnectionState.ENDED
        self._cancel()

    def _start(self) -> None:
        self._cancel()
        seconds = None if self.state is None else self._seconds.get(self.state)
        if seconds is not None:
            self._timer = self._loop.call_later(seconds, self._expire)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        unread = self._transport.get_write_buffer_size() if self.state in _WRITING else self._unread
        if unread < self._unread:
            self._unread = unread
            self._start()
        else:
            self.end()


def make_room(
    timers: Iterable[ConnectionTimer], newest: ConnectionTimer, end_idle: Callable[[], bool] = lambda: False
) -> None:
    """Ends one connection of `timers`, in the order of the table the one that has waited longest, and `newest` if no
    other may be ended. `end_idle` ends an idle WebSocket connection; it returns False if there is none.
    """
    others = [each for each in timers if each is not newest]
    if not _end_longest(others, _MAKE_ROOM) and not end_idle() and not _end_longest(others, _MAKE_ROOM_LAST):
        newest.end()


def _end_longest(timers: Iterable[ConnectionTimer], states: Collection[ConnectionState]) -> bool:
    """Ends the connection that has been longest in one of these states; returns False if there is none."""
    found = min((each for each in timers if each.state in states), key=lambda each: each.since, default=None)
    if found is not None:
        found.end()
    return found is not None
