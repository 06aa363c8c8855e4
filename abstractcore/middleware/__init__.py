"""What stands around calls and attempts: retries, the deadline."""

from .deadline import Deadline

__all__ = ["Deadline"]
