"""`PycurlBody`: the body of a response over libcurl."""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections.abc import Iterator, Mapping

from ..ports import interruptible
from .decompression import decompressor_for
from .failures import broken, cannot_unpack, read_timeout
from .pycurl_connections import CurlConnection, CurlResponse
from .pycurl_failures import failed_in_body
from .pycurl_pools import CurlPool, Origin

_in_use: set[CurlConnection] = set()
"""References to connections in use. A body in a reference cycle must close its connection first: without these
references the garbage collector would finalize libcurl's handles and the socket in any order."""


class CurlLease:
    """The use of a connection by one exchange, to be released once. In a forked child it is the parent's."""

    __slots__ = ("_held", "_origin", "_pool", "_process", "connection")

    def __init__(self, pool: CurlPool, origin: Origin, connection: CurlConnection) -> None:
        self._pool = pool
        self._origin = origin
        self._process = os.getpid()
        self._held = True
        self.connection = connection
        _in_use.add(connection)

    def release(self) -> None:
        """Returns the connection to the pool after a complete exchange."""
        if self._take():
            self._pool.release(self._origin, self.connection)

    def discard(self) -> None:
        """Closes the connection."""
        if self._take():
            self._pool.discard(self.connection)

    def _take(self) -> bool:
        held, self._held = self._held, False
        if not held or self._process != os.getpid():
            return False
        _in_use.discard(self.connection)
        return True


class PycurlBody:
    """The body of a response."""

    __slots__ = (
        "_aborted",
        "_decompressed",
        "_decompressor",
        "_exchange",
        "_lease",
        "_lock",
        "_timeout",
        "_url",
        "headers",
        "status",
    )

    def __init__(
        self, lease: CurlLease, exchange: CurlResponse, headers: Mapping[str, str], url: str, timeout: float
    ) -> None:
        self._lease = lease
        self._exchange = exchange
        self._url = url
        self._timeout = timeout
        self._aborted = False
        # Reentrant: a signal handler may close the body in the thread that reads it.
        self._lock = threading.RLock()
        self.status: int = lease.connection.status()
        self.headers = headers
        self._decompressor = decompressor_for(headers)
        self._decompressed: Iterator[bytes] = iter(())
        if not exchange.running:
            lease.release()

    async def read(self) -> bytes:
        """Returns the next chunk of the body; empty at its end."""
        with self._lock:
            if self._decompressor is None:
                return self._arrived()
            try:
                while not (piece := next(self._decompressed, b"")):
                    compressed = self._arrived()
                    if not compressed:
                        return b""
                    self._decompressed = self._decompressor.feed(compressed)
                return piece
            except zlib.error:
                failure = cannot_unpack(self._url)
        raise failure

    def _arrived(self) -> bytes:
        """Returns all received data that was not read; waits for some if there is none."""
        exchange = self._exchange
        if exchange.running and not exchange.pieces:
            self._wait()
        if self._aborted:
            raise broken(self._url, "it was closed by the client")
        if exchange.pieces:
            arrived = b"".join(exchange.pieces)
            exchange.pieces.clear()
            return arrived
        if exchange.failure is not None:
            raise failed_in_body(exchange.failure, self._url)
        return b""

    def _wait(self) -> None:
        """Waits until data arrives or the exchange ends."""
        exchange, connection = self._exchange, self._lease.connection
        due = time.monotonic() + self._timeout
        try:
            with interruptible(self.abort):
                while exchange.running and not exchange.pieces:
                    connection.advance(exchange, due)
        except TimeoutError:
            failure = read_timeout(self._url, self._timeout)
        else:
            if not exchange.running:
                self._lease.release()
            return
        raise failure

    async def close(self) -> None:
        """Returns the connection to the pool, or closes it if the body was not read to its end."""
        if self._lock.acquire(blocking=False):
            try:
                self._lease.discard()
            finally:
                self._lock.release()
        else:
            self.abort()  # another thread reads: its read ends, and releases the connection

    def abort(self) -> None:
        """Closes the connection, from any thread; does nothing in a forked child, where it is the parent's."""
        self._aborted = True
        self._lease.connection.cut(self._exchange)

    def __del__(self) -> None:
        """Closes the connection of a dropped body."""
        self._lease.discard()
