"""Helpers for tests: scripted replies, a virtual clock, contexts of tools, sync and async calls with one interface,
laws of wire formats.

Authors of wire formats call `check_laws(MyTranspiler(), provider="mine")` in a test, which checks all laws with
generated calls and replies. It needs Hypothesis (the `test` extra), which is imported only then. For authors of
transports, `abstractcore.testing.transports` has test suites to inherit, and `http_server` their server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ports import ScriptedReply
from .clocks import VirtualClock
from .laws import (
    LAWS,
    Law,
    LawBrokenError,
    check_call_losses,
    check_encode_again,
    check_errors,
    check_render_again,
    check_reply_losses,
    check_stream,
)

if TYPE_CHECKING:
    from . import strategies
    from .checking import check_laws
    from .sync_and_async import CALL_STYLES, AsyncCalls, BlockingStream, CallStyle, SyncCalls
    from .tool_contexts import RecordedContext, tool_context

_LATER = {
    "CALL_STYLES": "sync_and_async",
    "AsyncCalls": "sync_and_async",
    "BlockingStream": "sync_and_async",
    "CallStyle": "sync_and_async",
    "RecordedContext": "tool_contexts",
    "SyncCalls": "sync_and_async",
    "check_laws": "checking",
    "tool_context": "tool_contexts",
}
"""Names whose modules are imported on first use: they import HTTP libraries or Hypothesis."""

__all__ = [
    "CALL_STYLES",
    "LAWS",
    "AsyncCalls",
    "BlockingStream",
    "CallStyle",
    "Law",
    "LawBrokenError",
    "RecordedContext",
    "ScriptedReply",
    "SyncCalls",
    "VirtualClock",
    "check_call_losses",
    "check_encode_again",
    "check_errors",
    "check_laws",
    "check_render_again",
    "check_reply_losses",
    "check_stream",
    "strategies",
    "tool_context",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "strategies":
        return import_module(".strategies", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
