"""A process that forks while it uses a database, and the forked process."""

from __future__ import annotations

import os
import threading
from multiprocessing import Pipe

import pytest

from abstractcore.server.store import Keys, Store
from tests.chaos_server import PATIENCE_SECONDS
from tests.forks import forked, in_fork
from tests.leftovers import descriptors

pytestmark = pytest.mark.process


def test_forked_process_connects_again_and_keeps_what_others_would_delete(store: Store, url: str):
    keys = Keys(store)
    keys.create("parent")
    ours, theirs = Pipe()

    def child() -> None:
        assert not [file for file in descriptors().values() if "server.db" in file]
        keys.create("child")
        theirs.send("connected")
        assert theirs.recv() == "closed"
        assert not [file for file in descriptors().values() if file.endswith(".db-wal (deleted)")]
        keys.create("later")

    with forked(child):
        assert ours.poll(PATIENCE_SECONDS)
        assert ours.recv() == "connected"
        store.close()
        Store(url).close()
        ours.send("closed")
    assert [key.name for key in keys.all()] == ["child", "later", "parent"]


def test_fork_waits_for_the_end_of_a_transaction(store: Store):
    keys, begun, forking = Keys(store), threading.Event(), threading.Event()

    def write() -> None:
        with store.writing():
            begun.set()
            assert forking.wait(PATIENCE_SECONDS)

    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(PATIENCE_SECONDS)
    os.register_at_fork(before=forking.set)  # these hooks run before older ones
    in_fork(lambda: keys.create("child"))
    writer.join()
    assert [key.name for key in keys.all()] == ["child"]
