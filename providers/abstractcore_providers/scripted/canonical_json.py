"""The schema's own JSON as a lossless wire format."""

from __future__ import annotations

import json
from typing import TypeVar, get_args

from abstractcore import errors
from abstractcore.errors import (
    AbstractCoreError,
    InvalidInputError,
    ProviderError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.framing import LineFramer
from abstractcore.schema import (
    Delta,
    Encoded,
    ModelCall,
    ModelReply,
    Parsed,
    Rendered,
    ReplyEnd,
    SchemaError,
    WireRequest,
    WireResponse,
    from_json,
    to_json,
)
from abstractcore.schema.reprs import with_valid

from ..common.reading import as_object, read_answer, text_of

T = TypeVar("T")
_DELTAS: tuple[type[Delta], ...] = get_args(Delta)
_PARENT = "parent-id"
"""The header of the id of the parent operation."""


class CanonicalJson:
    """A lossless transpiler: the identity. The id of the parent operation, a new one in each run, is in a header, so
    that a recorded call has the same body in a later run.
    """

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the call as JSON."""
        headers = {"content-type": "application/json"}
        if call.parent_id is not None:
            headers[_PARENT] = call.parent_id
            call = with_valid(call, parent_id=None)
        return Encoded(WireRequest("/call", headers, to_json(call).encode()))

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply."""
        return _read(response.body, ModelReply)

    def framer(self) -> LineFramer:
        """Returns a framer with one delta per line."""
        return LineFramer()

    def decoder(self) -> CanonicalDecoder:
        """Returns a decoder of lines."""
        return CanonicalDecoder()

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the rendered error; scripted errors are raised directly, without this method."""
        return _read_error(response.body, response.status)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call."""
        try:
            call = from_json(request.body)
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.path) from None
        if not isinstance(call, ModelCall):
            raise InvalidInputError(f"expected a ModelCall, got a {type(call).__name__}", path="type")
        parent = request.headers.get(_PARENT)
        return Parsed(call if parent is None else call.with_(parent_id=parent))

    def render(self, reply: ModelReply) -> Rendered:
        """Returns the reply as JSON."""
        return Rendered(to_json(reply).encode())

    def renderer(self) -> CanonicalRenderer:
        """Returns a renderer of lines."""
        return CanonicalRenderer()

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """Returns the class, the message and `retry_after` as JSON."""
        return WireResponse(500, {"content-type": "application/json"}, _write_error(error))


def _read(data: bytes, kind: type[T] | tuple[type[T], ...]) -> T:
    """Returns the document of this kind; raises `ServerError` for any other."""
    try:
        document = from_json(data)
    except SchemaError as error:
        raise ServerError(f"the script's answer does not match the schema: {error}") from None
    if not isinstance(document, kind):
        raise ServerError(f"the script's answer has an unexpected type, {type(document).__name__}")
    return document


def _write_error(error: AbstractCoreError) -> bytes:
    return json.dumps({"error": type(error).__name__, "message": error.message, "wait": error.retry_after}).encode()


def _read_error(data: bytes, status: int | None) -> ProviderError:
    try:
        fields = as_object(read_answer(data))
    except ValueError:
        fields = {}
    error_class = getattr(errors, text_of(fields, "error") or "", None)
    if not isinstance(error_class, type) or not issubclass(error_class, ProviderError):
        error_class = ServerError
    message = text_of(fields, "message") or data.decode("utf-8", "replace")
    wait = fields.get("wait")
    return error_class(message, status=status, retry_after=wait if isinstance(wait, int | float) else None)


class CanonicalDecoder:
    """Reads deltas from lines."""

    def __init__(self) -> None:
        self.complete = False

    def feed(self, frame: bytes) -> list[Delta]:
        """Returns the delta of one line; raises the error of an error line."""
        if frame.startswith(b'{"error"'):
            raise _read_error(frame, None)
        delta = _read(frame, _DELTAS)
        self.complete = isinstance(delta, ReplyEnd)
        return [delta]

    def finish(self) -> list[Delta]:
        """Returns an empty list; raises `StreamInterruptedError` if the reply is incomplete."""
        if not self.complete:
            raise StreamInterruptedError("the stream ended before the reply was complete")
        return []


class CanonicalRenderer:
    """Writes deltas as lines."""

    def feed(self, delta: Delta) -> bytes:
        """Returns the delta as a line."""
        return to_json(delta).encode() + b"\n"

    def finish(self) -> bytes:
        """Returns no bytes."""
        return b""

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as a line."""
        return _write_error(error) + b"\n"
