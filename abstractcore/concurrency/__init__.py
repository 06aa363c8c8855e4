"""The sync and the async runtime, the clock, and bounded worker threads.

Sync calls do without asyncio, which is imported on first use.
"""

from typing import TYPE_CHECKING, Any

from .abandoned import Abandoned, in_thread, name_of
from .alarms import AlarmClock
from .background import GATHERING_SECONDS, BackgroundWorker, ProcessWorker
from .clocks import SystemClock
from .driving import drive
from .large_work import is_large, off_loop
from .sync import SyncRuntime
from .workers import WorkerCall, WorkerThreads

if TYPE_CHECKING:
    from .asynchronous import AsyncRuntime
    from .closing import LoopCloser
    from .connection_timers import ConnectionState, ConnectionTimer, make_room

_LATER = {
    "AsyncRuntime": "asynchronous",
    "ConnectionState": "connection_timers",
    "ConnectionTimer": "connection_timers",
    "LoopCloser": "closing",
    "make_room": "connection_timers",
}
"""Names whose modules, which import asyncio, are imported on first access."""

__all__ = [
    "GATHERING_SECONDS",
    "Abandoned",
    "AlarmClock",
    "AsyncRuntime",
    "BackgroundWorker",
    "ConnectionState",
    "ConnectionTimer",
    "LoopCloser",
    "ProcessWorker",
    "SyncRuntime",
    "SystemClock",
    "WorkerCall",
    "WorkerThreads",
    "drive",
    "in_thread",
    "is_large",
    "make_room",
    "name_of",
    "off_loop",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
