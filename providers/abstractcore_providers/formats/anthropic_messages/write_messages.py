"""Writes messages, with a warning for everything that the format cannot express."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, ContentPart, ModelCall, OpaquePart, Part, ToolResult

from ...common.call_options import with_options
from ...common.conversations import SentCallIds, as_content, origin_of, refuse_system_only, refuse_unanswered_calls
from ...common.reading import Object
from .block_fields import MESSAGE_FIELDS
from .content import append_block, with_extras, write_content
from .dialect import MessagesDialect
from .read_content import reads_as_opaque
from .system_messages import belong_at_top, write_system
from .tool_searches import unrepeatable_searches
from .vocabulary import WARNINGS
from .write_answer import AnswerWriter
from .writing import RequestState

_LEGAL_ID = re.compile("[a-zA-Z0-9_-]+")


@dataclass(slots=True)
class EncodedConversation:
    """The messages that are sent. `inputs` are the texts for the placeholders of calls' inputs."""

    system: str | list[Object] | None = None
    messages: list[Object] = field(default_factory=list[Object])
    inputs: list[str] = field(default_factory=list[str])


def write_messages(
    call: ModelCall, dialect: MessagesDialect, writing: RequestState, tools: Sequence[Object]
) -> EncodedConversation:
    """Returns the conversation beside the definitions of `tools`; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, `InvalidInputError` without a user or assistant message.
    """
    refuse_system_only(call.messages)
    refuse_unanswered_calls(call.messages)
    top = belong_at_top(call.messages, dialect, writing.warnings)
    written = EncodedConversation(write_system([(i, call.messages[i]) for i in top], writing))
    ids = SentCallIds(call.messages, lambda _, id: _LEGAL_ID.fullmatch(id))
    origin, replays = origin_of(dialect.provider, call.model), not (dialect.block_binding and call.thinking == "off")
    searches = unrepeatable_searches(call.messages, tools)
    answers = AnswerWriter(origin, written.inputs, writing, replays, dialect.assistant_documents, searches)
    for index, message in enumerate(call.messages):
        if index in top:
            continue
        if message.role == "assistant":
            content: Any = answers.write(message.parts, index, ids)
        elif message.role == "tool":
            content = [_result(part, index, i, ids, writing) for i, part in enumerate(message.parts)]
        else:
            content = _content(message.parts, f"messages[{index}].parts", writing)
        if content:
            data: Object = {"role": "user" if message.role == "tool" else message.role, "content": content}
            with_options(data, message, f"messages[{index}]", dialect.provider, MESSAGE_FIELDS, writing.warnings)
            written.messages.append(data)
    if not written.messages:
        raise WARNINGS.nothing_left()
    return written


def _content(parts: Sequence[Part], path: str, writing: RequestState) -> str | list[Object]:
    """Returns a single text as a string, anything else as a list of blocks."""
    blocks: list[Object] = []
    for index, part in enumerate(parts):
        part_path = f"{path}[{index}]"
        if not isinstance(part, OpaquePart):
            append_block(blocks, write_content(cast(ContentPart, part), part_path, writing))
        elif reads_as_opaque(part, writing.provider):
            blocks.append({"type": part.kind, **cast(Object, part.data)})
        else:
            message = "only block types that the schema does not model can be sent as opaque parts"
            writing.warnings.append(CallWarning("part_left_out", part_path, message))
    return as_content(blocks)


def _result(part: Part, turn: int, index: int, ids: SentCallIds, writing: RequestState) -> Object:
    assert isinstance(part, ToolResult)
    path = f"messages[{turn}].parts[{index}]"
    block: Object = {"type": "tool_result", "tool_use_id": ids.of_result(turn, part.call_id)}
    blocks = [_shown_by_tool(item, part, f"{path}.content[{i}]", writing) for i, item in enumerate(part.content)]
    if blocks:
        block["content"] = as_content(blocks)
    if part.is_error:
        block["is_error"] = True
    return with_extras(block, part, path, writing)


def _shown_by_tool(item: ContentPart, result: ToolResult, path: str, writing: RequestState) -> Object:
    try:
        return write_content(item, path, writing)
    except UnsupportedContentError as error:
        raise UnsupportedContentError(f"{error.message} It is in the result of call {result.call_id!r}.") from None
