"""`Replay`: the middleware that replays a cassette.

The error for a request that is not in the cassette, with the difference to the closest one.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff
from itertools import chain, islice
from pathlib import Path

from ...copying import NotCopied
from ...errors import AbstractCoreError, CassetteError, ReplayMismatchError
from ...ports import Answer, Attempt, AttemptNext, BilledResponse
from ...registry.suggestions import similar_path
from ...schema import AttemptRecord, Delta, ModelReply, WireResponse, accumulate, to_data
from ...schema.amounts import counted
from .exchanges import RecordedExchange, RecordedRequest, exchange_in
from .recording import Scrubber

_MOST_LINES_COMPARED = 2_000
_MOST_LINES_SHOWN = 40
_LINE_WIDTH = 100


def mismatch(request: RecordedRequest, exchanges: Sequence[RecordedExchange], path: Path) -> ReplayMismatchError:
    """Returns the error for a `request` without a match in the unused `exchanges`."""
    what = f"{request.method} {request.path}"
    times = sum(exchange.request.key == request.key for exchange in exchanges)
    if times:
        return ReplayMismatchError(f"{path} has {counted(times, 'response')} to this {what}, and all of them are used.")
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


_EMPTY = ModelReply()
"""What older releases recorded as the reply to an operation other than chat. Backends answer with other replies."""


class Replay(NotCopied):
    """Answers from the cassette at `path`. Its LLM sends nothing, so it needs no API key."""

    offline = True
    _holds = "what was replayed so far"
    _instead = "Call replay(path) again, in the other process."

    def __init__(self, path: str | os.PathLike[str], scrubber: Scrubber) -> None:
        self.path = Path(path)
        self._scrubber = scrubber
        self._exchanges = _read(self.path)
        self._waiting: dict[tuple[str, str, str], deque[int]] = defaultdict(deque)
        for index, exchange in enumerate(self._exchanges):
            self._waiting[exchange.request.key].append(index)
        self._lock = threading.Lock()

    @property
    def unused(self) -> Sequence[RecordedExchange]:
        """The exchanges that have not been requested, in recorded order."""
        with self._lock:
            return [self._exchanges[index] for index in sorted(chain.from_iterable(self._waiting.values()))]

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Returns the recorded answer or raises its error; never calls `next`."""
        exchange = self._take(self._scrubber.request(attempt.request))
        record = _attempt_record(attempt, exchange)
        attempt.context.attempts.append(record)
        if exchange.batches is not None:
            stream = _ReplayedStream(exchange.batches, _ending(exchange, self.path), attempt, record.started_at)
            attempt.context.streams.append(stream)
            return stream
        if exchange.error is not None:
            raise exchange.error.to_exception()
        if exchange.reply is not None and (attempt.operation.is_chat or exchange.reply != _EMPTY):
            answer = exchange.reply
        elif attempt.operation.is_chat:
            raise CassetteError(f"{self.path} has the response to another operation: expected a reply.")
        else:
            answer = attempt.read(_response(exchange, self.path))
        context = attempt.context
        billed = BilledResponse(
            answer.usage, answer.model or "", record.started_at, context.terms, pricing=context.pricing
        )
        attempt.context.responses.append(billed)
        return answer

    def _take(self, request: RecordedRequest) -> RecordedExchange:
        with self._lock:
            waiting = self._waiting.get(request.key)
            if waiting:
                return self._exchanges[waiting.popleft()]
        raise mismatch(request, self._exchanges, self.path)


def _read(path: Path) -> list[RecordedExchange]:
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        hint = similar_path(str(path)) or "Record it first: use record(path) instead of replay(path)."
        raise CassetteError(f"{path} cannot be read: {error.strerror or error}", hint=hint) from None
    return [exchange_in(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def _attempt_record(attempt: Attempt, exchange: RecordedExchange) -> AttemptRecord:
    context = attempt.context
    return AttemptRecord(
        number=len(context.attempts) + 1,
        started_at=context.started_at + context.runtime.now() - context.monotonic_start,
        seconds=0.0,
        status=exchange.status,
        request_id=exchange.request_id,
        error=exchange.error.kind if exchange.error is not None and exchange.batches is None else None,
        provider=context.input.provider if context.is_taken_over else None,
        model=context.input.model if context.is_taken_over else None,
    )


def _response(exchange: RecordedExchange, path: Path) -> WireResponse:
    """Returns the recorded response to an operation without a reply."""
    if exchange.response is None:
        raise CassetteError(
            f"{path} has no response to {exchange.request.method} {exchange.request.path}.",
            hint="An older release wrote it: record it again with record(path).",
        )
    headers = {"content-type": "application/json"} if exchange.response.body_base64 is None else {}
    return WireResponse(exchange.status or 200, {**headers, **exchange.response.headers}, exchange.response.content())


def _ending(exchange: RecordedExchange, path: Path) -> AbstractCoreError | None:
    """Returns the error to raise after the last batch."""
    if exchange.error is not None:
        return exchange.error.to_exception()
    if exchange.left:
        return CassetteError(f"the stream in {path} is incomplete: it was closed here when it was recorded.")
    return None


class _ReplayedStream:
    """Yields recorded batches."""

    def __init__(
        self,
        batches: Sequence[Sequence[Delta]],
        ending: AbstractCoreError | None,
        attempt: Attempt,
        started_at: float,
    ) -> None:
        self._batches = deque(batches)
        self._ending = ending
        self._context = attempt.context
        self._started_at = started_at
        self._given: list[Delta] = []

    @property
    def billed(self) -> BilledResponse:
        """The response so far, with the recorded usage."""
        return BilledResponse.of_stream(self._given, self._started_at, self._context.terms)

    async def read(self) -> list[Delta]:
        if self._batches:
            batch = list(self._batches.popleft())
            self._given += batch
            return batch
        if self._ending is not None:
            self._ending.partial = accumulate(self._given)
            raise self._ending
        return []

    async def close(self) -> None:
        self._batches.clear()
        self._ending = None

    def abort(self) -> None:
        """Does nothing: there is no connection."""
