"""What the strict fakes of OpenAI's two formats share: refusals by a row, and the form of an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.providers.strict_fakes.fake import Row, refused, thinking_refusal


def thinks(row: Row, options: Mapping[str, Any]) -> bool:
    """Whether the model thinks about this request."""
    by_default = (row.get("thinking") or {}).get("on_by_default", False)
    return options["thinking"] != "off" if "thinking" in options else by_default


def refusals(row: Row, options: Mapping[str, Any]) -> Iterator[str]:
    """The messages for what the row refuses."""
    for name in refused(row, options):
        yield f"Unsupported parameter: '{name}' is not supported with this model."
    message = thinking_refusal(row, options.get("thinking"))
    if message is not None:
        yield message
    if thinks(row, options):
        for name in set(row.get("refused_with_thinking", ())) & options.keys():
            yield f"Unsupported parameter: '{name}' is not supported with this model while it thinks."
    for first, second in row.get("refused_together", ()):
        if first in options and second in options:
            yield f"`{first}` and `{second}` cannot both be specified."
    if "output" in options and row.get("structured_output") == "none":
        yield "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    if "tools" in options:
        yield from _of_tools(row, options)


def _of_tools(row: Row, options: Mapping[str, Any]) -> Iterator[str]:
    tools = row.get("tools")
    asked = options.get("thinking") not in (None, "off")
    if tools == "never":
        yield "Tools are not supported with this model."
    if (tools == "without_thinking" and thinks(row, options)) or (tools == "thinking_unset" and asked):
        yield "Function tools with reasoning_effort are not supported. Use /v1/responses."
    forced = options.get("tool_choice") not in (None, "auto", "none")
    never = row.get("forced_tools") == "never"
    if forced and (never or (row.get("forced_tools") == "without_thinking" and thinks(row, options))):
        yield "Thinking mode does not support this tool_choice"


def error(message: str) -> Any:
    """The body of a refusal."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
