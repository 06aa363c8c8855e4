"""Calls that are being made: an equal call waits for the answer of the first one."""

from __future__ import annotations

import os
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ...ports import DeltaStream, Runtime
from ...schema import Delta, accumulate
from .entries import Entry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...schema import ModelReply

_STALLED_SECONDS: Final = 1.0
"""How long a stream may not be read before equal calls stop waiting for it: its reader may wait for one of them."""


class Flight:
    """A call that is being made. `landed` gets its entry, or None if equal calls have to ask themselves. A stream is
    `idle` while nobody reads it; `reads` counts.
    """

    def __init__(self, *, streamed: bool) -> None:
        self.landed: Future[Entry | None] = Future()
        self.landed.set_running_or_notify_cancel()
        self.streamed = streamed
        self.idle = False
        self.reads = 0

    async def has_landed(self, runtime: Runtime) -> bool:
        """Waits until the call has ended; returns False for a stream that nobody reads any more."""
        if not self.streamed:
            await runtime.wait(self.landed)
            return True
        while True:
            before, limit = self.reads, runtime.timeout(_STALLED_SECONDS)
            try:
                async with limit:
                    await runtime.wait(self.landed)
                return True
            except TimeoutError:
                if not limit.expired():
                    raise
            if self.idle and self.reads == before:
                return False


class Flights:
    """The calls of this process that are being made, by their key. Forked processes begin with none."""

    def __init__(self) -> None:
        self._by_key: dict[str, Flight] = {}
        self._process = os.getpid()

    def join(self, key: str, *, streamed: bool) -> tuple[Flight, bool]:
        """Returns the flight of a key, and whether it is a new one, which the caller has to `land`."""
        if self._process != os.getpid():
            self._by_key, self._process = {}, os.getpid()
        mine = Flight(streamed=streamed)
        flight = self._by_key.setdefault(key, mine)
        return flight, flight is mine

    def land(self, key: str, flight: Flight, entry: Entry | None) -> None:
        """Ends a flight; only the first end counts."""
        if self._by_key.get(key) is flight:
            self._by_key.pop(key, None)
            with suppress(InvalidStateError):  # another thread was faster
                flight.landed.set_result(entry)


class KeptStream:
    """A stream whose reply is given to `keep` when it was read to its end, and None to `drop` when it was not."""

    def __init__(
        self,
        stream: DeltaStream,
        flight: Flight | None,
        keep: Callable[[ModelReply], Awaitable[None]],
        drop: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._flight = flight
        self._keep = keep
        self._drop = drop
        self._deltas: list[Delta] = []
        self._ended = False
        self._idle(True)

    async def read(self) -> list[Delta]:
        """Returns the next deltas; an empty list at the end, before which the reply is kept."""
        if self._ended:
            return []
        self._idle(False)
        try:
            deltas = await self._stream.read()
            if deltas:
                self._deltas += deltas
            else:
                self._ended = True
                await self._keep(accumulate(self._deltas))
        except BaseException:
            self._drop()
            raise
        self._idle(True)
        return deltas

    async def close(self) -> None:
        """Releases the connection."""
        self._drop()
        await self._stream.close()

    def abort(self) -> None:
        """Closes the connection."""
        self._drop()
        self._stream.abort()

    def _idle(self, idle: bool) -> None:
        if self._flight is not None:
            self._flight.reads += 1
            self._flight.idle = idle
