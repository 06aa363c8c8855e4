"""Helpers for tests: scripted replies, a virtual clock, contexts of tools, sync and async calls with one interface,
laws of wire formats.

Authors of wire formats call `check_laws(MyTranspiler(), provider="mine")` in a test, which checks all laws with
generated calls and replies. It needs Hypothesis (the `test` extra), which is imported only then. For authors of
transports, `abstractcore.testing.transports` has test suites to inherit, and `http_server` their server.
"""

from ..lazy_modules import LazyImports as _LazyImports
from ..ports import ScriptedReply as ScriptedReply
from .clocks import VirtualClock as VirtualClock
from .laws import (
    LAWS as LAWS,
    Law as Law,
    LawBrokenError as LawBrokenError,
    check_call_losses as check_call_losses,
    check_encode_again as check_encode_again,
    check_errors as check_errors,
    check_render_again as check_render_again,
    check_reply_losses as check_reply_losses,
    check_stream as check_stream,
)

with _LazyImports(globals()):
    from . import strategies as strategies
    from .checking import check_laws as check_laws
    from .sync_and_async import (
        CALL_STYLES as CALL_STYLES,
        AsyncCalls as AsyncCalls,
        BlockingStream as BlockingStream,
        CallStyle as CallStyle,
        SyncCalls as SyncCalls,
    )
    from .clocks import RecordedContext as RecordedContext, tool_context as tool_context
