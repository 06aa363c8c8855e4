"""The one pipeline, for both colours. Knows no HTTP, no asyncio and no provider: all of it comes in through ports."""

from .call_stream import CallStream
from .deadline import Deadline
from .guests import Guest
from .lowering import lower
from .pipeline import OutputReader, Pipeline, Prepare, Prepared, refuse_losses
from .results import as_record
from .retry import Retry
from .tracing import Tracing

__all__ = [
    "CallStream",
    "Deadline",
    "Guest",
    "OutputReader",
    "Pipeline",
    "Prepare",
    "Prepared",
    "Retry",
    "Tracing",
    "as_record",
    "lower",
    "refuse_losses",
]
