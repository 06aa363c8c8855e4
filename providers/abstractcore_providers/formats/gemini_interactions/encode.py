"""Encodes a call as a request, with a warning for everything that the format cannot express."""

from __future__ import annotations

from abstractcore.schema import Encoded, ModelCall, WireRequest

from ...common.body_writer import BodyWriter
from ...common.format_warnings import unsupported
from ...common.json_reading import Object
from ...common.sampling_options import write_sampling
from ...common.thinking_levels import nearest_level
from ...common.tool_names import GEMINI, with_valid_names
from .provider_options import add_options, interaction_options, write_thinking
from .response_formats import write_response_format
from .tools import write_tool_choice, write_tools
from .vocabulary import ARGUMENTS, LEVELS, SAMPLING, WARNINGS
from .write_messages import write_input, write_system

_HEADERS = {"content-type": "application/json"}


def encode(call: ModelCall, provider: str) -> Encoded:
    """Returns the request for a lowered call.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for an invalid tool name and for
    provider options that duplicate a field of the call.
    """
    writer = BodyWriter(provider, ARGUMENTS)
    body = _body(call, writer)
    return Encoded(WireRequest("/interactions", _HEADERS, writer.json(body)), tuple(writer.warnings))


def _body(call: ModelCall, writer: BodyWriter) -> Object:
    call = with_valid_names(call, GEMINI, writer.warnings)
    options = interaction_options(call, writer.provider, writer.warnings)
    body: Object = {"model": call.model}
    system = write_system(call.messages, writer)
    if system:
        body["system_instruction"] = system
    body["input"] = write_input(call.messages, call.model, writer)
    tools = write_tools(call, writer)
    if tools:
        body["tools"] = tools
    config = _generation_config(call, writer)
    if config:
        body["generation_config"] = config
    response_format = write_response_format(call, writer.warnings)
    if response_format is not None:
        body["response_format"] = response_format
    WARNINGS.options(call, ("parallel_tool_calls",), writer.warnings)
    if call.stream:
        body["stream"] = True
    body["store"] = False
    add_options(body, options, writer.provider, writer.warnings)
    return body


def _generation_config(call: ModelCall, writer: BodyWriter) -> Object:
    """Returns sampling options, thinking and the tool choice."""
    config = write_sampling(SAMPLING, call.sampling, writer.warnings)
    thinking = nearest_level(call.thinking, LEVELS.values(), writer.warnings)
    if isinstance(thinking, int) or thinking == "off":
        what = "turning thinking off" if thinking == "off" else "a thinking budget in tokens"
        writer.warnings.append(unsupported("thinking", thinking, what))
    elif thinking is not None:
        config |= write_thinking(thinking)
    if call.tool_choice is not None:
        config["tool_choice"] = write_tool_choice(call.tool_choice)
    return config
