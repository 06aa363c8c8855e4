"""The pipeline of sync and async calls. HTTP, asyncio and providers are reached through ports only."""

from .call_stream import CallStream
from .deadlines import InTime, remaining, time_given
from .lowering import lower
from .pipeline import OutputReader, Pipeline, Prepare, Prepared, refuse_losses
from .request_urls import shown_url
from .signing import credentials_of_endpoint

__all__ = [
    "CallStream",
    "InTime",
    "OutputReader",
    "Pipeline",
    "Prepare",
    "Prepared",
    "credentials_of_endpoint",
    "lower",
    "refuse_losses",
    "remaining",
    "shown_url",
    "time_given",
]
