"""Messages between two processes: bytes with their length before them."""

from __future__ import annotations

from typing import IO

_LENGTH_BYTES = 8


def read_message(file: IO[bytes]) -> bytes | None:
    """Returns the next message; None at the end, also within a message."""
    head = file.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head)
    message = file.read(length)
    return message if len(message) == length else None


def write_message(file: IO[bytes], message: bytes) -> None:
    """Writes a message with its length before it."""
    file.write(len(message).to_bytes(_LENGTH_BYTES) + message)
    file.flush()
