"""Middleware around calls and attempts: retries, the deadline, tracing, and the user's own."""

from .built_in import AroundAttempts
from .built_in import Budgeting
from .built_in import Deadline
from .built_in import Limiting
from .built_in import OfflineEndpoint
from .built_in import Retry
from .built_in import SpendingBeside
from .built_in import Tracing
from .built_in import UserMiddleware
from .built_in import pause_after

__all__ = [
    "AroundAttempts",
    "Budgeting",
    "Deadline",
    "Limiting",
    "OfflineEndpoint",
    "Retry",
    "SpendingBeside",
    "Tracing",
    "UserMiddleware",
    "pause_after",
]
