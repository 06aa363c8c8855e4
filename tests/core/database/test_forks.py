"""A process that forks while it uses a database, and the forked process."""

from __future__ import annotations

import os
import threading
from multiprocessing import Pipe

import pytest

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
