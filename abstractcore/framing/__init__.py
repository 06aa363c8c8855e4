"""Splits byte streams into frames: server-sent events, JSON lines, Amazon's event stream. Does no I/O."""

from typing import TYPE_CHECKING, Any

from .lines import LineFramer
from .server_sent_events import ServerSentEvent, ServerSentEventFramer

if TYPE_CHECKING:
    from .aws_event_stream import AwsEventStreamFramer, AwsEventStreamMessage

__all__ = ["AwsEventStreamFramer", "AwsEventStreamMessage", "LineFramer", "ServerSentEvent", "ServerSentEventFramer"]

_LATER = ("AwsEventStreamFramer", "AwsEventStreamMessage")
"""Names whose module is imported on first access: only Amazon Bedrock needs it."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import aws_event_stream

    value = globals()[name] = getattr(aws_event_stream, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
