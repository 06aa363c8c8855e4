"""Characters that a server cut in two, in the texts of a chunk: the next chunk may hold the other half."""

from __future__ import annotations

import re
from typing import Any

from ..json_reading import as_object, as_objects, mended, read_answer

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def read_chunk(data: bytes) -> Any:
    """The JSON of a chunk, with halves of characters in the texts of its parts alone; raises `ValueError`."""
    value = read_answer(data, halves=True)
    if not _HALF.search(data):
        return value
    whole = mended(value)
    for mended_part, part in zip(_parts(whole), _parts(value), strict=True):
        if isinstance(part.get("text"), str):
            mended_part["text"] = part["text"]
    return whole


def _parts(value: Any) -> list[dict[str, Any]]:
    chunks = as_objects(value if isinstance(value, list) else [value])
    candidates = [candidate for chunk in chunks for candidate in as_objects(chunk.get("candidates"))]
    return [part for candidate in candidates for part in as_objects(as_object(candidate.get("content")).get("parts"))]
