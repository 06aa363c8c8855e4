"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

from functools import partial

from abstractcore.schema import CallWarning, ModelCall, Parsed, WireRequest

from ...common.conversations import origin_of
from ...common.reading import Object, get_flag, get_group, get_list, get_text, read_call
from .provider_options import AGENT, read_provider_options, read_thinking
from .read_messages import InputReader
from .response_formats import RequestedOutput, read_response_format
from .tools import read_tool_choice, read_tools
from .vocabulary import SAMPLING, as_whole

_WHOLE = frozenset({"max_output_tokens", "seed"})


def parse(request: WireRequest, provider: str) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    read = partial(_call, request.body, provider)
    return read_call(request, provider, read, lambda path: "input" if path == "messages" else path)


def _call(body: bytes, provider: str, data: Object, warnings: list[CallWarning]) -> ModelCall:
    stream = get_flag(data, "stream") or False
    get_flag(data, "background")
    name = "model" if data.get(AGENT) is None else AGENT
    model = get_text(data.get(name), name)
    stored = data.get("previous_interaction_id") is not None
    reader = InputReader(body, provider, origin_of(provider, model), warnings, stored=stored)
    if data.get("system_instruction") is not None:
        reader.read_system(get_text(data["system_instruction"], "system_instruction"), "system_instruction")
    reader.read(data.get("input"))
    functions, hosted = read_tools(get_list(data, "tools"), warnings)
    config = get_group(data, "generation_config")
    get_list(config, "stop_sequences", "generation_config.")
    wanted = read_response_format(data.get("response_format")) or RequestedOutput()
    return ModelCall(
        model=model,
        provider=provider,
        messages=tuple(reader.messages),
        tools=tuple(functions),
        hosted_tools=tuple(hosted),
        tool_choice=read_tool_choice(config.get("tool_choice")),
        sampling=SAMPLING.read({name: as_whole(value) if name in _WHOLE else value for name, value in config.items()}),
        output=wanted.output,
        thinking=read_thinking(config),
        modalities=wanted.modalities,
        stream=stream,
        provider_options={provider: read_provider_options(data)},
    )
