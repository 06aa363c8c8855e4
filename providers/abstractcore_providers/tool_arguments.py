"""Arguments of tool calls for formats that hold them as an object, where the schema keeps the text as received."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.schema import EMPTY, CallWarning, JSONObject, ToolCall


def arguments_object(call: ToolCall, path: str, warnings: list[CallWarning]) -> JSONObject:
    """What to send for the arguments of `call`, with a warning if the other side will read another text.

    Arguments that are no object become an empty one: such a call has failed already, and its result says so.
    """
    arguments = EMPTY if call.arguments is None else call.arguments
    text = arguments_text(arguments)
    if text != call.arguments_text:
        message = "the format holds arguments as an object, not as the model wrote them"
        warnings.append(
            CallWarning("arguments_rewritten", f"{path}.arguments_text", message, call.arguments_text, text)
        )
    return arguments


def arguments_text(arguments: Any) -> str:
    """The text of arguments that came as an object."""
    return to_json(arguments).decode()
