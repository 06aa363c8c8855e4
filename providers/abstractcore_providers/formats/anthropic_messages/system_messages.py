"""System messages: the format has one system prompt before the conversation; some models also accept them within it.

The system prompt is a list of texts, each of which is a message or continues one: texts of one message are separate
where there is a cache point between them, or one of them has provider options.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from abstractcore.schema import CallWarning, Message, TextPart

from ...common.call_options import name_options_left_out
from ...common.conversations import as_content
from ...common.reading import Object, as_object
from .block_fields import BLOCK_FIELDS
from .content import append_block, write_content
from .dialect import MessagesDialect
from .writing import RequestState

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
