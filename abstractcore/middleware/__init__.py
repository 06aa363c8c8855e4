"""Middleware around calls and attempts: retries, the deadline, tracing, and the user's own."""

from .deadline import Deadline
from .offline import OfflineEndpoint
from .retry import Retry
from .tracing import Tracing
from .user_middleware import UserMiddleware

__all__ = ["Deadline", "OfflineEndpoint", "Retry", "Tracing", "UserMiddleware"]
