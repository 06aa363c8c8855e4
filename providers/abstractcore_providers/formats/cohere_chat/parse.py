"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, ModelCall, OutputSchema, Parsed, ToolChoice, WireRequest

from ...common.conversations import origin_of
from ...common.function_tools import named_schema, read_function_tool
from ...common.reading import Object, as_object, get_flag, get_list, get_text, read_call
from .read_messages import read_messages
from .vocabulary import PROVIDER, SAMPLING, has_field, thinking_to_ours


def parse(request: WireRequest) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    return read_call(request, PROVIDER, _call)


def _call(data: Object, warnings: list[CallWarning]) -> ModelCall:
    model = get_text(data.get("model"), "model")
    strict = get_flag(data, "strict_tools")
    rest = {name: value for name, value in data.items() if value is not None and not has_field(name, value)}
    return ModelCall(
        model=model,
        provider=PROVIDER,
        messages=read_messages(get_list(data, "messages"), origin_of(PROVIDER, model), warnings),
        tools=tuple(
            read_function_tool(tool, f"tools[{i}]", warnings, strict=strict)
            for i, tool in enumerate(get_list(data, "tools"))
        ),
        tool_choice=_tool_choice(data.get("tool_choice")),
        sampling=SAMPLING.read(data, top_logprobs=0 if get_flag(data, "logprobs") else None),
        output=_output(data.get("response_format")),
        thinking=thinking_to_ours(data.get("thinking")),
        stream=get_flag(data, "stream") or False,
        provider_options={PROVIDER: rest},
    )


def _tool_choice(choice: Any) -> ToolChoice | None:
    if choice is None:
        return None
    if choice not in ("REQUIRED", "NONE"):
        raise InvalidInputError("use 'REQUIRED' or 'NONE'", path="tool_choice")
    return ToolChoice("none" if choice == "NONE" else "required")


def _output(format: Any) -> OutputSchema | None:
    if not has_field("response_format", format):
        return None
    return named_schema(as_object(format)["json_schema"], "response_format.json_schema")
