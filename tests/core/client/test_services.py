"""Services that are created on first use: by several threads at once, too."""

from __future__ import annotations

import random
import threading

import pytest

from abstractcore import Services
from abstractcore.concurrency import process_pool
from abstractcore.concurrency.process_pool import ProcessPool


def test_threads_that_ask_for_isolation_at_once_get_one_pool(monkeypatch: pytest.MonkeyPatch):
    """The other one would start processes that `close` does not end."""
    services = Services(environment={})
    found: list[object] = []

    class OvertakenPool(ProcessPool):
        """While the first one is created, another thread gets its own."""

        def __init__(self) -> None:
            super().__init__()
            if not found:
                found.append(None)
                thread = threading.Thread(target=lambda: found.append(services.isolation))
                thread.start()
                thread.join()

    monkeypatch.setattr(process_pool, "ProcessPool", OvertakenPool)
    found[:1] = [services.isolation]
    assert found[0] is found[1]
    assert services.isolation is found[0]
    services.close()


def test_trace_ids_do_not_follow_from_random_numbers():
    """A server stores responses under them, and a program may have set the state of `random`."""
    services, before = Services(environment={}), random.getstate()
    random.seed(0)
    ids = [services.new_id()]
    random.seed(0)
    ids.append(services.new_id())
    random.setstate(before)
    assert ids[0] != ids[1]
    assert all(len(bytes.fromhex(id)) == 16 for id in ids)
