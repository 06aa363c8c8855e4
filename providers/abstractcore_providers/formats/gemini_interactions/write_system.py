"""Writes system messages, which are one text in this format, with a warning for everything else in them."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore.schema import CallWarning, Message, TextPart

from ...common.call_options import name_options_left_out, warn_of_merging
from ...common.delta_writer import BodyWriter
from .vocabulary import WARNINGS

_REASON = "the Interactions format has one text for all system messages"


def write_system(messages: Sequence[Message], writer: BodyWriter) -> str:
    """Returns the system instruction, one text: all system messages, also later ones; empty if there are none."""
    texts: list[str] = []
    indexes: list[int] = []
    for index, message in enumerate(messages):
        if message.role != "system":
            continue
        text = _system_text(message, f"messages[{index}]", writer)
        if text:
            texts.append(text)
            indexes.append(index)
    joined = "\n\n".join(texts)
    if len(indexes) > 1:
        warn_of_merging(indexes, (TextPart(joined),), _REASON, writer.warnings)
    if indexes and any(message.role != "system" for message in messages[: indexes[0]]):
        path, reason = f"messages[{indexes[0]}]", "system messages are sent before the conversation"
        writer.warnings.append(CallWarning("reordered", path, reason, indexes[0], 0))
    return joined


def _system_text(message: Message, path: str, writer: BodyWriter) -> str:
    name_options_left_out(message, path, writer.provider, _REASON, writer.warnings)
    texts: list[str] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}.parts[{index}]"
        if isinstance(part, TextPart):
            WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
            name_options_left_out(part, part_path, writer.provider, _REASON, writer.warnings)
            texts.append(part.text)
        else:
            writer.warnings.append(WARNINGS.part(part, part_path))
    return "".join(texts)
