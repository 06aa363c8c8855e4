"""Services that are created on first use: by several threads at once, too."""

from __future__ import annotations

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
