"""Splits byte streams into frames: server-sent events, JSON lines, Amazon's event stream. Does no I/O.

The event stream, which Amazon Bedrock alone needs, is imported on first use.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .lines import LineFramer as LineFramer
from .server_sent_events import (
    ServerSentEvent as ServerSentEvent,
    ServerSentEventFramer as ServerSentEventFramer,
)

with _LazyImports(globals()):
    from .aws_event_stream import (
        AwsEventStreamFramer as AwsEventStreamFramer,
        AwsEventStreamMessage as AwsEventStreamMessage,
    )
