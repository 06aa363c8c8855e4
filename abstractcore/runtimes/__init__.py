"""The two colours: a runtime for plain code, whose coroutines never suspend, and one for asyncio."""

from .asynchronous import AsyncRuntime, in_this_loop
from .background import GATHERING_SECONDS, BackgroundWorker, ProcessWorker
from .clocks import SystemClock
from .driving import drive
from .sync import SyncRuntime

__all__ = [
    "GATHERING_SECONDS",
    "AsyncRuntime",
    "BackgroundWorker",
    "ProcessWorker",
    "SyncRuntime",
    "SystemClock",
    "drive",
    "in_this_loop",
]
