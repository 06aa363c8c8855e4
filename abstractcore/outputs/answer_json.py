"""Extracts the JSON value of an answer with other text: a code fence, or sentences before or after it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ..schema.model_json import mended_json

_FENCE = "```"
_BEGINS = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)


def json_in(text: str) -> str | None:
    """Returns the JSON value in `text` as text; None unless there is exactly one.

    It is the only code block of JSON, or, without code blocks, the only object or array in the text. Returns None if
    there are brackets that do not begin JSON, since the answer is then ambiguous.
    """
    blocks = [block for block in map(mended_json, _code_blocks(text)) if block is not None]
    found = blocks or list(_values(text))
    return mended_json(found[0]) if len(found) == 1 else None


def _code_blocks(text: str) -> Iterator[str]:
    """Yields the content of code blocks, fenced by three backticks and an optional language."""
    block: list[str] | None = None
    for line in text.splitlines(keepends=True):
        mark = line.strip()
        if block is None:
            block = [] if mark.startswith(_FENCE) and _FENCE not in mark[len(_FENCE) :] else None
        elif mark == _FENCE:
            yield "".join(block)
            block = None
        else:
            block.append(line)


def _values(text: str) -> Iterator[str]:
    """Yields the objects and arrays in `text`, and an empty text for a bracket that does not begin one."""
    end = 0
    while (begins := _BEGINS.search(text, end)) is not None:
        try:
            _, end = _DECODER.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            # Searching inside it could return a part of an invalid answer.
            yield ""
            return
        yield text[begins.start() : end]
