"""`Heartbeat`: keeps the leases of a worker while it works on their runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from abstractcore.database import DatabaseError

from .store import Lease, Store

_log = logging.getLogger("abstractruntime")


class Heartbeat:
    """Keeps leases in a thread of its own, at a third of their time, while they are held."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._leases: set[Lease] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, lease: Lease) -> None:
        """Keeps a lease."""
        with self._lock:
            self._leases.add(lease)
            if self._thread is None:
                self._stopped.clear()
                self._thread = threading.Thread(target=self._run, name="abstractruntime-heartbeat", daemon=True)
                self._thread.start()

    def remove(self, lease: Lease) -> None:
        """Lets a lease go."""
        with self._lock:
            self._leases.discard(lease)

    def stop(self) -> None:
        """Ends the thread."""
        self._stopped.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._store.seconds / 3):
            with self._lock:
                held = [*self._leases]
            if held:
                self._extend(held)

    def _extend(self, held: Sequence[Lease]) -> None:
        try:
            self._store.extend(held)
        except DatabaseError as error:
            _log.warning("leases could not be extended: %s", error)
