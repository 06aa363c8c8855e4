"""Operations on the file stores of providers: what those of several wire formats share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

from abstractcore.ports import FileChunk, FileId, FileUpload, Operation, ProviderFile
from abstractcore.schema import Encoded, Usage, WireRequest, WireResponse

Input = TypeVar("Input", FileChunk, FileId)
Output = TypeVar("Output")
UPLOAD, READ, DELETE = "files.upload", "files.read", "files.delete"
LIFETIME_SECONDS = 48 * 3600
"""How long uploads are kept where the vendor leaves the choice: as long as Google keeps files."""


def upload_operation(
    encode: Callable[[FileChunk], WireRequest],
    decode: Callable[[WireResponse, FileChunk], FileUpload],
    *,
    reads_headers: frozenset[str] = frozenset(),
    may_repeat: bool = True,
) -> Operation[FileChunk, FileUpload]:
    """Returns an operation that uploads a file, or a part of one."""
    operation = _free(UPLOAD, FileChunk, encode, decode)
    return replace(operation, reads_headers=reads_headers, may_repeat=may_repeat)


def read_operation(
    encode: Callable[[FileId], WireRequest], decode: Callable[[WireResponse], ProviderFile]
) -> Operation[FileId, ProviderFile]:
    """Returns the operation that reads the state of a file."""
    return _free(READ, FileId, encode, lambda response, file: decode(response))


def delete_operation(encode: Callable[[FileId], WireRequest]) -> Operation[FileId, None]:
    """Returns the operation that deletes a file."""
    return _free(DELETE, FileId, encode, lambda response, file: None)


def _free(
    name: str,
    input: type[Input],
    encode: Callable[[Input], WireRequest],
    decode: Callable[[WireResponse, Input], Output],
) -> Operation[Input, Output]:
    """Returns an operation on a file store; vendors do not charge for them."""
    return Operation(
        name,
        input,
        lambda given: Encoded(encode(given)),
        decode,
        usage=lambda result: Usage(0, 0),
        is_free=True,
    )


def path_of(collection: str, id: str) -> str:
    """Returns the path of a file."""
    return f"{collection}/{quote(id, safe='')}"


def seconds_between(begin: str | None, end: str | None) -> float | None:
    """Returns the seconds between two times in RFC 3339; None if one is missing or invalid."""
    try:
        return (datetime.fromisoformat(end or "") - datetime.fromisoformat(begin or "")).total_seconds()
    except (ValueError, TypeError):
        return None
