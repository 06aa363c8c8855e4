"""`ResponseReader`: reads the body of a response, and decodes it.

The first bytes decide whether the body of a successful response is a stream of frames or one document, since content
types are often wrong; the content type decides if they are ambiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..concurrency.time_limits import remaining
from ..errors import AbstractCoreError, ConnectionFailedError, ProviderError, ServerError, UnexpectedResponseError
from ..ports import (
    Answer,
    Attempt,
    BilledResponse,
    Body,
    CallContext,
    Framer,
    ModelProfile,
    OperationResult,
    Pricing,
    ProviderSession,
    StreamDecoder,
    Transpiler,
)
from ..schema import ModelReply, Usage, WireRequest, WireResponse
from ..schema.base_error import shown
from ..schema.replies import with_unique_ids
from ..schema.wire import unexpected_encoding
from ..scrubbing import shown_url
from .endings import with_origin

if TYPE_CHECKING:
    from ..schema import Delta

MAX_BODY_BYTES = 256 * 1024 * 1024
"""The maximum size of a reply, so that a faulty server cannot fill the memory."""
_STREAM_TYPES = frozenset(
    {
        "application/jsonl",
        "application/vnd.amazon.eventstream",
        "application/x-ndjson",
        "text/event-stream",
    }
)
_OF_DOCUMENTS = (b"{", b"[", b"<")
"""The first bytes of JSON and web pages, which streams of other types never begin with."""
_MOST_BLANKS = 16
"""How much of a run of white space is passed to a framer again: all of it would take quadratic time."""


async def read_start(body: Body, framer: Framer, context: CallContext) -> tuple[bytes, bool]:
    """Returns the first bytes of `body`, as many as are needed to detect a stream, and whether it is one.

    Raises as `Body.read` does, and `RequestTimeoutError` past the deadline.
    """
    pieces: list[bytes] = []
    size = 0
    start = b""
    while (accepted := framer.accepts(start)) is None:
        piece = await body.read()
        remaining(context)
        if not piece:
            return b"".join(pieces), False
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BODY_BYTES:
            raise ServerError(f"the reply is longer than {MAX_BODY_BYTES:,} bytes")
        start = start[: len(start.rstrip()) + _MOST_BLANKS] + piece
    return b"".join(pieces), accepted or (_is_labelled(body) and not start.lstrip().startswith(_OF_DOCUMENTS))


def decode_whole(transpiler: Transpiler, response: WireResponse, request: WireRequest) -> ModelReply:
    """Returns the reply of a complete body, which may be a stream though none was requested.

    Raises as `Transpiler.decode` does; an `UnexpectedResponseError` names the request.
    """
    try:
        return transpiler.decode(response)
    except ServerError as error:
        framer = transpiler.framer()
        if framer.accepts(response.body):
            frames = [*framer.feed(response.body), *framer.finish()]
            if len(frames) > 1 or not response.body.lstrip().startswith(_OF_DOCUMENTS):
                return _added_up(transpiler.decoder(), frames)
        if isinstance(error, UnexpectedResponseError):
            name_request(error, request)
        raise


def name_request(error: UnexpectedResponseError, request: WireRequest) -> None:
    """Adds the request to the message of `error`, without secrets in its URL."""
    error.url = shown_url(request.url)
    error.message += f", in answer to {request.method} {error.url}"


def _added_up(decoder: StreamDecoder, frames: Sequence[Any]) -> ModelReply:
    from ..schema import accumulate, partial_reply

    deltas: list[Delta] = []
    try:
        for frame in frames:
            deltas += decoder.feed(frame)
            if decoder.complete:
                break
        deltas += decoder.finish()
    except AbstractCoreError as error:
        error.partial = partial_reply(deltas)
        raise
    return accumulate(deltas)


def _is_labelled(body: Body) -> bool:
    """Returns whether the content type is that of a stream."""
    return body.headers.get("content-type", "").partition(";")[0].strip().lower() in _STREAM_TYPES


class ResponseReader:
    """Reads the responses of one provider: replies, streams of them, and results of other operations."""

    def __init__(self, session: ProviderSession, pricing: Pricing) -> None:
        self._session = session
        self._pricing = pricing

    async def __call__(self, body: Body, attempt: Attempt, request: WireRequest, started_at: float) -> Answer:
        """Returns the reply in `body`, or a stream of it with its first deltas read.

        An alarm closes the connection at the deadline, since sync code cannot be interrupted while it reads. A stream
        has its own alarm from then on.
        """
        context = attempt.context
        left = remaining(context)
        alarm_off = None if left is None else context.runtime.alarm(left, body.abort)
        try:
            start = b""
            if attempt.operation.is_chat and context.call.stream and 200 <= body.status < 300:
                framer = self._session.transpiler.framer()
                start, is_stream = await read_start(body, framer, context)
                if is_stream:
                    from .decoding import DecodedStream

                    stream = DecodedStream(body, self._session, attempt, framer, start, started_at, self._pricing)
                    await stream.begin()
                    context.streams.append(stream)
                    return stream
            response = WireResponse(body.status, body.headers, await whole_content(body, context, start))
            answer = self._decode(attempt, response, request)
            context.responses.append(self._billed(answer, attempt, started_at))
            if not isinstance(answer, ModelReply):
                return answer
            return with_unique_ids(with_origin(answer, context.call), context.call)
        except ConnectionFailedError:
            remaining(context)
            raise
        finally:
            if alarm_off is not None:
                alarm_off()

    def _billed(self, answer: ModelReply | OperationResult[Any], attempt: Attempt, started_at: float) -> BilledResponse:
        estimate: Callable[[], Usage] | None = None
        # What is made in the background is charged when the finished reply is read.
        if answer.usage.input is None and isinstance(answer, ModelReply) and answer.finish_reason != "paused":
            estimate = partial(_usage_of_reply, attempt, self._session.profile, answer)
        number = len(attempt.context.attempts) + 1
        terms, pricing = attempt.context.terms, attempt.context.pricing or self._pricing
        return BilledResponse(answer.usage, answer.model or "", started_at, terms, True, number, estimate, pricing)

    def _decode(
        self, attempt: Attempt, response: WireResponse, request: WireRequest
    ) -> ModelReply | OperationResult[Any]:
        """Returns the reply or result of a complete response; raises the error that it reports."""
        transpiler = self._session.transpiler
        if not 200 <= response.status < 300:
            raise _with_encoding(transpiler.error(response), response)
        if attempt.operation.is_chat:
            return decode_whole(transpiler, response, request)
        try:
            return attempt.read(response)
        except UnexpectedResponseError as error:
            name_request(error, request)
            raise


def _usage_of_reply(attempt: Attempt, profile: ModelProfile, reply: ModelReply) -> Usage:
    from .estimated_usage import usage_of_reply

    return usage_of_reply(attempt, profile, reply)


def _with_encoding(error: ProviderError, response: WireResponse) -> ProviderError:
    """Adds the reason to `error` if the transport did not read the body."""
    encoding = unexpected_encoding(response.headers)
    if encoding is not None and not response.body:
        error.message += f"; its body was not read: unexpected Content-Encoding {shown(encoding)}"
    return error


async def whole_content(body: Body, context: CallContext, start: bytes = b"") -> bytes:
    """Returns all of `body`, of which `start` has been read.

    Raises `RequestTimeoutError` past the deadline and `ServerError` past `MAX_BODY_BYTES`.
    """
    pieces = [start]
    size = len(start)
    while piece := await body.read():
        pieces.append(piece)
        size += len(piece)
        remaining(context)
        if size > MAX_BODY_BYTES:
            raise ServerError(f"the reply is longer than {MAX_BODY_BYTES:,} bytes")
    return b"".join(pieces)
