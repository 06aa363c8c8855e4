"""Encodes a call as a request, with a warning for everything that the format cannot express.

Writes adjusted parts as content blocks, without loss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TypeAlias
from urllib.parse import quote

from pydantic_core import to_json

from abstractcore import schema
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    Encoded,
    HostedToolCall,
    HostedToolResult,
    Message,
    ModelCall,
    OpaquePart,
    OutputSchema,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    WireRequest,
)

from ...common.call_options import fields_for, options_for, write_sampling
from ...common.conversations import HOLE, SentCallIds, written_with
from ...common.endpoints import JSON_HEADERS
from ...common.json_schemas import BEDROCK
from ...common.reading import Object
from ...common.request_limits import BEDROCK as LIMITS
from ...common.request_limits import within_limits
from ...common.thinking import CacheTimes
from .fit import turns_of
from .media_blocks import write_media
from .model_fields import add_provider_options, check_thinking, fit_thinking, forbid_tools, write_thinking, write_top_k
from .read_blocks import INPUT, write_cache, write_text
from .tools import write_tool_config
from .vocabulary import PROVIDER, SAMPLING, SEPARATOR, WARNINGS, ConverseDialect

IdOf: TypeAlias = Callable[[ToolCall | ToolResult], str]


def _own_id(part: ToolCall | ToolResult) -> str:
    return part.id if isinstance(part, ToolCall) else part.call_id


class BlockWriter:
    """Writes the blocks of one request. Documents are numbered, since a name could be a prompt injection."""

    def __init__(self) -> None:
        self.inputs: list[str] = []
        """The texts for the placeholders of calls' inputs, in order."""
        self._numbers = count(1)

    def blocks(self, parts: Iterable[Part], id_of: IdOf = _own_id) -> list[Object]:
        """Returns the blocks of a message; `id_of` gives the id under which a call or its result is sent."""
        blocks: list[Object] = []
        for part in parts:
            blocks += self._part(part, id_of)
            cache = getattr(part, "cache", None)
            if cache is not None:
                blocks.append(write_cache(cache))
        return blocks

    def _part(self, part: Part, id_of: IdOf) -> list[Object]:
        if isinstance(part, TextPart):
            return write_text(part) if part.citations else [{"text": part.text}]
        if isinstance(part, ToolResult):
            result: Object = {"toolUseId": id_of(part), "content": self._content(part.content)}
            if part.is_error:
                result["status"] = "error"
            return [{"toolResult": {**result, **fields_for(part, PROVIDER)}}]
        if isinstance(part, ReasoningPart):
            return [write_reasoning(part)]
        if isinstance(part, ToolCall):
            self.inputs.append(_input(part))
            return [
                {"toolUse": {"toolUseId": id_of(part), "name": part.name, INPUT: HOLE, **fields_for(part, PROVIDER)}}
            ]
        if isinstance(part, HostedToolCall):
            self.inputs.append(part.arguments_text)
            return [{"toolUse": {"toolUseId": part.id, "name": part.name, INPUT: HOLE, "type": "server_tool_use"}}]
        if isinstance(part, HostedToolResult):
            content = self._content(part.content)
            return [{"toolResult": {"toolUseId": part.call_id, "content": content, **part.provider_metadata}}]
        if isinstance(part, OpaquePart):
            return [{part.kind: part.data}]
        return self._content((part,))

    def _content(self, parts: Iterable[Part]) -> list[Object]:
        blocks: list[Object] = []
        for part in parts:
            if isinstance(part, TextPart):
                blocks.append({"text": part.text})
            elif isinstance(part, MEDIA_PARTS):
                name = f"Document {next(self._numbers)}" if part.type == "document" else ""
                blocks.append(write_media(part, name))
        return blocks


def _input(call: ToolCall) -> str:
    """Returns the JSON text of a call's arguments; for those that are not an object, their text as a string."""
    text = call.arguments_text
    return text if text == call.arguments_json else to_json(text).decode()


def write_reasoning(part: ReasoningPart) -> Object:
    """Returns the block of adjusted reasoning."""
    if part.redacted_data is not None:
        return {"reasoningContent": {"redactedContent": part.redacted_data}}
    text: Object = {"text": part.text}
    if part.signature is not None:
        text["signature"] = part.signature
    return {"reasoningContent": {"reasoningText": text}}


_ID = re.compile("[a-zA-Z0-9_-]{1,64}")
_HIGHEST_TEMPERATURE = 1.0
_UNSUPPORTED = ("parallel_tool_calls", "modalities")


