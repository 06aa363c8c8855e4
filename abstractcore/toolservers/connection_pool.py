"""`ConnectionPool`: the connections to one server in one event loop, one for each identity."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeAlias, TypeVar

from ..errors import ToolServerError

Identity: TypeAlias = tuple[tuple[str, str], ...]
"""The headers that a connection sends, sorted: calls with others never share it."""
_MOST = 64
_SECONDS_BETWEEN_TRIES = 30.0


class ServerConnection(Protocol):
    """A connection to a server in one event loop."""

    @property
    def is_idle(self) -> bool:
        """Whether nobody uses it now."""
        ...

    async def close(self) -> None:
        """Ends it. It is not used again: the pool makes a new one."""
        ...


C = TypeVar("C", bound=ServerConnection)


class ConnectionPool(Generic[C]):
    """Connections by identity. The longest unused one is closed when there are more than 64 that nobody uses."""

    def __init__(self) -> None:
        self._connections: OrderedDict[Identity, C] = OrderedDict()
        self._uses: dict[C, int] = {}
        self._failures: dict[Identity, tuple[float, ToolServerError]] = {}

    def use(self, identity: Identity, make: Callable[[], C]) -> _Use[C]:
        """Returns a context with the connection of an identity, which is not closed as an unused one in its body."""
        found = self._connections.get(identity)
        if found is None:
            found = self._connections[identity] = make()
        self._connections.move_to_end(identity)
        return _Use(self, found)

    async def enter(self, connection: C) -> None:
        """Notes a use of a connection. Closes an unused one if there are too many."""
        self._uses[connection] = self._uses.get(connection, 0) + 1
        if len(self._connections) > _MOST:
            try:
                await self._close_oldest()
            except BaseException:
                self.leave(connection)
                raise

    def leave(self, connection: C) -> None:
        """Notes the end of a use."""
        self._uses[connection] -= 1
        if not self._uses[connection]:
            del self._uses[connection]

    def failure(self, identity: Identity) -> ToolServerError | None:
        """Returns why the server could not be reached, for 30 seconds: it is not tried again before."""
        until, error = self._failures.get(identity, (0.0, None))
        return error if time.monotonic() < until else None

    def note_failure(self, identity: Identity, error: ToolServerError) -> None:
        """Notes that the server could not be reached; forgets what was noted too long ago."""
        now = time.monotonic()
        self._failures = {other: noted for other, noted in self._failures.items() if now < noted[0]}
        self._failures[identity] = now + _SECONDS_BETWEEN_TRIES, error

    async def close(self) -> None:
        """Closes all connections."""
        self._failures.clear()
        while self._connections:
            await self._connections.popitem()[1].close()

    async def _close_oldest(self) -> None:
        for identity, connection in self._connections.items():
            if connection.is_idle and connection not in self._uses:
                del self._connections[identity]
                await connection.close()
                return


class _Use(Generic[C]):
    """A connection in use. A class, since a generator would cost each call of a tool more."""

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: ConnectionPool[C], connection: C) -> None:
        self._pool = pool
        self._connection = connection

    async def __aenter__(self) -> C:
        await self._pool.enter(self._connection)
        return self._connection

    async def __aexit__(self, *exception: object) -> None:
        self._pool.leave(self._connection)
