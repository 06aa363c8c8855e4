"""What the scripted model answers to the clients of others, and what these make of it."""

from __future__ import annotations

from typing import Any

from abstractcore import ModelCall, RateLimitError, TextPart, ToolResult, Usage
from abstractcore.testing import ScriptedReply

WHOLE = ScriptedReply.text("Hello there.", usage=Usage(11, 3))
STREAM = ScriptedReply.chunks(["Hello", " there."], usage=Usage(11, 3))
CALL = ScriptedReply.tool_call("weather", {"city": "Oslo"}, usage=Usage(11, 3))
WEATHER: list[Any] = ["weather", {"city": "Oslo"}]
COUNTED: list[Any] = ["Hello there.", 11, 3]
CHUNKS = ["Hello", " there."]


def refusal() -> RateLimitError:
    """An error of the model: each answer has an exception of its own."""
    return RateLimitError("slow down", retry_after=1)


def result_of(call: ModelCall) -> str:
    """The text of the tool result that ends the conversation of a call."""
    (result,) = call.messages[-1].parts
    assert isinstance(result, ToolResult)
    return "".join(part.text for part in result.content if isinstance(part, TextPart))
