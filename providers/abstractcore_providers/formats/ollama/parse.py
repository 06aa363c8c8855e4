"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

from typing import Any, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import CallWarning, ModelCall, OutputSchema, Parsed, Sampling, WireRequest

from ...common.conversations import WrittenArguments, origin_of
from ...common.function_tools import named_schema, read_function_tool
from ...common.reading import Object, get_flag, get_list, get_object, get_text, read_call
from .encode import context_of
from .read_messages import read_messages
from .vocabulary import ARGUMENTS, PROVIDER, SAMPLING, UNTOUCHED, has_field, has_option, thinking_to_ours


def parse(request: WireRequest, context_size: int | None) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong.

    A context size that the call would get by default is not an option.
    """

    def read(data: Object, warnings: list[CallWarning]) -> ModelCall:
        call = _call(data, WrittenArguments(request.body, ARGUMENTS), warnings)
        return _without_usual_context(call, context_size)

    return read_call(request, PROVIDER, read)


def _call(data: Object, written: WrittenArguments, warnings: list[CallWarning]) -> ModelCall:
    model = get_text(data.get("model"), "model")
    options = get_object(data.get("options") or {}, "options")
    stream = get_flag(data, "stream")
    return ModelCall(
        model=model,
        provider=PROVIDER,
        messages=read_messages(get_list(data, "messages"), written, origin_of(PROVIDER, model), warnings),
        tools=tuple(
            read_function_tool(tool, f"tools[{i}]", warnings) for i, tool in enumerate(get_list(data, "tools"))
        ),
        sampling=_sampling(data, options, warnings),
        output=_output(data.get("format")),
        thinking=thinking_to_ours(data.get("think")),
        stream=True if stream is None else stream,
        provider_options={PROVIDER: _rest(data, options)},
    )


def _rest(data: Object, options: Object) -> Object:
    rest = {name: value for name, value in data.items() if name != "options" and _is_option(name, value)}
    kept = {name: value for name, value in options.items() if value is not None and not has_option(name, value)}
    return rest | {"options": kept} if kept else rest


def _is_option(name: str, value: Any) -> bool:
    if name in UNTOUCHED and value is UNTOUCHED[name]:
        return False
    return value is not None and not has_field(name, value)


def _without_usual_context(call: ModelCall, context_size: int | None) -> ModelCall:
    given = call.provider_options.get(PROVIDER, {})
    options = given.get("options")
    if not isinstance(options, dict) or "num_ctx" not in options:
        return call
    less = {name: value for name, value in options.items() if name != "num_ctx"}
    rest = {name: value for name, value in given.items() if name != "options"}
    plain = call.with_(provider_options={PROVIDER: rest | {"options": less} if less else rest})
    try:
        usual = context_of(plain, context_size)
    except (InvalidInputError, UnsupportedContentError):
        return call
    return plain if options["num_ctx"] == usual else call


def _sampling(data: Object, options: Object, warnings: list[CallWarning]) -> Sampling:
    asked = {name: value for name, value in options.items() if has_option(name, value)}
    if isinstance(asked.get("stop"), str):
        asked["stop"] = (asked["stop"],)
    alternatives = data.get("top_logprobs")
    if get_flag(data, "logprobs"):
        alternatives = 0 if alternatives is None else alternatives
    elif alternatives is not None:
        warnings.append(CallWarning("field_left_out", "top_logprobs", "logprobs is not set", alternatives))
        alternatives = None
    return SAMPLING.read(asked, top_logprobs=alternatives)


def _output(schema: Any) -> OutputSchema | None:
    """Reads the schema of the answer; None for an empty text, or the name of a format."""
    return named_schema(cast(Object, schema), "format") if isinstance(schema, dict) else None
