"""`Lease`: a run that a worker holds, with all that the worker needs of it."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from typing import Final

from abstractcore.ports import Interruption

from ..errors import LeaseLostError
from ..json_documents import JSON
from ..records import ENDED, Limits, OpenWait, Spent, Status

PUT_OFF_SECONDS: Final = 3600.0
"""How long nobody takes a run whose row or items are damaged."""


@dataclass(eq=False, slots=True)
class Lease:
    """A run that is held, as it was read or last committed. Only commits change the fields that are stored.

    `lock` is held by a commit: an effect may note records from several threads. `interruption` ends the effect that
    runs; `lost` is set when another worker has taken the run, `released` when it was given back, `delivered` when what
    it had sent has been delivered, `has_commands` when commands may wait in its inbox. `held_until` is a time of the
    database; `clock` is that time and the monotonic one at the same moment. `due_at` is when a released run has to be
    seen to again, None if nobody has to. A forked process does not hold the leases of its parent, whose id is
    `process`.
    """

    run: str
    program: str
    owner: str
    fence: int
    status: Status
    state: bytes | None
    inflight: JSON
    seq: int
    head: str
    outbox: int
    paused_at: float | None
    parent: str | None
    parent_key: str | None
    session: str | None
    limits: Limits
    spent: Spent
    output: bytes | None
    error: bytes | None
    created: float
    waits: dict[str, OpenWait] = field(default_factory=dict[str, OpenWait])
    lock: threading.RLock = field(default_factory=threading.RLock)
    interruption: Interruption = field(default_factory=Interruption)
    held_until: float = 0.0
    clock: tuple[float, float] = (0.0, 0.0)
    process: int = field(default_factory=os.getpid)
    due_at: float | None = None
    lost: bool = False
    released: bool = False
    delivered: bool = False
    has_commands: bool = True

    @property
    def ended(self) -> bool:
        """Whether the run has completed, failed or was cancelled."""
        return self.status in ENDED

    @property
    def is_held(self) -> bool:
        """Whether this process may write the run."""
        return not self.lost and not self.released and self.process == os.getpid()

    def hold(self, now: float, until: float) -> None:
        """Notes that the run is held until a time of the database, where it is `now`."""
        self.held_until = until
        self.clock = (now, time.monotonic())

    @property
    def now(self) -> float:
        """The time of the database, which is asked at the claim and at each heartbeat."""
        then, monotonic = self.clock
        return then + time.monotonic() - monotonic

    def lose(self) -> None:
        """Notes that another worker has the run: what runs for it is interrupted."""
        self.lost = True
        self.interruption.set()

    def lost_error(self) -> LeaseLostError:
        """Returns the error of a lease that was lost."""
        return LeaseLostError(f"another worker has taken over the run {self.run!r}", run=self.run)
