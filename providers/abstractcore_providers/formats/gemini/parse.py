"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import unquote

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, ModelCall, Parsed, WireRequest

from ...common.conversations import origin_of
from ...common.reading import Object, get_group, get_list, get_object, read_call
from .dialect import GenerateContentDialect
from .provider_options import read_provider_options
from .read_messages import ConversationReader
from .read_settings import (
    read_functions,
    read_hosted_tools,
    read_modalities,
    read_output,
    read_sampling,
    read_thinking,
    read_tool_choice,
)
from .vocabulary import with_names

_URL = re.compile(
    r"(?>[^?#]*?(?:^|/)(?:publishers/([^/?#]+)/)?(?:models/|(?=tunedModels/|endpoints/)))([^?#]+)"
    r":(generateContent|streamGenerateContent)(?:[?#]|$)"
)


def parse(request: WireRequest, dialect: GenerateContentDialect) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    match = _URL.match(request.url)
    if match is None:
        raise InvalidInputError(f"{request.url!r} does not name a model and an operation", path="url")
    model = unquote(match[2])
    if dialect.publisher and match[1] not in (None, dialect.publisher):
        model = f"{unquote(match[1])}/{model}"
    read = partial(_call, request.body, model, match[3] == "streamGenerateContent", dialect)
    return read_call(request, dialect.provider, read, lambda path: "contents" if path == "messages" else path)


def _call(
    body: bytes, model: str, stream: bool, dialect: GenerateContentDialect, data: Object, warnings: list[CallWarning]
) -> ModelCall:
    data = with_names(data)
    if data.get("model") is not None:
        warnings.append(CallWarning("field_left_out", "model", "the model in the URL is used"))
    reader = ConversationReader(body, dialect.provider, origin_of(dialect.provider, model) or "", warnings)
    if data.get("systemInstruction") is not None:
        reader.read_system(data["systemInstruction"], "systemInstruction")
    for index, content in enumerate(get_list(data, "contents")):
        reader.read(content, f"contents[{index}]")
    config = with_names(get_group(data, "generationConfig"))
    tools = [with_names(get_object(tool, f"tools[{i}]")) for i, tool in enumerate(get_list(data, "tools"))]
    return ModelCall(
        model=model,
        provider=dialect.provider,
        messages=tuple(reader.messages),
        tools=tuple(read_functions(tools, warnings)),
        hosted_tools=tuple(read_hosted_tools(tools, warnings)),
        tool_choice=read_tool_choice(with_names(get_group(data, "toolConfig"))),
        sampling=read_sampling(config),
        output=read_output(config),
        thinking=read_thinking(config),
        modalities=read_modalities(config),
        stream=stream,
        provider_options={dialect.provider: read_provider_options(data, dialect)},
    )
