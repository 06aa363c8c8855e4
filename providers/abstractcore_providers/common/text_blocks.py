"""Blocks of content of which some are plain text: `{"type": "text", "text": ...}` and nothing else."""

from __future__ import annotations

from typing import Any

from .json_reading import Object


def is_plain(block: Object) -> bool:
    """Whether it is text and nothing else."""
    return len(block) == 2 and block["type"] == "text"


def append_block(blocks: list[Object], block: Object) -> None:
    """Put `block` behind `blocks`. Texts, or thoughts, that follow one another and say no more are one."""
    kind = block["type"]
    if blocks and len(block) == 2 and blocks[-1].keys() == block.keys() and isinstance(block.get(kind), str):
        blocks[-1][kind] += block[kind]
    else:
        blocks.append(block)


def as_content(blocks: list[Object]) -> Any:
    """The content of a message: one plain text as a string, anything else as a list."""
    return blocks[0]["text"] if len(blocks) == 1 and is_plain(blocks[0]) else blocks
