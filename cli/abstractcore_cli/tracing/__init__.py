"""`abstractcore traces` and `abstractcore costs`. Their code is imported when they are called."""

from __future__ import annotations

from .commands import costs, traces

__all__ = ["costs", "traces"]
