"""Detects whether the body of a successful response is a stream of frames or one document.

The first bytes decide, since content types are often wrong; the content type decides if they are ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..concurrency.time_limits import remaining
from ..errors import AbstractCoreError, ServerError, UnexpectedResponseError
from ..ports import Body, CallContext, Framer, StreamDecoder, Transpiler
from ..schema import ModelReply, WireRequest, WireResponse
from ..scrubbing import shown_url

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
