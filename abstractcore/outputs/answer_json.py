"""The one JSON value in an answer that says more than that: a code fence around it, or a sentence before or after."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_FENCE = "```"
_BEGINS = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()


def json_in(text: str) -> str | None:
    """The text of the JSON value in `text`; None unless there is exactly one.

    That is the only code block that holds JSON, or without one the only object or array among the words. Brackets that
    begin no JSON make it unclear what the answer is: there is none then.
    """
    blocks = [block for block in _code_blocks(text) if _is_json(block)]
    found = blocks or list(_values(text))
    return (found[0] or None) if len(found) == 1 else None


def _code_blocks(text: str) -> Iterator[str]:
    """What stands between lines of three backticks, the first of which may name a language."""
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


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _values(text: str) -> Iterator[str]:
    """The objects and arrays in `text`, and an empty text for a bracket that begins none."""
    end = 0
    while (begins := _BEGINS.search(text, end)) is not None:
        try:
            _, end = _DECODER.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            # Looking further inside would take a piece of a broken answer for the answer.
            yield ""
            return
        yield text[begins.start() : end]
