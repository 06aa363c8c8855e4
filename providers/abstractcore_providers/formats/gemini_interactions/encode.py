"""Encodes a call as a request, with a warning for everything that the format cannot express."""

from __future__ import annotations

from abstractcore.schema import Encoded, JSONObject, ModelCall, Sampling, WireRequest, to_data

from ...common.call_options import SAMPLING_OPTIONS, unsupported, write_sampling
from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.json_schemas import GEMINI
from ...common.reading import Object
from ...common.request_limits import GEMINI as LIMITS
from ...common.request_limits import within_limits
from ...common.thinking import nearest_level
from .provider_options import (
    AGENT,
    add_options,
    interaction_options,
    stored_turn,
    write_response_format,
    write_thinking,
    write_tool_choice,
    write_tools,
)
from .vocabulary import ARGUMENTS, LEVELS, SAMPLING, WARNINGS
from .write_messages import write_input, write_system


def encode(call: ModelCall, provider: str, defaults: JSONObject) -> Encoded:
    """Returns the request for a lowered call; `defaults` are options that it may have itself.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for what exceeds a limit and for
    provider options that duplicate a field of the call.
    """
    writer = BodyWriter(provider, ARGUMENTS)
    body = _body(call, defaults, writer)
    return Encoded(WireRequest("/interactions", JSON_HEADERS, writer.json(body)), tuple(writer.warnings), writer.names)


def _body(call: ModelCall, defaults: JSONObject, writer: BodyWriter) -> Object:
    options = interaction_options(call, defaults, writer.provider, writer.warnings)
    is_agent = AGENT in options
    call = _without_config(call, writer) if is_agent else call
    call, writer.names = within_limits(call, LIMITS, GEMINI, writer.provider, writer.warnings)
    body: Object = {AGENT if is_agent else "model": call.model}
    system = write_system(call.messages, writer)
    if system:
        body["system_instruction"] = system
    body["input"] = write_input(call.messages, call.model, writer, stored_turn(call.messages, options))
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
    if options.get("background") is not True:
        body["store"] = False
    add_options(body, options, writer.provider, writer.warnings)
    return body


def _without_config(call: ModelCall, writer: BodyWriter) -> ModelCall:
    """Returns the call of an agent, which has no generation config, with a warning for each option in it."""
    given = {f"sampling.{name}": getattr(call.sampling, name) for name in ("max_output_tokens", *SAMPLING_OPTIONS)}
    given |= {"thinking": call.thinking, "tool_choice": call.tool_choice}
    for path, value in given.items():
        if value not in (None, ()):
            writer.warnings.append(unsupported(path, to_data(value), f"{path.rpartition('.')[2]} of an agent"))
    return call.with_(sampling=Sampling(), thinking=None, tool_choice=None)


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