def encode(call: ModelCall, dialect: ConverseDialect) -> Encoded:
    """Returns the request for a lowered call.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for a conversation that starts
    with the assistant, what exceeds a limit, and provider options that duplicate a field of the call.
    """
    warnings: list[CallWarning] = []
    body, inputs, names = request_body(call, dialect, warnings)
    operation = "converse-stream" if call.stream else "converse"
    return Encoded(request_to(call.model, operation, body, inputs), tuple(warnings), names)


def request_to(model: str, operation: str, body: Object, inputs: list[str]) -> WireRequest:
    """Returns the request for an operation on `model`, whose id may be an ARN."""
    return WireRequest(f"/model/{quote(model, safe='')}/{operation}", JSON_HEADERS, written_with(body, INPUT, inputs))


def request_body(
    call: ModelCall, dialect: ConverseDialect, warnings: list[CallWarning]
) -> tuple[Object, list[str], schema.SentNames | None]:
    """Returns the body, the texts for its placeholders, which are the inputs of tool calls, and the names that it has
    in place of the call's.
    """
    call, names = within_limits(call, LIMITS, BEDROCK, PROVIDER, warnings)
    if not dialect.result_status:
        call = _without_status(call, warnings)
    options = dict(options_for(call, PROVIDER, warnings))
    sampling, thinking = call.sampling, fit_thinking(call, dialect, warnings)
    times = CacheTimes()
    tools, forbidden = write_tool_config(call, dialect, times, warnings)
    system, messages = turns_of(call, times, warnings, replays=not (dialect.block_binding and thinking == "off"))
    writer = BlockWriter()
    body: Object = {"messages": _messages(messages, writer, dialect)}
    if system:
        body["system"] = [block for message in system for block in writer.blocks(message.parts)]
    inference = write_sampling(SAMPLING, sampling, warnings, highest_temperature=_HIGHEST_TEMPERATURE)
    if inference:
        body["inferenceConfig"] = inference
    if tools:
        body["toolConfig"] = tools
    if call.output is not None:
        body["outputConfig"] = {"textFormat": _text_format(call.output, warnings)}
    if sampling.top_k is not None:
        write_top_k(sampling.top_k, call.model, dialect, body, warnings)
    if forbidden:
        forbid_tools(body)
    if thinking is not None or dialect.thinks_by_default or options:
        write_thinking(thinking, dialect, body, options, warnings)
    WARNINGS.options(call, _UNSUPPORTED, warnings)
    if options:
        add_provider_options(body, options, dialect)
        check_thinking(thinking, dialect, body)
    return body, writer.inputs, names


def _without_status(call: ModelCall, warnings: list[CallWarning]) -> ModelCall:
    """Returns the call without marks of errors on its tool results, with a warning for each."""
    messages = list(call.messages)
    for turn, message in enumerate(messages):
        failed = [i for i, part in enumerate(message.parts) if isinstance(part, ToolResult) and part.is_error]
        for index in failed:
            reason = "this model refuses the status of a tool result"
            path = f"messages[{turn}].parts[{index}].is_error"
            warnings.append(CallWarning("error_flag_left_out", path, reason, True, False))
        if failed:
            parts = (replace(part, is_error=False) if i in failed else part for i, part in enumerate(message.parts))
            messages[turn] = replace(message, parts=tuple(parts))
    return call.with_(messages=tuple(messages))


def _messages(messages: list[Message], writer: BlockWriter, dialect: ConverseDialect) -> list[Object]:
    """Returns user and assistant messages in turn; tool results are part of the user's."""
    ids = SentCallIds(messages, lambda _, id: _ID.fullmatch(id))
    written: list[Object] = []
    for turn, message in enumerate(messages):
        role = "assistant" if message.role == "assistant" else "user"
        if dialect.results_alone and message.role == "user" and turn and messages[turn - 1].role == "tool":
            written.append(SEPARATOR)
        if not written or written[-1]["role"] != role:
            written.append({"role": role, "content": []})
        written[-1]["content"] += writer.blocks(message.parts, partial(_id, ids, turn))
    return written


def _id(ids: SentCallIds, turn: int, part: ToolCall | ToolResult) -> str:
    return ids.of_call(turn, part.id) if isinstance(part, ToolCall) else ids.of_result(turn, part.call_id)


def _text_format(output: OutputSchema, warnings: list[CallWarning]) -> Object:
    if not output.strict:
        message = "Bedrock always enforces the schema"
        warnings.append(CallWarning("output_strict", "output.strict", message, False, True))
    from ...common.json_schemas.fitting import fit_output

    sent, _ = fit_output(output, BEDROCK, warnings)
    schema: Object = {"schema": to_json(sent).decode(), "name": output.name}
    if output.description is not None:
        schema["description"] = output.description
    return {"type": "json_schema", "structure": {"jsonSchema": schema}}
