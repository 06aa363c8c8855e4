"""Budgets: limits in US dollars on what calls cost, checked before each request.

A call without a budget imports nothing of this.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .budget import Budget as Budget, BudgetState as BudgetState
from .memory import MemoryLedger as MemoryLedger

with _LazyImports(globals(), DatabaseLedger="sqlalchemy"):
    from .database import DatabaseLedger as DatabaseLedger
    from .settling import flush as flush
