"""`TokenCount` and `text_tokens`: tokens that were counted, and those of a text as an estimate.

Estimates the memory of schema objects: their texts and bytes, each counted once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from operator import index
from typing import Any, Final, Self, cast

from .base_error import SchemaError, shown
from .calls import ModelCall
from .parts import MEDIA_PARTS, Part, TextPart, ToolResult

_WEIGHTS: Final = (
    (26, b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    (64, b"0123456789"),
    (13, b" \t\r\n"),
    (0, bytes(range(0x80, 0xC0))),
    (50, bytes(range(0xC0, 0xE0))),
    (90, bytes(range(0xE0, 0xF0))),
    (200, bytes(range(0xF0, 0x100))),
)
"""Hundredths of a token for each byte of a class. A character of several bytes counts by its first one. They are fitted
to public tokenizers: docs/decisions/0104-token-estimates.md."""
_OF_PUNCTUATION: Final = 40


def _hundredths() -> bytes:
    table = bytearray([_OF_PUNCTUATION]) * 256
    for weight, members in _WEIGHTS:
        for byte in members:
            table[byte] = weight
    return bytes(table)


_HUNDREDTHS: Final = _hundredths()


class TokenCount(int):
    """A number of tokens. With `estimated`, nobody has counted them: the provider has no endpoint that does."""

    estimated: bool

    def __new__(cls, tokens: int, *, estimated: bool = False) -> Self:
        """Returns `tokens` with its source. Raises `SchemaError` for anything but a whole number."""
        try:
            count = super().__new__(cls, index(tokens))
        except TypeError:
            raise SchemaError(f"expected a whole number, got {shown(tokens)}", "tokens") from None
        count.estimated = estimated
        return count

    def __repr__(self) -> str:
        return f"TokenCount({int(self)}, estimated=True)" if self.estimated else f"TokenCount({int(self)})"

    def __str__(self) -> str:
        return str(int(self))

    def __getnewargs_ex__(self) -> tuple[tuple[int], dict[str, bool]]:
        return (int(self),), {"estimated": self.estimated}


def text_tokens(text: str) -> int:
    """Returns about how many tokens a text has, whatever the model. Pure, and linear in the length of the text.

    A longer text never has fewer. Of prose, code and JSON, it differs from real counts by less than a quarter as a
    rule: docs/decisions/0104-token-estimates.md has what was measured.
    """
    return -(-sum(text.encode("utf-8", "surrogatepass").translate(_HUNDREDTHS)) // 100)


def size_tokens(size: int) -> int:
    """Returns about how many tokens a text of so many bytes has, which nobody has read."""
    return -(-size * _WEIGHTS[0][0] // 100)


_OBJECT_BYTES = 64
"""The estimated overhead of an object."""


def size_of(value: object) -> int:
    """Returns the estimated bytes of `value` and everything in it; an object that it holds twice counts once."""
    size, seen, rest = 0, set[int](), [value]
    while rest:
        item = rest.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        size += _OBJECT_BYTES
        if isinstance(item, str | bytes):
            size += len(item)
        elif isinstance(item, tuple | list):
            rest += cast("list[object]", item)
        elif isinstance(item, Mapping):
            entries = cast("Mapping[object, object]", item)
            rest += entries
            rest += entries.values()
        else:
            rest += [getattr(item, name) for name in _names(type(item))]
    return size


@cache
def _names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()


def content_size(call: ModelCall) -> int:
    """Returns the bytes of the texts and files in a call's messages: much faster than `size_of` of the call."""
    return sum(_part_size(part) for message in call.messages for part in message.parts)


def _part_size(part: Part) -> int:
    if isinstance(part, TextPart):
        return len(part.text)
    if isinstance(part, ToolResult):
        return sum(map(_part_size, part.content))
    if isinstance(part, MEDIA_PARTS):
        return len(part.blob.data or b"")
    return size_of(part)
