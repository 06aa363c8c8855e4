"""`notify` and `Listener`: a hint from one process to others that something has changed, by NOTIFY of PostgreSQL.

A hint may be lost: whoever waits for one looks at the database from time to time, too.
"""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import Connection, String, bindparam, func, select
from sqlalchemy.engine import Engine

from .failures import Place, delay, failure
from .forks import Transactions
from .statements import Statement

_log = logging.getLogger("abstractcore.database")
_CHECK_SECONDS: Final = 60.0
"""How often a silent connection is used, so that one that a network has dropped is noticed."""
_FIRST_DELAY: Final = 4
"""The attempt whose delay is the first one: a tenth of a second, so that no broken connection is made again at once."""
_NAME: Final = func.concat(bindparam("channel", type_=String), "_", func.hashtext(func.current_schema()))
"""PostgreSQL's channels belong to a database; those of this module to a schema of it."""
_CHANNEL: Final = Statement(select(_NAME.label("name")))
_NOTIFY: Final = Statement(select(func.pg_notify(_NAME, "")))


def notify(connection: Connection, channel: str) -> None:
    """Notifies the listeners of a channel, once this transaction has been committed. SQLite has none.

    Such commits wait for each other, in all databases of a server, also while one is written to the disk: what has to
    be fast is committed before, and the notification has a transaction of its own, which is not written.
    """
    if connection.dialect.name == "postgresql":
        _NOTIFY.all(connection, channel=channel)


class Listener:
    """Listens to a channel in a thread and on a connection of its own, as `Database.listen` describes, until `stop`.

    A connection that was lost is made again, at most a second after the database is back.
    """

    def __init__(
        self,
        engine: Engine,
        place: Place,
        transactions: Transactions,
        channel: str,
        notified: Callable[[], object],
    ) -> None:
        self._engine = engine
        self._place = place
        self._transactions = transactions
        self._channel = channel
        self._notified = notified
        self._has_failed = False
        """Whether the last call of `notified` raised an exception."""
        self._stopped = threading.Event()
        self._stops, self._stopping = socket.socketpair()
        """What is sent by the first ends the thread's wait at the second."""
        self._socket: socket.socket | None = None
        """That of the connection."""
        self._thread = threading.Thread(target=self._run, name=f"{channel}-listener", daemon=True)
        transactions.before_fork.append(self._disconnect)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; returns when it has ended, at once unless it waits for the database."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        if self._thread.is_alive():  # not in a forked process, which shares these sockets
            self._stops.send(b"\0")
            self._thread.join()
        self._stops.close()
        self._stopping.close()
        self._transactions.before_fork.remove(self._disconnect)

    def _disconnect(self) -> None:
        """Ends the connection; the thread makes another one."""
        if (found := self._socket) is not None:
            with suppress(OSError):  # it has ended
                found.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        failures = 0
        """Since it has listened."""
        while not self._stopped.is_set():
            try:
                connection = self._connected()
                if failures > 1:
                    _log.info("notifications of the database are received again")
                failures = 0
                try:
                    self._receive(connection)
                finally:
                    self._engine.dialect.do_close(connection)
            except Exception as error:
                failures += 1
                if failures == 2:  # one connection may end at any time
                    reason = failure(error, self._place).message
                    _log.warning("notifications of the database are not received until it is back: %s", reason)
                self._stopped.wait(delay(_FIRST_DELAY + failures - 1))

    def _connected(self) -> Any:
        """Returns a connection of the driver that listens, and that belongs to no pool."""
        with self._transactions.counted():  # no fork happens meanwhile
            with self._engine.connect() as reader:
                name = _CHANNEL.first(reader, channel=self._channel).name
            pooled = self._engine.raw_connection()
            connection: Any = pooled.driver_connection
            pooled.detach()
        try:
            connection.rollback()  # the pool may have tried it by a statement
            connection.autocommit = True
            connection.cursor().execute(f'LISTEN "{name}"')
        except BaseException:
            self._engine.dialect.do_close(connection)
            raise
        return connection

    def _receive(self, connection: Any) -> None:
        """Calls `notified` now, and after each notification. Raises the driver's error for the end of the connection.

        Whatever a connection without a statement receives is a notification or its end. A statement then reads it, and
        perhaps others that came meanwhile: `notified` is called after it, so that none is missed.
        """
        cursor = connection.cursor()
        with socket.fromfd(_descriptor(connection), -1, -1) as self._socket, selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            selector.register(self._stopping, selectors.EVENT_READ)
            while not self._stopped.is_set():
                self._notify()
                selector.select(_CHECK_SECONDS)
                if not self._stopped.is_set():
                    cursor.execute("SELECT 1")

    def _notify(self) -> None:
        """Calls `notified`. Its exceptions do not end the connection; one in a row of them is logged."""
        try:
            self._notified()
        except Exception:
            if not self._has_failed:
                _log.exception("the listener's function failed: it is called again after each notification")
            self._has_failed = True
        else:
            self._has_failed = False


def _descriptor(connection: Any) -> int:
    """Returns the descriptor of a connection's socket, for which pg8000 has no public name."""
    return getattr(connection, "_usock", connection).fileno()
