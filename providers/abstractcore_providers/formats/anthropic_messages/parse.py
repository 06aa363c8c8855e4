"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from abstractcore.schema import CallWarning, ModelCall, Parsed, WireRequest

from ...common.conversations import origin_of
from ...common.reading import Object, as_object, get_flag, get_list, get_object, get_text, read_call
from ...common.thinking import Thinking, has_thinking, read_claude_thinking
from .betas import betas_to_ours
from .dialect import MessagesDialect
from .outputs import has_output, output_to_ours
from .raw_predict import VERSION, model_in
from .read_messages import MessagesReader
from .tool_choice import choice_to_ours
from .tools import is_modelled, tools_to_ours
from .vocabulary import CALL_FIELDS, SAMPLING, THINKING_BLOCKS


def parse(request: WireRequest, dialect: MessagesDialect) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    reader = MessagesReader(dialect.provider, request.body)
    model = model_in(request.url) if dialect.raw_predict else None
    read = partial(_call, reader, model, request.headers, dialect)
    return read_call(request, dialect.provider, read, reader.path_in_request)


def _call(
    reader: MessagesReader,
    model: str | None,
    headers: Mapping[str, str],
    dialect: MessagesDialect,
    data: Object,
    warnings: list[CallWarning],
) -> ModelCall:
    model = model or get_text(data.get("model"), "model")
    messages = reader.read(data, origin_of(dialect.provider, model), warnings)
    definitions = [get_object(value, f"tools[{i}]") for i, value in enumerate(get_list(data, "tools"))]
    tools, hosted = tools_to_ours(definitions, dialect.computer_tool, warnings)
    choice, parallel = choice_to_ours(data.get("tool_choice"))
    effort = as_object(data.get("output_config")).get("effort")
    replays = dialect.block_binding and has_thinking(data.get("messages"), THINKING_BLOCKS)
    thinking, rest = read_claude_thinking(data.get("thinking"), effort, replays=replays, settings=dialect)
    get_list(data, "stop_sequences")
    options = _rest(data, thinking, rest)
    if dialect.raw_predict:
        options.pop(VERSION, None)
    others = [tool for tool in definitions if not is_modelled(tool, dialect.computer_tool)]
    betas = betas_to_ours(headers, data)
    options |= {name: values for name, values in (("tools", others), ("betas", betas)) if values}
    return ModelCall(
        model=model,
        messages=messages,
        provider=dialect.provider,
        tools=tuple(tools),
        hosted_tools=tuple(hosted),
        tool_choice=choice,
        parallel_tool_calls=parallel,
        sampling=SAMPLING.read(data),
        output=output_to_ours(data.get("output_config")),
        thinking=thinking,
        stream=get_flag(data, "stream") or False,
        provider_options={dialect.provider: options},
    )


def _rest(data: Object, thinking: Thinking, rest_of_thinking: Any) -> Object:
    """Returns the fields that the call does not have; among them what `thinking` has beside the call's value."""
    rest = {name: value for name, value in data.items() if name not in CALL_FIELDS and name != "tools"}
    if "thinking" in rest:
        rest["thinking"] = rest_of_thinking
    config = as_object(rest.get("output_config"))
    if config:
        ours = {"format"} if has_output(config) else set[str]()
        ours |= {"effort"} if isinstance(thinking, str) and thinking != "off" else set()
        rest["output_config"] = {name: value for name, value in config.items() if name not in ours} or None
    return rest
