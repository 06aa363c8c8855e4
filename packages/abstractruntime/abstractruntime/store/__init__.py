"""The store of runs: `Store`, over SQLite or PostgreSQL. It knows no program and executes no effect."""

from __future__ import annotations

from .claims import PUT_OFF_SECONDS
from .commits import Change, NewRun
from .items import Delivery, NewItem
from .leases import Lease
from .store import Store

__all__ = ["PUT_OFF_SECONDS", "Change", "Delivery", "Lease", "NewItem", "NewRun", "Store"]
