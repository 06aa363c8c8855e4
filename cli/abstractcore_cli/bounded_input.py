"""What is piped, and text files that options name, read up to a size: a device or another program may never end."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO, Final

from abstractcore import InvalidInputError

_MOST_BYTES: Final = 256 << 20
"""As of files that are sent."""
_AT_ONCE: Final = 1 << 20


def read_bytes(stream: BinaryIO, name: str) -> bytes:
    """Returns what a stream has to its end; raises `InvalidInputError` as soon as it has more than 256 MiB."""
    content = bytearray()
    while chunk := stream.read(_AT_ONCE):
        content += chunk
        if len(content) > _MOST_BYTES:
            hint = "Split it into smaller files, or extract the part you need."
            raise InvalidInputError(f"{name} has more than {_MOST_BYTES:,} bytes, the limit.", hint=hint)
    return bytes(content)


def read_text(path: Path) -> str:
    """Returns the text of a file in UTF-8; raises `OSError`, `UnicodeDecodeError`, and what `read_bytes` raises."""
    with path.open("rb") as file:
        text = read_bytes(file, str(path)).decode("utf-8-sig")
    return io.StringIO(text, newline=None).read()  # with "\n" at each end of a line
