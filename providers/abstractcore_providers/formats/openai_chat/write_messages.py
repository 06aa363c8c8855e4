"""Writes messages, with a warning for everything that the format cannot express."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from abstractcore.schema import AudioPart, CallWarning, Message, ModelCall, OpaquePart, Part, TextPart, ToolResult

from ...common.call_options import with_options
from ...common.conversations import SentCallIds, as_content, origin_of, refuse_unanswered_calls
from ...common.reading import Object
from .cache_points import add_cache, append_content
from .call_ids import call_ids
from .content import media_in_result, write_part
from .dialect import ChatDialect
from .reasoning_fields import turns_with_calls
from .vocabulary import WARNINGS, message_fields
from .write_answer import write_answer


def write_messages(call: ModelCall, dialect: ChatDialect, warnings: list[CallWarning]) -> list[Object]:
    """Returns the conversation of `call`; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left.
    """
    refuse_unanswered_calls(call.messages)
    written: list[Object] = []
    ids = call_ids(call.messages, dialect.call_id_size)
    origin = origin_of(dialect.provider, call.model) if dialect.reasoning_field is not None else None
    called = turns_with_calls(call.messages) if dialect.reasoning_with_calls else range(len(call.messages))
    for turn, message in enumerate(call.messages):
        path = f"messages[{turn}]"
        if message.role == "tool":
            for index, part in enumerate(message.parts):
                written.append(_tool_result(part, f"{path}.parts[{index}]", turn, ids, dialect, warnings))
            continue
        if message.role == "assistant":
            body = write_answer(message, f"{path}.parts", dialect, origin if turn in called else None, warnings)
            for written_call in body.get("tool_calls", ()):
                written_call["id"] = ids.of_call(turn, written_call["id"])
        else:
            body = {"role": message.role}
            content = _content(message, f"{path}.parts", dialect, warnings)
            if content:
                body["content"] = content
        if len(body) > 1:
            known = message_fields(message.role, dialect)
            written.append(with_options(body, message, path, dialect.provider, known, warnings))
    if not written:
        raise WARNINGS.nothing_left()
    return written


def _content(message: Message, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Any:
    """Returns the content of a user's or system message."""
    content: list[Object] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        if isinstance(part, OpaquePart):
            warnings.append(WARNINGS.part(part, part_path))
            continue
        block = write_part(part, part_path, dialect.provider, dialect.cache, warnings)
        if isinstance(part, AudioPart):
            WARNINGS.fields(part, part_path, ("transcript", "id"), warnings)
        append_content(content, block, dialect.cache)
    return as_content(content)


def _tool_result(
    part: Part, path: str, turn: int, ids: SentCallIds, dialect: ChatDialect, warnings: list[CallWarning]
) -> Object:
    assert isinstance(part, ToolResult)
    if part.is_error:
        warnings.append(CallWarning("error_flag_left_out", f"{path}.is_error", "results cannot be marked as errors"))
    content: list[Object] = []
    for index, item in enumerate(part.content):
        part_path = f"{path}.content[{index}]"
        if not isinstance(item, TextPart):
            raise media_in_result(item, part.call_id, part_path)
        is_last = index == len(part.content) - 1
        if is_last and item.cache is not None:
            WARNINGS.fields(item, part_path, ("cache",), warnings)
            item = replace(item, cache=None)
        block = write_part(item, part_path, dialect.provider, dialect.cache, warnings)
        if is_last:
            block = add_cache(block, part.cache, path, dialect.cache, warnings)
        append_content(content, block, dialect.cache)
    if not content:
        WARNINGS.fields(part, path, ("cache",), warnings)
    body: Object = {
        "role": "tool",
        "tool_call_id": ids.of_result(turn, part.call_id),
        "content": as_content(content) if content else "",
    }
    return with_options(body, part, path, dialect.provider, message_fields("tool", dialect), warnings)
