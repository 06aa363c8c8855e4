"""Streams of bytes cut into frames: server-sent events and JSON lines. Pure; knows no wire format."""

from .lines import LineFramer
from .server_sent_events import ServerSentEvent, ServerSentEventFramer

__all__ = ["LineFramer", "ServerSentEvent", "ServerSentEventFramer"]
