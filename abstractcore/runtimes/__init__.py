"""The two colours: a runtime for plain code, whose coroutines never suspend, and one for asyncio."""

from .asynchronous import AsyncRuntime
from .background import GATHERING_SECONDS, BackgroundWorker, ProcessWorker
from .clocks import SystemClock
from .closing import LoopCloser
from .driving import drive
from .sync import SyncRuntime

__all__ = [
    "GATHERING_SECONDS",
    "AsyncRuntime",
    "BackgroundWorker",
    "LoopCloser",
    "ProcessWorker",
    "SyncRuntime",
    "SystemClock",
    "drive",
]
