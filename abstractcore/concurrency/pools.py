"""The worker threads of a runtime: a pool for each kind of work, so that a flood of one kind holds up no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from ..ports import WorkKind
from .abandoned import Abandoned
from .workers import Workers

_MOST_AT_ONCE = 16


def worker_pools(abandoned: Abandoned) -> Mapping[WorkKind, Workers]:
    """A pool for each kind; what is abandoned is counted in `abandoned`. No thread is started yet."""
    kinds: tuple[WorkKind, ...] = get_args(WorkKind)
    return {kind: Workers(kind, _MOST_AT_ONCE, abandoned) for kind in kinds}
