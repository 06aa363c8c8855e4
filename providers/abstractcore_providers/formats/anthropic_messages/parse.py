"""From a client's request to a call (server side). What the schema has no field for becomes a provider option."""

from __future__ import annotations

from abstractcore.schema import CallWarning, ModelCall, Parsed, WireRequest

from ...common.json_reading import Object, as_object
from ...common.openai_words import origin_of
from ...common.reading import get_flag, get_list, get_object, get_text, locating, read_request
from .betas import betas_to_ours
from .dialect import Dialect
from .outputs import has_output, output_to_ours
from .read_messages import MessageReader
from .thinking import Thinking, thinking_to_ours
from .tool_choice import choice_to_ours
from .tools import is_modelled, tools_to_ours
from .vocabulary import CALL_FIELDS, SAMPLING


def parse(request: WireRequest, dialect: Dialect) -> Parsed:
    """The call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    data = read_request(request)
    warnings: list[CallWarning] = []
    model = get_text(data.get("model"), "model")
    reader = MessageReader(dialect.provider, origin_of(dialect.provider, model), request.body, warnings)
    with locating(request, dialect.provider, reader.place_of):
        call = _call(data, request, reader, model, dialect, warnings)
    return Parsed(call, tuple(warnings))


def _call(
    data: Object, request: WireRequest, reader: MessageReader, model: str, dialect: Dialect, warnings: list[CallWarning]
) -> ModelCall:
    definitions = [get_object(value, f"tools[{i}]") for i, value in enumerate(get_list(data, "tools"))]
    tools, hosted = tools_to_ours(definitions, warnings)
    choice, parallel = choice_to_ours(data.get("tool_choice"))
    thinking = thinking_to_ours(data, dialect.off)
    get_list(data, "stop_sequences")
    options = _rest(data, thinking)
    others = [tool for tool in definitions if not is_modelled(tool)]
    betas = betas_to_ours(request.headers, definitions)
    options |= {name: values for name, values in (("tools", others), ("betas", betas)) if values}
    return ModelCall(
        model=model,
        messages=reader.read(data),
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


def _rest(data: Object, said: Thinking) -> Object:
    """What the call has no field for; of thinking it has one if that was `said` in words of ours."""
    rest = {name: value for name, value in data.items() if name not in CALL_FIELDS and name != "tools"}
    if said is not None:
        del rest["thinking"]
    config = as_object(rest.get("output_config"))
    if config:
        ours = {"format"} if has_output(config) else set[str]()
        ours |= {"effort"} if isinstance(said, str) and said != "off" else set()
        rest["output_config"] = {name: value for name, value in config.items() if name not in ours} or None
    return rest
