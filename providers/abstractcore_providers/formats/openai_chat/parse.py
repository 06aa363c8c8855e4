"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, cast

from abstractcore.schema import (
    CallWarning,
    Modality,
    ModelCall,
    OutputSchema,
    Parsed,
    Sampling,
    ThinkingLevel,
    ToolChoice,
    ToolSpec,
    WireRequest,
)

from ...common.conversations import origin_of
from ...common.function_tools import read_function_tool, read_output
from ...common.reading import Object, as_object, get_flag, get_list, get_object, get_text, name_the_rest, read_call
from .cache_points import cache_names, read_cache
from .dialect import ChatDialect
from .json_mode import JSON_MODE, take_instruction
from .other_tools import is_other_choice, is_other_tool, other_tools
from .read_messages import read_messages
from .thinking import read_thinking
from .vocabulary import SAMPLING, has_field, is_schema

_STREAM_OPTIONS = frozenset({"include_usage"})
_JSON_SCHEMA = "response_format.json_schema"


def parse(request: WireRequest, dialect: ChatDialect) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    return read_call(request, dialect.provider, partial(_call, dialect))


def _call(dialect: ChatDialect, data: Object, warnings: list[CallWarning]) -> ModelCall:
    _name_stream_options(data, warnings)
    model = get_text(data.get("model"), "model")
    messages, output = get_list(data, "messages"), _output(data.get("response_format"))
    if output is None and dialect.json_mode_only and data.get("response_format") == JSON_MODE:
        messages, instruction = take_instruction(messages)
        if instruction is not None:
            output = read_output(instruction, _JSON_SCHEMA)
            del data["response_format"]
    return ModelCall(
        model=model,
        provider=dialect.provider,
        messages=read_messages(messages, dialect, origin_of(dialect.provider, model), warnings),
        tools=tuple(
            _tool(tool, f"tools[{i}]", dialect, warnings)
            for i, tool in enumerate(get_list(data, "tools"))
            if not is_other_tool(tool)
        ),
        tool_choice=_tool_choice(data.get("tool_choice")),
        parallel_tool_calls=get_flag(data, "parallel_tool_calls"),
        sampling=_sampling(data, dialect, warnings),
        output=output,
        thinking=_thinking(data, dialect, warnings),
        modalities=cast("tuple[Modality, ...]", tuple(get_list(data, "modalities"))),
        stream=get_flag(data, "stream") or False,
        provider_options={dialect.provider: _rest(data, dialect)},
    )


def _tool(value: Any, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> ToolSpec:
    data = get_object(value, path)
    cache = read_cache(data, path, dialect.cache)
    names = cache_names(dialect.cache)
    known = {name: value for name, value in data.items() if name not in names}
    tool = read_function_tool(known, path, warnings, own_strict=True)
    return tool if cache is None else replace(tool, cache=cache)


def _rest(data: Object, dialect: ChatDialect) -> dict[str, Any]:
    others = other_tools(data.get("tools"))
    given = {**data, "tools": others} if others else data
    return {name: value for name, value in given.items() if value is not None and not has_field(name, value, dialect)}


def _thinking(data: Object, dialect: ChatDialect, warnings: list[CallWarning]) -> ThinkingLevel | int | None:
    found: ThinkingLevel | int | None = None
    for name, value in data.items():
        thinking = read_thinking(name, value, dialect.thinking)
        if found is None:
            found = thinking
        elif thinking is not None:
            warnings.append(CallWarning("field_left_out", name, "another field sets thinking", value))
    return found


def _name_stream_options(data: Object, warnings: list[CallWarning]) -> None:
    """Reads the stream options: usage is always streamed, and others are not supported."""
    name_the_rest(as_object(data.get("stream_options")), _STREAM_OPTIONS, "stream_options", warnings)


def _sampling(data: Object, dialect: ChatDialect, warnings: list[CallWarning]) -> Sampling:
    stop, limit, old_limit = data.get("stop"), data.get("max_completion_tokens"), data.get("max_tokens")
    if limit is not None and old_limit is not None:
        message = "max_completion_tokens is used"
        warnings.append(CallWarning("field_left_out", "max_tokens", message, old_limit, limit))
    alternatives = data.get("logprobs" if dialect.counted_logprobs else "top_logprobs")
    if alternatives is None and get_flag(data, "logprobs"):
        alternatives = 0
    paths = {
        "max_output_tokens": "max_tokens" if limit is None else "max_completion_tokens",
        "seed": dialect.seed_field,
        "top_logprobs": "logprobs" if dialect.counted_logprobs else "top_logprobs",
    }
    return SAMPLING.read(
        data,
        paths,
        seed=data.get(dialect.seed_field),
        max_output_tokens=old_limit if limit is None else limit,
        top_logprobs=alternatives,
        stop=(stop,) if isinstance(stop, str) else tuple(get_list(data, "stop")),
    )


def _tool_choice(data: Any) -> ToolChoice | None:
    if data is None or is_other_choice(data):
        return None
    if data in ("auto", "none", "required"):
        return ToolChoice(data)
    function = get_object(get_object(data, "tool_choice").get("function"), "tool_choice.function")
    return ToolChoice("tool", get_text(function.get("name"), "tool_choice.function.name"))


def _output(data: Any) -> OutputSchema | None:
    return read_output(as_object(data).get("json_schema"), _JSON_SCHEMA) if is_schema(data) else None
