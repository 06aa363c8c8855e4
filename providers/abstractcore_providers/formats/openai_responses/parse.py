"""From a client's request to a call (server side). What the schema has no field for becomes a provider option."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    HostedTool,
    ModelCall,
    OutputSchema,
    Parsed,
    SchemaError,
    ToolSpec,
    WireRequest,
)

from ...common.json_reading import Object, as_object, text_of
from ...common.openai_words import EFFORTS, origin_of
from ...common.reading import get_flag, get_list, get_object, get_text, locating, read_request
from .options import is_of_call, rest_of
from .read_messages import Conversation
from .tools import is_other_tool, read_choice, read_tool
from .vocabulary import SAMPLING


def parse(request: WireRequest, provider: str, encrypted_reasoning: bool) -> Parsed:
    """The call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    data = read_request(request)
    warnings: list[CallWarning] = []
    conversation = Conversation(provider, origin_of(provider, text_of(data, "model")), warnings)
    with locating(request, provider, conversation.place_of):
        call = _call(data, provider, encrypted_reasoning, conversation, warnings)
    return Parsed(call, tuple(warnings))


def _call(
    data: Object, provider: str, encrypted_reasoning: bool, conversation: Conversation, warnings: list[CallWarning]
) -> ModelCall:
    if get_flag(data, "background"):
        raise InvalidInputError("calls are answered at once, not in the background", path="background")
    model = get_text(data.get("model"), "model")
    conversation.read(data)
    tools = [
        read_tool(get_object(tool, f"tools[{i}]"), f"tools[{i}]", warnings)
        for i, tool in enumerate(get_list(data, "tools"))
        if not is_other_tool(tool)
    ]
    reasoning = _object(data, "reasoning")
    text = _object(data, "text")
    get_list(data, "include")
    return ModelCall(
        model=model,
        provider=provider,
        messages=conversation.messages,
        tools=tuple(tool for tool in tools if isinstance(tool, ToolSpec)),
        hosted_tools=tuple(tool for tool in tools if isinstance(tool, HostedTool)),
        tool_choice=read_choice(data.get("tool_choice")),
        parallel_tool_calls=get_flag(data, "parallel_tool_calls"),
        sampling=SAMPLING.read(data),
        output=_output(text.get("format")),
        thinking=EFFORTS.get(text_of(reasoning, "effort") or ""),
        stream=get_flag(data, "stream") or False,
        provider_options={provider: rest_of(data, encrypted_reasoning)},
    )


def _object(data: Object, name: str) -> Object:
    value = data.get(name)
    return {} if value is None else get_object(value, name)


def _output(data: Any) -> OutputSchema | None:
    if not is_of_call("text", "format", data):
        return None
    schema, path = as_object(data), "text.format"
    try:
        return OutputSchema(
            name=get_text(schema.get("name"), f"{path}.name"),
            schema=as_object(schema.get("schema")),
            description=text_of(schema, "description"),
            strict=get_flag(schema, "strict", f"{path}.") or False,
        )
    except SchemaError as error:
        raise error.at(path) from None
