"""Splits byte streams into frames: server-sent events, JSON lines, Amazon's event stream. Does no I/O."""

from .aws_event_stream import AwsEventStreamFramer, AwsEventStreamMessage
from .lines import LineFramer
from .server_sent_events import ServerSentEvent, ServerSentEventFramer

__all__ = ["AwsEventStreamFramer", "AwsEventStreamMessage", "LineFramer", "ServerSentEvent", "ServerSentEventFramer"]
