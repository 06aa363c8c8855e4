"""The pipeline of sync and async calls. HTTP, asyncio and providers are reached through ports only."""

from ..concurrency.time_limits import (
    InTime as InTime,
    out_of_time as out_of_time,
    overdue as overdue,
    remaining as remaining,
    time_given as time_given,
)
from ..lazy_modules import LazyImports as _LazyImports
from .exchange import credentials_of_endpoint as credentials_of_endpoint
from .lowering import lower as lower
from .lowering.changes import refuse_losses as refuse_losses
from .pipeline import Pipeline as Pipeline
from .prepared import (
    OutputReader as OutputReader,
    Prepare as Prepare,
    Prepared as Prepared,
)

with _LazyImports(globals()):
    from .call_stream import CallStream as CallStream
