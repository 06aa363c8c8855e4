"""Traces of calls, interactions and tool runs in SQLite or PostgreSQL: found by their words, summed by their costs.

A subscriber queues records and writes them in a thread of its own: a database that fails never fails a call.
"""

from .. import database as _database  # the first import: it says what to install
from .costs import CostRow, CostSums
from .keeping import Keeping
from .pruning import Pruned
from .queries import CallSummary, Trace, TraceNode, TraceScore
from .store import TraceStore

__all__ = [
    "CallSummary",
    "CostRow",
    "CostSums",
    "Keeping",
    "Pruned",
    "Trace",
    "TraceNode",
    "TraceScore",
    "TraceStore",
]
del _database
