"""A stored trace of each kind, and the commands that show it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from abstractcore import (
    CallRecord,
    InteractionRecord,
    Message,
    ModelCall,
    ModelReply,
    TextPart,
    ToolRecord,
    Usage,
)
from abstractcore.schema import AttemptRecord, ErrorRecord, ToolCall, ToolResult
from abstractcore.traces import TraceStore
from abstractcore_cli.app import app
from tests.core.traces.stores import NOON, a_call, write

HOSTILE = "\x1b]0;title\x07 \x9b31m \u202e"
QUESTION = Message("user", (TextPart(f"When is the {HOSTILE} meeting?"),))
TOOL_CALL = ToolCall("1", "calendar", '{"day": "Monday"}')
TOOL_RESULT = ToolResult("1", (TextPart("At 9.30."),))
ROUNDS = (QUESTION, Message("assistant", (TOOL_CALL,)), Message("tool", (TOOL_RESULT,)))


def invoke(*arguments: str, **environment: str) -> Any:
    """Runs a command in this process."""
    return CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False)


def a_loop() -> list[CallRecord | InteractionRecord | ToolRecord]:
    """A loop of two calls and a tool run, children first."""
    tags = {"team": "office"}
    first = a_call(
        trace_id="call-1", parent_id="loop-1", tags=tags, cost="0.002", at=NOON, seconds=1.0,
        call=ModelCall("small", (QUESTION,)), reply=reply(TOOL_CALL),
        attempts=(
            AttemptRecord(1, NOON, 0.2, 429, error="RateLimitError"),
            AttemptRecord(2, NOON + 0.5, 0.5, 200, cost=Decimal("0.002"), seconds_waited=0.1),
        ),
        seconds_waited=0.1,
    )  # fmt: skip
    tool = ToolRecord(
        "tool-1", "loop-1", "calendar", "1", "function", "done", NOON + 1, 1.0,
        arguments={"day": "Monday"}, result=TOOL_RESULT, cost=Decimal("0.01"), tags=tags,
    )  # fmt: skip
    last = a_call(
        trace_id="call-2", parent_id="loop-1", tags=tags, cost=None, estimated="0.001", at=NOON + 2, seconds=2.0,
        call=ModelCall("small", ROUNDS), reply=reply(TextPart("It is at 9.30.")),
    )  # fmt: skip
    loop = InteractionRecord(
        "loop-1", None, "tools", "vendor", "small", "done", False, NOON, 4.0, None, 2, 1, "answered", tags=tags
    )
    return [first, tool, last, loop]


def reply(*parts: Any) -> ModelReply:
    """An answer."""
    return ModelReply(parts, "stop", usage=Usage(10, 5), model="small", provider="vendor")


def a_store(path: Path | str) -> str:
    """A database with a loop, a failed call, and one of another model; returns its place."""
    store = TraceStore(path)
    error = ErrorRecord("OverloadedError", "busy")
    write(
        store,
        *a_loop(),
        a_call("invoice 17", trace_id="failed-1", cost=None, outcome="failed", error=error, reply=None, at=NOON + 5),
        a_call("again", trace_id="other-1", model="large", cost="0.5", at=NOON + 6, tags={"team": "lab"}),
    )
    store.score("loop-1", "good", 1, "as it should be")
    store.close()
    return str(path)
