"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads a client's messages (server side).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    Message,
    ModelCall,
    OutputSchema,
    Parsed,
    Part,
    Role,
    SchemaError,
    ToolResult,
    WireRequest,
)

from ...common.conversations import WrittenArguments, origin_of
from ...common.reading import (
    ErrorsAt,
    Object,
    as_object,
    get_group,
    get_list,
    get_object,
    get_role,
    has_content,
    message_left_out,
    name_the_rest,
    read_call,
    read_json,
    text_of,
)
from .fit import is_boundary
from .model_fields import OUTPUT, is_json_schema, options_left, take_forbidden_tools, take_thinking, take_top_k
from .read_blocks import INPUT, BlockReader
from .tools import read_choice, read_tools
from .vocabulary import PROVIDER, SAMPLING, SEPARATOR, ConverseDialect

_FIELDS = frozenset({"role", "content"})
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


def read_messages(
    system: Sequence[Any], values: Iterable[Any], reader: BlockReader, dialect: ConverseDialect
) -> tuple[Message, ...]:
    """Returns the conversation, system messages first; raises `InvalidInputError` with the path of what is wrong.

    Adjacent texts of the system or the user are separate messages, and tool results are a message before them.
    """
    messages = _apart("system", reader.blocks(system, "system", "system"))
    for index, value in enumerate(values):
        if value == SEPARATOR and dialect.results_alone and messages and messages[-1].role == "tool":
            continue
        path = f"messages[{index}]"
        data = get_object(value, path)
        name_the_rest(data, _FIELDS, path, reader.warnings)
        role = get_role(data, _ROLES, path)
        parts = reader.blocks(get_list(data, "content", f"{path}."), f"{path}.content", role)
        try:
            message_group = _messages(role, parts)
        except SchemaError as error:
            raise InvalidInputError(error.message, path=f"{path}.content") from None
        if not message_group:
            reader.warnings.append(message_left_out(path))
        messages += message_group
    return tuple(messages)


def _messages(role: Role, parts: Sequence[Part]) -> list[Message]:
    if role == "assistant":
        kept = [part for part in parts if has_content(part)]
        return [Message(role, tuple(kept))] if kept else []
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    others = [part for part in parts if not isinstance(part, ToolResult)]
    return ([Message("tool", results)] if results else []) + _apart(role, others)


def _apart(role: Role, parts: Iterable[Part]) -> list[Message]:
    groups: list[list[Part]] = []
    for part in parts:
        if not has_content(part):
            continue
        if groups and not is_boundary(groups[-1][-1], part):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [Message(role, tuple(some)) for some in groups]


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
