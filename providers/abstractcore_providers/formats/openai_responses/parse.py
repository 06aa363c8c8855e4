"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

from functools import partial
from typing import Any

from abstractcore.schema import CallWarning, HostedTool, ModelCall, OutputSchema, Parsed, ToolSpec, WireRequest

from ...common.conversations import origin_of
from ...common.function_tools import read_output
from ...common.reading import Object, get_flag, get_group, get_list, get_text, read_call, text_of
from .options import EFFORTS, is_of_call, rest_of
from .read_messages import ItemReader
from .tools import read_choice, read_tools
from .vocabulary import SAMPLING


def parse(request: WireRequest, provider: str, encrypted_reasoning: bool) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    conversation = ItemReader(provider)
    read = partial(_call, conversation, provider, encrypted_reasoning)
    return read_call(request, provider, read, conversation.path_in_request)


def _call(
    conversation: ItemReader, provider: str, encrypted_reasoning: bool, data: Object, warnings: list[CallWarning]
) -> ModelCall:
    get_flag(data, "background")
    model = get_text(data.get("model"), "model")
    conversation.read(data, origin_of(provider, model), warnings)
    tools = read_tools(get_list(data, "tools"), warnings)
    reasoning, text = get_group(data, "reasoning"), get_group(data, "text")
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


def _output(data: Any) -> OutputSchema | None:
    return read_output(data, "text.format") if is_of_call("text", "format", data) else None
