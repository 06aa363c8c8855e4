"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import unquote, urlsplit

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, ModelCall, OutputSchema, Parsed, WireRequest

from ...common.conversations import WrittenArguments, origin_of
from ...common.reading import (
    ErrorsAt,
    Object,
    as_object,
    get_group,
    get_list,
    get_object,
    read_call,
    read_json,
    text_of,
)
from .dialect import ConverseDialect
from .model_fields import OUTPUT, take_forbidden_tools, take_thinking, take_top_k
from .provider_options import is_json_schema, options_left
from .read_blocks import INPUT, BlockReader
from .read_messages import read_messages
from .tools import read_choice, read_tools
from .vocabulary import PROVIDER, SAMPLING

_PATH = re.compile(r"/model/([^/]+)/(converse|converse-stream)$")


def parse(request: WireRequest, dialect: ConverseDialect) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    asked = _PATH.search(urlsplit(request.url).path)
    if asked is None:
        raise InvalidInputError(f"{request.url!r} is not an operation of this format", path="url")
    read = partial(_call, request.body, unquote(asked[1]), asked[2] == "converse-stream", dialect)
    return read_call(request, PROVIDER, read)


def _call(
    body: bytes, model: str, stream: bool, dialect: ConverseDialect, data: Object, warnings: list[CallWarning]
) -> ModelCall:
    reader = BlockReader(WrittenArguments(body, INPUT), origin_of(PROVIDER, model), warnings)
    config = get_group(data, "toolConfig")
    tools, hosted = read_tools(config, warnings)
    return ModelCall(
        model=model,
        provider=PROVIDER,
        messages=read_messages(get_list(data, "system"), get_list(data, "messages"), reader, dialect),
        tools=tools,
        hosted_tools=hosted,
        tool_choice=take_forbidden_tools(data) or read_choice(config),
        sampling=SAMPLING.read(get_group(data, "inferenceConfig"), top_k=take_top_k(dialect, data)),
        output=_output(data),
        thinking=take_thinking(dialect, data),
        stream=stream,
        provider_options={PROVIDER: options_left(data)},
    )


def _output(data: Object) -> OutputSchema | None:
    """Removes the output schema from `data` and returns it."""
    config = as_object(data.get(OUTPUT))
    if not is_json_schema(config.get("textFormat")):
        return None
    path = f"{OUTPUT}.textFormat.structure.jsonSchema"
    wanted = as_object(as_object(config.pop("textFormat")["structure"])["jsonSchema"])
    if not config:
        del data[OUTPUT]
    try:
        schema = get_object(read_json(wanted["schema"].encode()), f"{path}.schema")
        with ErrorsAt(path):
            return OutputSchema(text_of(wanted, "name") or "", schema, text_of(wanted, "description"))
    except InvalidInputError:
        raise
    except ValueError as error:
        raise InvalidInputError(f"is not JSON: {error}", path=f"{path}.schema") from None
