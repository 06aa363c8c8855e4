"""`abstractcore sessions`. Its code is imported when it is called."""

from __future__ import annotations

from .commands import sessions

__all__ = ["sessions"]
