"""The one pipeline, for both colours. Knows no HTTP, no asyncio and no provider: all of it comes in through ports."""

from .call_records import EndedCall
from .call_stream import CallStream
from .deadlines import InTime, remaining, time_given
from .guests import Guest
from .lowering import lower
from .offline import OfflineEndpoint
from .pipeline import OutputReader, Pipeline, Prepare, Prepared, refuse_losses
from .places import shown_url
from .retry import Retry
from .signing import credentials_of_place
from .tracing import Listener, Tracing

__all__ = [
    "CallStream",
    "EndedCall",
    "Guest",
    "InTime",
    "Listener",
    "OfflineEndpoint",
    "OutputReader",
    "Pipeline",
    "Prepare",
    "Prepared",
    "Retry",
    "Tracing",
    "credentials_of_place",
    "lower",
    "refuse_losses",
    "remaining",
    "shown_url",
    "time_given",
]
