"""Encodes a call as a request body, with a warning for everything that the format cannot express."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore import schema
from abstractcore.schema import CallWarning, Encoded, Message, ModelCall, WireRequest

from ...common.call_options import unsupported, write_sampling
from ...common.conversations import origin_of
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import write_output
from ...common.json_schemas import OPENAI
from ...common.reading import Object
from ...common.request_limits import OPENAI_RESPONSES, within_limits
from .client_results import without_cache
from .fit_messages import Receiver, fit_messages
from .options import add_options, default_include, is_stored, options_of, write_choice, write_hosted_tool, write_tool
from .vocabulary import SAMPLING, WARNINGS
from .write_items import plain_text, write_items


def encode(call: ModelCall, provider: str, encrypted_reasoning: bool) -> Encoded:
    """Returns the request for a lowered call, with or without `encrypted_reasoning`.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for what exceeds a limit and for
    provider options that duplicate a field of the call.
    """
    warnings: list[CallWarning] = []
    body, names = request_body(call, provider, encrypted_reasoning, warnings)
    return Encoded(WireRequest("/responses", JSON_HEADERS, to_json(body)), tuple(warnings), names)


def request_body(
    call: ModelCall, provider: str, encrypted_reasoning: bool, warnings: list[CallWarning]
) -> tuple[Object, schema.SentNames | None]:
    """Returns the body of the request, and the names that it has in place of the call's; adds to `warnings`."""
    call, names = within_limits(call, OPENAI_RESPONSES, OPENAI, provider, warnings)
    options = options_of(call, provider, warnings)
    searched = any(tool.kind == "tool_search" for tool in call.hosted_tools)
    receiver = Receiver(provider, origin_of(provider, call.model) or "", is_stored(options), searched)
    body: Object = {"model": call.model}
    body.update(_input(fit_messages(call.messages, receiver, warnings), provider))
    body.update(write_sampling(SAMPLING, call.sampling, warnings))
    tools = [
        write_tool(without_cache(tool, f"tools[{i}]", warnings), f"tools[{i}]", warnings, searched=searched)
        for i, tool in enumerate(call.tools)
    ]
    tools += [write_hosted_tool(tool, f"hosted_tools[{i}]", warnings) for i, tool in enumerate(call.hosted_tools)]
    if tools:
        body["tools"] = tools
    if call.tool_choice is not None:
        body["tool_choice"] = write_choice(call.tool_choice)
    if call.parallel_tool_calls is not None:
        body["parallel_tool_calls"] = call.parallel_tool_calls
    if call.output is not None:
        body["text"] = {"format": {"type": "json_schema", **write_output(call.output, OPENAI, warnings)}}
    if isinstance(call.thinking, int):
        warnings.append(unsupported("thinking", call.thinking, "a thinking budget in tokens"))
    elif call.thinking is not None:
        body["reasoning"] = {"effort": "none" if call.thinking == "off" else call.thinking}
    WARNINGS.options(call, ("modalities",), warnings)
    if call.stream:
        body["stream"] = True
    if options.get("background") is not True:
        body["store"] = False
    include = default_include(encrypted_reasoning, logprobs=call.sampling.top_logprobs is not None)
    if include:
        body["include"] = include
    add_options(body, options, provider, encrypted_reasoning, warnings)
    return body, names


def _input(messages: list[tuple[int, Message]], provider: str) -> Object:
    """Returns the items; an initial system message of one text becomes the instructions."""
    _, first = messages[0]
    instructions = plain_text(first) if first.role == "system" and len(messages) > 1 else None
    if instructions is None:
        return {"input": write_items(messages, provider)}
    return {"instructions": instructions, "input": write_items(messages[1:], provider)}
