"""The sync and the async runtime, the clock, and bounded worker threads."""

from .abandoned import Abandoned, in_thread, name_of
from .alarms import AlarmClock
from .asynchronous import AsyncRuntime
from .background import GATHERING_SECONDS, BackgroundWorker, ProcessWorker
from .clocks import SystemClock
from .closing import LoopCloser
from .driving import drive
from .sync import SyncRuntime
from .workers import Job, Workers

__all__ = [
    "GATHERING_SECONDS",
    "Abandoned",
    "AlarmClock",
    "AsyncRuntime",
    "BackgroundWorker",
    "Job",
    "LoopCloser",
    "ProcessWorker",
    "SyncRuntime",
    "SystemClock",
    "Workers",
    "drive",
    "in_thread",
    "name_of",
]
