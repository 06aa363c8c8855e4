"""The worker threads of a runtime: a pool for each kind of work, so that one kind cannot block the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from ..ports import WorkKind
from .abandoned import AbandonedWork
from .workers import WorkerThreads

_MOST_AT_ONCE = 16


def worker_pools(abandoned: AbandonedWork) -> Mapping[WorkKind, WorkerThreads]:
    """Returns a pool for each kind of work, which counts in `abandoned`. Starts no thread."""
    kinds: tuple[WorkKind, ...] = get_args(WorkKind)
    return {kind: WorkerThreads(kind, _MOST_AT_ONCE, abandoned) for kind in kinds}
