"""`abstractcore traces`, `logs` and `costs`. Their code is imported when they are called."""

from __future__ import annotations

from .commands import costs, logs, traces

__all__ = ["costs", "logs", "traces"]
