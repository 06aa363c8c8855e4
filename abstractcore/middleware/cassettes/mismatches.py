"""The error for a request that is not in the cassette, with the difference to the closest one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff
from itertools import islice
from pathlib import Path

from ...errors import ReplayMismatchError
from ...schema import to_data
from .exchanges import RecordedExchange, RecordedRequest

_MOST_LINES_COMPARED = 2_000
_MOST_LINES_SHOWN = 40
_LINE_WIDTH = 100


def mismatch(request: RecordedRequest, exchanges: Sequence[RecordedExchange], path: Path) -> ReplayMismatchError:
    """Returns the error for a `request` without a match in the unused `exchanges`."""
    what = f"{request.method} {request.path}"
    times = sum(exchange.request.key == request.key for exchange in exchanges)
    if times:
        return ReplayMismatchError(f"{path} has {times} responses to this {what}, and all of them are used.")
    if not exchanges:
        return ReplayMismatchError(f"{path} is empty: it has no response to {what}.")
    asked = _lines(request)
    number, recorded = _nearest(asked, [_lines(exchange.request) for exchange in exchanges])
    difference = unified_diff(recorded, asked, f"line {number} of {path.name}", "this request", n=2, lineterm="")
    shown = list(islice(difference, _MOST_LINES_SHOWN + 1))
    if len(shown) > _MOST_LINES_SHOWN:
        shown[-1] = "..."
    error = ReplayMismatchError(f"{path} has no response to this {what}.")
    # Set afterwards: the difference is longer than text that a message may quote.
    error.message = "\n".join((f"{path} has no response to this {what}. The closest request in it:", *shown))
    error.args = (error.message,)
    return error


def _nearest(asked: Sequence[str], recorded: Sequence[Sequence[str]]) -> tuple[int, Sequence[str]]:
    """Returns the number and the lines of the request that is most similar to `asked`."""
    matcher = SequenceMatcher(None, b=asked, autojunk=False)

    def likeness(lines: Sequence[str]) -> float:
        matcher.set_seq1(lines)
        return matcher.quick_ratio()

    return max(enumerate(recorded, 1), key=lambda numbered: likeness(numbered[1]))


def _lines(request: RecordedRequest) -> list[str]:
    """Returns a request as lines to compare; long ones are split."""
    first = f"{request.method} {request.path}"
    if request.body_base64 is not None:
        return [first, f"{len(request.body_base64)} bytes, SHA-256 {hashlib.sha256(request.body_base64).hexdigest()}"]
    text = json.dumps(to_data(request.body), indent=2, sort_keys=True, ensure_ascii=False)
    pieces = (line[i : i + _LINE_WIDTH] for line in text.split("\n") for i in range(0, len(line), _LINE_WIDTH))
    return [first, *islice(pieces, _MOST_LINES_COMPARED)]
