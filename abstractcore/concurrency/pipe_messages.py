"""Messages between two processes: bytes with their length before them, and values in bytes without pickling."""

from __future__ import annotations

import json
from typing import IO, Any

from ..errors import AbstractCoreError

_LENGTH_BYTES = 8
_MAX_JSON = 1 << 24
"""Bytes of JSON, which takes up to 32 times as much memory once it is parsed, as tiny lists."""
_FIRST_BYTES, _PIECE_BYTES = 1 << 16, 1 << 20


class InvalidMessageError(AbstractCoreError, ValueError):
    """The other process sent bytes that are not a valid message."""


def read_message(file: IO[bytes], max_bytes: int | None = None) -> bytes | None:
    """Returns the next message; None at the end, also within a message.

    Raises `InvalidMessageError` for one with more than `max_bytes`, before memory is allocated for it.
    """
    head = _read(file, _LENGTH_BYTES)
    if head is None:
        return None
    length = int.from_bytes(head)
    if max_bytes is not None and length > max_bytes:
        raise InvalidMessageError(f"a message of {length:,} bytes, above the limit of {max_bytes:,}")
    return _read(file, length)


def write_message(file: IO[bytes], message: bytes) -> None:
    """Writes a message with its length before it."""
    _write(file, len(message).to_bytes(_LENGTH_BYTES))
    _write(file, message)
    file.flush()


def encoded(value: object) -> bytes:
    """Returns a value of None, booleans, numbers, texts, bytes, lists and tuples as a message."""
    contents: list[bytes] = []

    def size_of(content: object) -> dict[str, int]:
        if not isinstance(content, bytes):
            raise TypeError(f"a {type(content).__name__} cannot be sent to another process")
        contents.append(content)
        return {"bytes": len(content)}

    text = json.dumps(value, default=size_of, ensure_ascii=False).encode(errors="surrogatepass")
    return b"".join((len(text).to_bytes(_LENGTH_BYTES), text, *contents))


def decoded(message: bytes) -> Any:
    """Returns the value of a message, tuples as lists. It may be of an untrusted process: nothing is executed, and what
    is parsed takes up to 0.5 GiB, beside the bytes.

    Raises `InvalidMessageError`, also for more than 16 MiB of anything else than bytes.
    """
    length = int.from_bytes(message[:_LENGTH_BYTES])
    if length > _MAX_JSON:
        raise InvalidMessageError(f"a message with {length:,} bytes of JSON, above the limit of {_MAX_JSON:,}")
    begin = position = _LENGTH_BYTES + length

    def content(size: dict[str, Any]) -> bytes:
        nonlocal position
        start, position = position, position + int(size["bytes"])
        if not begin <= start <= position <= len(message):
            raise InvalidMessageError("a message that is shorter than it says")
        return message[start:position]

    try:
        return json.loads(message[_LENGTH_BYTES:begin], object_hook=content)
    except InvalidMessageError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise InvalidMessageError(f"a message that cannot be read ({type(error).__name__})") from error


def _read(file: IO[bytes], size: int) -> bytes | None:
    """Returns `size` bytes, which a pipe may give in pieces; None if there are fewer."""
    first = file.read(min(size, _FIRST_BYTES))
    if len(first) == size:
        return first
    pieces, left = [first], size - len(first)
    while left and pieces[-1]:
        pieces.append(file.read(min(left, _PIECE_BYTES)))
        left -= len(pieces[-1])
    return None if left else b"".join(pieces)


def _write(file: IO[bytes], content: bytes) -> None:
    """Writes all of `content`, of which a pipe may take a piece at a time."""
    with memoryview(content) as view:
        position = 0
        while position < len(view):
            position += file.write(view[position:])
