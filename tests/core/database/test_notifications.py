"""Notifications: between processes, after a lost connection, a restart and a fork; and none in SQLite."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import Pipe
from pathlib import Path

import pytest
from sqlalchemy import text

from abstractcore.database import Database, Listener, notify
from tests.chaos_server import PATIENCE_SECONDS
from tests.forks import forked
from tests.leftovers import wait_until
from tests.postgresql import PostgreSQL, running_postgresql

pytestmark = pytest.mark.process


@contextmanager
def listening(database: Database, heard: threading.Semaphore, channel: str = "news") -> Generator[Listener]:
    """Listens during `with`, once it does; `heard` is released by each call."""
    listener = database.listen(channel, heard.release)
    assert listener is not None
    try:
        hears(heard)
        yield listener
    finally:
        listener.stop()


def hears(heard: threading.Semaphore) -> None:
    """Returns when the listener was called."""
    assert heard.acquire(timeout=PATIENCE_SECONDS)


def send(database: Database, channel: str = "news") -> None:
    database.write(lambda connection: notify(connection, channel))


def listeners(database: Database) -> list[int]:
    """Returns the server's processes whose connection listens, and has had no notification."""
    with database.reading() as connection:
        statement = text("SELECT pid FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'LISTEN %'")
        return [row.pid for row in connection.execute(statement)]


def test_each_notification_of_another_connection_is_heard(postgresql: PostgreSQL, server: Database):
    other, heard = Database(postgresql.url), threading.Semaphore(0)
    with listening(server, heard):
        for _ in range(20):
            send(other)
            hears(heard)
    other.close()


def test_notifications_that_come_at_once_are_heard(server: Database):
    heard = threading.Semaphore(0)
    with listening(server, heard):
        threads = [threading.Thread(target=send, args=(server,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        hears(heard)


def test_other_channel_and_other_schema_are_not_heard(postgresql: PostgreSQL, server: Database):
    heard = threading.Semaphore(0)
    with server.writing() as connection:
        connection.execute(text("CREATE SCHEMA IF NOT EXISTS apart"))
    with listening(server, heard):
        send(server, "weather")
        with server.writing() as connection:
            connection.execute(text("SET LOCAL search_path = apart"))
            notify(connection, "news")
        with pytest.raises(ValueError, match="rolled back"), server.writing() as connection:
            notify(connection, "news")
            raise ValueError("rolled back")
        send(server)
        hears(heard)
    assert not heard.acquire(blocking=False)


def test_connection_that_the_server_has_ended_is_made_again(server: Database, caplog: pytest.LogCaptureFixture):
    heard = threading.Semaphore(0)
    with listening(server, heard), caplog.at_level(logging.WARNING):
        (before,) = listeners(server)
        with server.writing() as connection:
            connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": before})
        hears(heard)
        send(server)
        hears(heard)
    assert not caplog.records


def test_restart_of_the_server_is_reported_once_and_waited_for(caplog: pytest.LogCaptureFixture):
    heard = threading.Semaphore(0)
    with running_postgresql() as postgresql, caplog.at_level(logging.INFO, "abstractcore.database"):
        database = Database(postgresql.url)
        with listening(database, heard):
            postgresql.stop()
            assert wait_until(lambda: [record for record in caplog.records if record.levelno == logging.WARNING])
            postgresql.start()
            hears(heard)
            send(database)
            hears(heard)
        database.close()
    messages = [record.message for record in caplog.records if "notifications" in record.message]
    assert len(messages) == 2
    assert messages[0].startswith("notifications of the database are not received until it is back: the database at ")
    assert messages[1] == "notifications of the database are received again"


def test_listener_ends_with_its_connection_and_thread(server: Database):
    heard = threading.Semaphore(0)
    with listening(server, heard) as listener:
        assert len(listeners(server)) == 1
    listener.stop()  # again
    assert wait_until(lambda: not listeners(server))
    assert "news-listener" not in {thread.name for thread in threading.enumerate()}


def test_listener_of_a_server_that_is_gone_ends():
    heard = threading.Semaphore(0)
    with running_postgresql() as postgresql:
        database = Database(postgresql.url)
        with listening(database, heard):
            postgresql.stop()
        database.close()
        postgresql.start()


def test_listener_goes_on_after_a_fork_and_ends_before_the_forked_process(server: Database):
    heard, (ours, theirs) = threading.Semaphore(0), Pipe()

    def child() -> None:
        listener.stop()
        assert theirs.recv() == "stopped"

    with listening(server, heard) as listener, forked(child):
        hears(heard)
        send(server)
        hears(heard)
        listener.stop()
        assert wait_until(lambda: not listeners(server))
        ours.send("stopped")


def test_function_that_fails_is_called_again_on_the_same_connection(server: Database, caplog: pytest.LogCaptureFixture):
    heard, failures = threading.Semaphore(0), threading.Semaphore(2)

    def call() -> None:
        heard.release()
        if failures.acquire(blocking=False):
            raise RuntimeError("the loop is closed")

    listener = server.listen("news", call)
    assert listener is not None
    hears(heard)
    before = listeners(server)
    for _ in range(2):
        send(server)
        hears(heard)
    with server.reading() as connection:
        found = connection.scalars(text("SELECT pid FROM pg_stat_activity WHERE pid = ANY(:pids)"), {"pids": before})
        assert found.all() == before != []
    listener.stop()
    (record,) = caplog.records
    assert record.message == "the listener's function failed: it is called again after each notification"
    assert record.exc_info is not None


def test_sqlite_has_no_notifications(tmp_path: Path):
    database = Database(tmp_path / "notes.db")
    assert database.listen("news", lambda: None) is None
    send(database)
    database.close()
