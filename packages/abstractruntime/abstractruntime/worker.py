"""The worker: claims runs that are due, takes them on, and keeps its leases."""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Mapping
from typing import Literal

from abstractcore.concurrency import SyncRuntime, drive
from abstractcore.database import DatabaseError

from .effects import EffectKind
from .engine import Engine
from .errors import UnknownProgramError
from .programs import Program
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
            try:
                if held:
                    self._store.extend(held)
            except DatabaseError as error:
                _log.warning("leases could not be extended: %s", error)


class Worker:
    """Takes runs of `programs` on. `owner` names it in the database."""

    def __init__(self, store: Store, programs: Mapping[str, Program], effects: Mapping[str, EffectKind]) -> None:
        self.store = store
        self.owner = f"{socket.gethostname()[:20]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._programs = programs
        self._engine = Engine(store, programs, effects)

    def advance(self, run: str, *, max_steps: int | None = None) -> bool:
        """Takes one run on in this thread, for `max_steps` steps at most; False if another worker holds it.

        Raises `RunNotFoundError`, and `UnknownProgramError` for a program that this worker does not have.
        """
        info = self.store.run(run)
        if info.program not in self._programs:
            hint = "Pass the program: Runtime(..., programs=[...])."
            raise UnknownProgramError(f"there is no program {info.program!r} here", run=run, hint=hint)
        lease = self.store.claim_run(run, self.owner)
        if lease is None:
            return False
        heartbeat = Heartbeat(self.store)
        heartbeat.add(lease)
        try:
            drive(self._engine.advance(lease, SyncRuntime(), max_steps=max_steps))
        finally:
            heartbeat.stop()
        return True

    def work(self, *, until: Literal["idle"] = "idle") -> int:
        """Takes runs on in this thread, one after the other, until none is due; returns how many were taken."""
        runtime = SyncRuntime()
        heartbeat = Heartbeat(self.store)
        count = 0
        try:
            while leases := self.store.claim([*self._programs], self.owner):
                for lease in leases:
                    heartbeat.add(lease)
                    try:
                        drive(self._engine.advance(lease, runtime))
                    finally:
                        heartbeat.remove(lease)
                    count += 1
        finally:
            heartbeat.stop()
        return count
