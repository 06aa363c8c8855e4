"""Writes messages, with a warning for everything that the format cannot express.

Earlier assistant messages, in their order, with the provider's own parts unchanged. System messages: the format has
one system prompt before the conversation; some models also accept them within it.

The system prompt is a list of texts, each of which is a message or continues one: texts of one message are separate
where there is a cache point between them, or one of them has provider options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    CallWarning,
    ContentPart,
    Message,
    ModelCall,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import name_options_left_out, with_options
from ...common.conversations import (
    HOLE,
    SentCallIds,
    as_content,
    origin_of,
    refuse_system_only,
    refuse_unanswered_calls,
)
from ...common.reading import Object, as_object
from ...common.thinking import NOT_REPLAYED
from .blocks import LEFT_OUT, cited_blocks, input_text, is_search_among, own_citation, unrepeatable_searches, write_own
from .content import (
    BLOCK_FIELDS,
    MESSAGE_FIELDS,
    RequestState,
    append_block,
    reads_as_opaque,
    with_cache,
    with_extras,
    write_content,
)
from .dialect import MessagesDialect
from .vocabulary import WARNINGS

BLANK_TEXT = "an assistant message of only whitespace is refused"
"""Whitespace that models write before a tool call. The API's error: `text content blocks must contain non-whitespace
text`.
"""


_NO_DOCUMENTS = "this version of the API accepts no document in an assistant message"


@dataclass(slots=True)
class AnswerWriter:
    """Writes the assistant's messages of one call. `inputs` collects the texts for their placeholders.

    Reasoning is that of the model `origin`, and sent back if `replays`; documents are if `documents`.
    """

    origin: str | None
    inputs: list[str]
    writing: RequestState
    replays: bool = True
    documents: bool = True
    searches_left_out: frozenset[str] = frozenset()
    """The ids of tool searches that the request cannot repeat."""

    def write(self, parts: Sequence[Part], turn: int, ids: SentCallIds) -> list[Object]:
        """Returns the blocks of message `turn`."""
        blocks: list[Object] = []
        has_text = any(isinstance(part, TextPart) and not part.text.isspace() for part in parts)
        for index, part in enumerate(parts):
            path = f"messages[{turn}].parts[{index}]"
            if isinstance(part, TextPart) and not has_text:
                self._warn("part_left_out", path, BLANK_TEXT)
            elif isinstance(part, TextPart):
                for block in self._texts(part, path):
                    append_block(blocks, block)
            elif isinstance(part, ReasoningPart):
                blocks += self._reasoning(part, path)
            elif isinstance(part, ToolCall):
                blocks.append(self._call(part, path, ids.of_call(turn, part.id)))
            elif isinstance(part, OpaquePart) and part.kind == "document" and not self.documents:
                self._warn("part_left_out", path, _NO_DOCUMENTS)
            elif self.searches_left_out and is_search_among(part, self.searches_left_out):
                self._warn("part_left_out", path, LEFT_OUT)
            else:
                blocks += write_own(part, path, self.writing.provider, self.inputs, self.writing.warnings)
        return blocks

    def _warn(self, code: str, path: str, message: str) -> None:
        self.writing.warnings.append(CallWarning(code, path, message))

    def _texts(self, part: TextPart, path: str) -> list[Object]:
        blocks = cited_blocks(part, path, own_citation, self.writing.warnings)
        if len(blocks) == 1:
            with_extras(blocks[0], part, path, self.writing)
        else:
            with_cache(blocks[-1], part, path, self.writing)
            message = "citations of spans of a text make several blocks of it"
            name_options_left_out(part, path, self.writing.provider, message, self.writing.warnings)
        return blocks

    def _reasoning(self, part: ReasoningPart, path: str) -> list[Object]:
        if part.origin != self.origin:
            self._warn("reasoning_left_out", path, f"it is the reasoning of {part.origin or 'an unknown model'}")
        elif part.is_plain:
            self._warn("reasoning_left_out", path, "reasoning is accepted only with its signature")
        elif not self.replays:
            self._warn("reasoning_left_out", path, NOT_REPLAYED)
        else:
            redacted = part.redacted_data is not None and not (part.text and part.signature)
            return [thinking_block(part, redacted, path, self.writing.warnings)]
        return []

    def _call(self, part: ToolCall, path: str, id: str) -> Object:
        WARNINGS.fields(part, path, ("signature",), self.writing.warnings)
        self.inputs.append(self._arguments(part, path))
        block: Object = {"type": "tool_use", "id": id, "name": part.name, "input": HOLE}
        return with_extras(block, part, path, self.writing)

    def _arguments(self, part: ToolCall, path: str) -> str:
        """Returns the arguments' original text, if it is that of an object."""
        text = input_text(part)
        if text != part.arguments_text:
            message = "arguments are sent as a JSON object, without text around it"
            self.writing.warnings.append(
                CallWarning("arguments_changed", f"{path}.arguments_text", message, part.arguments_text, text)
            )
        return text


def thinking_block(part: ReasoningPart, redacted: bool, path: str, warnings: list[CallWarning]) -> Object:
    """Returns reasoning as a block, with its text and signature, or else redacted."""
    for name in ("text", "signature") if redacted else ("redacted_data",):
        if getattr(part, name):
            message = "reasoning is either signed text or redacted"
            warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))
    if redacted:
        return {"type": "redacted_thinking", "data": part.redacted_data}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature or ""}


_BEGINS: Object = {"citations": None}
"""An empty option that marks the start of a message where a text could otherwise continue the previous one."""


def belong_at_top(messages: Sequence[Message], dialect: MessagesDialect, warnings: list[CallWarning]) -> list[int]:
    """Returns the indexes of the messages of the system prompt, with a warning for each that is moved there."""
    top: list[int] = []
    leading = True
    for index, message in enumerate(messages):
        if message.role != "system":
            leading = False
        elif leading or not (dialect.system_in_place and _may_stay(messages, index)):
            if not leading:
                text = "the system prompt comes before the conversation"
                warnings.append(CallWarning("reordered", f"messages[{index}]", text, index, len(top)))
            top.append(index)
    return top


def _may_stay(messages: Sequence[Message], index: int) -> bool:
    """Whether a system message directly follows a user message, and precedes an assistant message or the end."""
    after = messages[index + 1].role if index + 1 < len(messages) else "assistant"
    texts = all(isinstance(part, TextPart) for part in messages[index].parts)
    return texts and messages[index - 1].role in ("user", "tool") and after == "assistant"


def write_system(messages: Iterable[tuple[int, Message]], writing: RequestState) -> str | list[Object] | None:
    """Returns the system prompt: a single text as a string, several as a list, and None if there is none."""
    blocks: list[Object] = []
    for index, message in messages:
        texts: list[Object] = []
        why = "it is part of the system prompt"
        name_options_left_out(message, f"messages[{index}]", writing.provider, why, writing.warnings)
        for number, part in enumerate(message.parts):
            path = f"messages[{index}].parts[{number}]"
            if isinstance(part, TextPart):
                append_block(texts, write_content(part, path, writing))
            else:
                writing.warnings.append(CallWarning("part_left_out", path, "system messages support only text"))
        if texts and blocks and _stand_apart(blocks[-1], texts[0]):
            texts[0] |= _BEGINS
        blocks += texts
    return as_content(blocks) or None


def _stand_apart(before: Object, block: Object) -> bool:
    """Whether one message can have these two adjacent texts."""
    return before.get("cache_control") is not None or _has_options(before) or _has_options(block)


def _has_options(block: Object) -> bool:
    return any(value is not None and name not in BLOCK_FIELDS["text"] for name, value in block.items())


def read_system(blocks: Iterable[Any]) -> list[list[Any]]:
    """Returns the blocks of each message in a system prompt that is a list."""
    messages: list[list[Any]] = []
    before: Object | None = None
    for block in blocks:
        fields = as_object(block)
        if before is None or not _stand_apart(before, fields) or fields.items() >= _BEGINS.items():
            messages.append([])
        messages[-1].append(block)
        before = fields
    return messages


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
