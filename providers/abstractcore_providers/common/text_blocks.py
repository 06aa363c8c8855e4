"""Lists of content blocks, some of which are plain text: `{"type": "text", "text": ...}` without other fields."""

from __future__ import annotations

from typing import Any

from .json_reading import Object


def is_plain(block: Object) -> bool:
    """Whether a block is plain text."""
    return len(block) == 2 and block["type"] == "text"


def append_block(blocks: list[Object], block: Object) -> None:
    """Appends `block` to `blocks`. Adjacent plain texts, or thoughts, without other fields are merged."""
    kind = block["type"]
    if blocks and len(block) == 2 and blocks[-1].keys() == block.keys() and isinstance(block.get(kind), str):
        blocks[-1][kind] += block[kind]
    else:
        blocks.append(block)


def as_content(blocks: list[Object]) -> Any:
    """Returns the content of a message: a single plain text as a string, anything else as a list."""
    return blocks[0]["text"] if len(blocks) == 1 and is_plain(blocks[0]) else blocks
