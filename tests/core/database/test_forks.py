"""A process that forks while it uses a database, and the forked process."""

from __future__ import annotations

import gc
import os
import threading
from multiprocessing import Pipe

import pytest
from sqlalchemy import text

from abstractcore.database import Database
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.database.notes import Notes
from tests.forks import forked, in_fork
from tests.leftovers import descriptors

pytestmark = pytest.mark.process


def test_forked_process_connects_again_and_keeps_what_others_would_delete(database: Database, url: str):
    notes = Notes(database)
    notes.add("parent")
    ours, theirs = Pipe()

    def child() -> None:
        assert not [file for file in descriptors().values() if "notes.db" in file]
        notes.add("child")
        theirs.send("connected")
        assert theirs.recv() == "closed"
        assert not [file for file in descriptors().values() if file.endswith(".db-wal (deleted)")]
        notes.add("later")

    with forked(child):
        assert ours.poll(PATIENCE_SECONDS)
        assert ours.recv() == "connected"
        database.close()
        Database(url).close()
        ours.send("closed")
    assert sorted(notes.all()) == ["child", "later", "parent"]


def test_fork_waits_for_the_end_of_a_transaction(database: Database):
    notes, begun, forking = Notes(database), threading.Event(), threading.Event()

    def write() -> None:
        with database.writing():
            begun.set()
            assert forking.wait(PATIENCE_SECONDS)

    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(PATIENCE_SECONDS)
    os.register_at_fork(before=forking.set)  # these hooks run before older ones
    in_fork(lambda: notes.add("child"))
    writer.join()
    assert sorted(notes.all()) == ["child"]


@pytest.mark.parametrize("is_dropped", [False, True])
def test_forked_process_that_collects_garbage_leaves_the_connections_of_its_parent(
    database: Database, url: str, is_dropped: bool
):
    class Holder:
        """Something in a cycle, so that only a collection of garbage finds it."""

        def __init__(self, used: Database) -> None:
            self.used, self.itself = used, self

    notes, garbage = Notes(database), [Holder(Database(url))]
    notes.add("parent")
    assert Notes(garbage[0].used).all() == {"parent": 0}
    if is_dropped:
        garbage.clear()
    ours, theirs = Pipe()
    before = len(descriptors())

    def child() -> None:
        assert len(descriptors()) < before
        garbage.clear()
        gc.collect()
        theirs.send("collected")
        assert theirs.recv() == "used"
        notes.add("child")

    gc.disable()
    try:
        with forked(child):
            with database.writing() as connection:
                assert ours.poll(PATIENCE_SECONDS)
                assert ours.recv() == "collected"
                assert connection.execute(text("SELECT count(*) FROM notes")).scalar() == 1
            ours.send("used")
    finally:
        gc.enable()
    assert sorted(notes.all()) == ["child", "parent"]
