"""The text of a reply that is its typed answer: all of it, or the arguments of the output tool."""

from __future__ import annotations

from typing import Any, Final, cast

from ..schema import ModelReply, ToolCall

OUTPUT_CALL: Final = "output_call"
"""The field of `ModelReply.provider_metadata` that names the call of the output tool whose arguments the text is."""


def answer_text(reply: ModelReply) -> str:
    """Returns the text of the answer; after text that the model wrote before it called the output tool."""
    noted = _noted(reply)
    return reply.text[noted["start"] :] if noted is not None else reply.text


def output_call(reply: ModelReply) -> ToolCall | None:
    """Returns the call of the output tool that the answer was, if it was one."""
    noted = _noted(reply)
    return None if noted is None else ToolCall(noted["id"], noted["name"], answer_text(reply))


def _noted(reply: ModelReply) -> Any:
    return cast("dict[str, Any]", reply.provider_metadata).get(OUTPUT_CALL)
