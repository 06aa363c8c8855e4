"""`abstractcore runs`: the commands about runs. Their code is imported when they are called."""

from __future__ import annotations

from .arguments import runs

__all__ = ["runs"]
