"""Operations on the file stores of providers: what those of several wire formats share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

from abstractcore.ports import Operation
from abstractcore.schema import Encoded, Usage, WireRequest, WireResponse

T = TypeVar("T")
UPLOAD, READ, DELETE = "files.upload", "files.read", "files.delete"
LIFETIME_SECONDS = 48 * 3600
"""How long uploads are kept where the vendor leaves the choice: as long as Google keeps files."""


def file_operation(
    name: str,
    request: WireRequest,
    decode: Callable[[WireResponse], T],
    *,
    reads_headers: frozenset[str] = frozenset(),
    may_repeat: bool = True,
) -> Operation[T]:
    """Returns an operation on a file store; vendors do not charge for them."""
    return Operation(
        name,
        lambda call: Encoded(request),
        decode,
        usage=lambda result: Usage(0, 0),
        is_free=True,
        has_input=False,
        reads_headers=reads_headers,
        may_repeat=may_repeat,
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
