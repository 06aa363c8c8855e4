"""Traces of calls, interactions and tool runs in SQLite or PostgreSQL: found by their words, summed by their costs, and
asked again of another model.

A subscriber queues records and writes them in a thread of its own: a database that fails never fails a call.
"""

from .. import database as _database  # the first import: it says what to install
from ..lazy_modules import LazyImports as _LazyImports
from ..schema import CostSums as CostSums
from .costs import CostRow as CostRow
from .keeping import Keeping as Keeping
from .pruning import Pruned as Pruned
from .queries import CallSummary as CallSummary, Trace as Trace, TraceNode as TraceNode, TraceScore as TraceScore
from .store import TraceStore as TraceStore

with _LazyImports(globals()):
    from .questions import (
        StoredQuestion as StoredQuestion,
        find_questions as find_questions,
    )
    from .reconciling import (
        RECONCILED_BY as RECONCILED_BY,
        ReconciledCost as ReconciledCost,
        ReportDays as ReportDays,
        reconcile as reconcile,
    )
    from .rerunning import (
        RERUN_TAG as RERUN_TAG,
        Rerun as Rerun,
        RerunModel as RerunModel,
        estimate_rerun as estimate_rerun,
        rerun as rerun,
    )

del _database
