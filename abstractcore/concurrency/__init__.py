"""The sync and the async runtime, the clock, and bounded worker threads.

Sync calls do without asyncio, which is imported on first use.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .abandoned import (
    AbandonedWork as AbandonedWork,
    in_thread as in_thread,
    name_of as name_of,
)
from .alarms import AlarmClock as AlarmClock
from .background import (
    GATHERING_SECONDS as GATHERING_SECONDS,
    BackgroundWorker as BackgroundWorker,
    ProcessWorker as ProcessWorker,
)
from .clocks import SystemClock as SystemClock
from .driving import drive as drive
from .large_work import (
    is_large as is_large,
    off_loop as off_loop,
)
from .sync import SyncRuntime as SyncRuntime
from .workers import (
    WorkerCall as WorkerCall,
    WorkerThreads as WorkerThreads,
)

with _LazyImports(globals()):
    from .asynchronous import AsyncRuntime as AsyncRuntime
    from .closing import LoopCloser as LoopCloser
    from .connection_timers import (
        ConnectionState as ConnectionState,
        ConnectionTimer as ConnectionTimer,
        make_room as make_room,
    )
