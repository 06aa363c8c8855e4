"""The sync and the async runtime, the clock, and bounded worker threads.

Sync calls do without asyncio, which is imported on first use.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .workers import AbandonedWork as AbandonedWork, in_thread as in_thread, name_of as name_of
from .time_limits import AlarmClock as AlarmClock
from .background import (
    GATHERING_SECONDS as GATHERING_SECONDS,
    BackgroundWorker as BackgroundWorker,
    ProcessWorker as ProcessWorker,
)
from .time_limits import SystemClock as SystemClock
from .sync import drive as drive
from .sync import is_large as is_large, off_loop as off_loop
from .sync import SyncRuntime as SyncRuntime
from .workers import (
    WorkerCall as WorkerCall,
    WorkerThreads as WorkerThreads,
)

with _LazyImports(globals()):
    from .asynchronous import AsyncRuntime as AsyncRuntime
    from .asynchronous import LoopCloser as LoopCloser
    from .connection_timers import (
        ConnectionState as ConnectionState,
        ConnectionTimer as ConnectionTimer,
        make_room as make_room,
    )
