"""The one pipeline, for both colours. Knows no HTTP, no asyncio and no provider: all of it comes in through ports."""

from .call_stream import CallStream
from .lowering import lower
from .pipeline import OutputReader, Pipeline
from .retry import Retry

__all__ = ["CallStream", "OutputReader", "Pipeline", "Retry", "lower"]
