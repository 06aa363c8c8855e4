"""`ClientDialect`: what differs between the APIs of clients; what a request asks for, and the field `abstractcore`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema import (
    EMPTY,
    CallWarning,
    Delta,
    ModelCall,
    ModelReply,
    Rendered,
    ReplyStart,
    SchemaError,
    WireRequest,
    WireResponse,
)

from ..calls.passthrough import SSE_ENDS
from ..requests import RequestHead, read_object
from .client_tools import ClientToolFunction

EXTENSION = "abstractcore"
"""The field of requests and replies for what a dialect has no words for."""


_CALL_FIELDS = (
    "cache",
    "file_store",
    "media_history",
    "media_policy",
    "output_mode",
    "strict",
    "tags",
    "thinking",
    "tool_format",
    "tool_search",
)
"""Fields of a call that clients may set."""
EXTENSION_FIELDS = (*_CALL_FIELDS, "timeout")
"""Fields of the field `abstractcore`."""


@dataclass(frozen=True, slots=True)
class Extension:
    """The value of the field `abstractcore` of a request. Without the field, replies have none (`is_given`).

    `changes` are fields of the call, `timeout` is in seconds.
    """

    is_given: bool = False
    changes: Mapping[str, Any] | None = None
    timeout: float | None = None

    @classmethod
    def of(cls, value: object) -> Extension:
        """Returns the extension of a request; raises `InvalidInputError` for unknown names, with similar ones."""
        if value is None:
            return _NONE
        if not isinstance(value, Mapping):
            raise InvalidInputError(f"expected an object, got {type(value).__name__}", path=EXTENSION)
        given = cast("Mapping[str, Any]", value)
        for name in given:
            if name not in EXTENSION_FIELDS:
                near = nearest_names(name[:100], EXTENSION_FIELDS)
                hint = did_you_mean(near) if near else f"The names are {', '.join(EXTENSION_FIELDS)}."
                raise InvalidInputError("there is no such field", path=f"{EXTENSION}.{name[:100]}", hint=hint)
        timeout = given.get("timeout")
        if timeout is not None and not (type(timeout) in (int, float) and timeout > 0):
            raise InvalidInputError("expected a number of seconds above 0", path=f"{EXTENSION}.timeout")
        changes = {name: value for name, value in given.items() if name in _CALL_FIELDS and value is not None}
        return cls(True, changes, timeout)

    def apply(self, call: ModelCall) -> ModelCall:
        """Returns the call with its fields changed; raises `InvalidInputError` with the path of an invalid value."""
        if not self.changes:
            return call
        try:
            return call.with_(**self.changes)
        except (SchemaError, TypeError) as error:
            message = error.message if isinstance(error, SchemaError) else str(error)
            path = error.path if isinstance(error, SchemaError) else ""
            raise InvalidInputError(message, path=f"{EXTENSION}.{path}".rstrip(".")) from None


_NONE = Extension()


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A request for an answer, as far as the server reads it itself: `wire` is for the wire format's `parse`.

    `choices` is the number of answers, `extension` the value of the field `abstractcore`. With `is_list`, a stream is
    one JSON list. With `is_changed`, `wire` has another body than the client sent. `own` are fields of the request that
    the answer repeats with a value of the server's.
    """

    model: str
    stream: bool
    wire: WireRequest
    data: Mapping[str, Any] = field(repr=False)
    choices: int = 1
    extension: Any = None
    is_list: bool = False
    is_changed: bool = False
    own: Mapping[str, Any] = EMPTY

    @property
    def may_name_files(self) -> bool:
        """Whether it has the field with the id of a file, somewhere."""
        return b'"file_id"' in self.wire.body


@dataclass(frozen=True, slots=True)
class ReplyStamp:
    """What a reply has that only the server knows: the id of the request, the time in seconds since the epoch, and the
    tokens of the input, or an estimate of them, when a stream begins.
    """

    trace_id: str
    time: float
    input_tokens: int = 0


class ClientDialect:
    """One client API. Its wire format parses and renders; a subclass says where the model's name is, how streams are
    framed, and what errors look like.

    `vendors` are the providers whose models a client of this API names without a provider, the first one first.
    `id_header` is the header that the vendor's client reads the id of a request from; `kept_headers` are those that the
    format reads; `event_ends` may stand after the events of a stream. `own_fields` are fields that the server handles,
    and no provider gets; `needed_fields` those without which a request would mean something else: models that have
    nothing like them refuse them. `state_fields` are about what is stored: the server has it for models whose provider
    has not. `reply_fields` are the fields that its replies have, whole and in events, `model_paths` where they name the
    model, `arguments` how they have the arguments of tool calls: as text, as objects, or as objects that come in pieces
    of text in streams. With `counts_first`, a stream begins with the tokens of the input. `choices_field` is the field
    with the number of answers; with `streams_by_default`, a request without the field `stream` asks for a stream.
    """

    name: ClassVar[str]
    format: ClassVar[str]
    vendors: ClassVar[tuple[str, ...]] = ()
    id_header: ClassVar[str] = "x-request-id"
    id_prefix: ClassVar[str] = ""
    kept_headers: ClassVar[tuple[str, ...]] = ()
    event_ends: ClassVar[tuple[bytes, ...]] = SSE_ENDS
    own_fields: ClassVar[frozenset[str]] = frozenset({EXTENSION})
    needed_fields: ClassVar[frozenset[str]] = frozenset()
    state_fields: ClassVar[frozenset[str]] = frozenset()
    reply_fields: ClassVar[frozenset[str]] = frozenset()
    arguments: ClassVar[Literal["text", "object", "pieces"]] = "text"
    counts_first: ClassVar[bool] = False
    choices_field: ClassVar[str | None] = None
    streams_by_default: ClassVar[bool] = False
    model_paths: ClassVar[tuple[tuple[str, ...], ...]] = (("model",),)

    def read(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns a request as far as the server reads it; raises `InvalidInputError` with the path of a value."""
        return self.client_request(request, body, read_object(body, request.headers))

    def client_request(self, request: RequestHead, body: bytes, data: Mapping[str, Any]) -> ClientRequest:
        """Returns a request whose body is `data` in JSON, as far as the server reads it; raises as `read` does."""
        wire = WireRequest(request.target, self.headers_of(request), body)
        model, stream = text_at(data, "model"), flag_at(data, "stream", self.streams_by_default)
        choices = 1 if self.choices_field is None else count_at(data, self.choices_field)
        return ClientRequest(model, stream, wire, data, choices, data.get(EXTENSION))

    def for_others(self, client_request: ClientRequest) -> tuple[WireRequest, list[CallWarning]]:
        """Returns a request as models of other APIs get it, without what is meant for the API's own vendor alone, with
        a warning for that.
        """
        return client_request.wire, []

    def client_tools(self, definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
        """Returns the functions for a tool of the API's own types that clients run; None for one that its vendor runs.

        Raises `InvalidInputError` for wrong values, and `UnsupportedContentError` for one that clients run and that no
        function can stand for.
        """
        return None

    def read_count(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns a request for a count of tokens, as far as the server reads it."""
        return self.read(request, body)

    def render_count(self, tokens: int) -> bytes:
        """Returns the body of a count of tokens; for APIs that have such a request."""
        raise NotImplementedError

    def headers_of(self, request: RequestHead) -> dict[str, str]:
        """Returns the headers that the wire format reads."""
        return {name: request.headers[name] for name in self.kept_headers if name in request.headers}

    def render(
        self, transpiler: Transpiler, replies: Sequence[ModelReply], client_request: ClientRequest, stamp: ReplyStamp
    ) -> Rendered:
        """Returns the body of a whole answer: one reply for each choice."""
        return transpiler.render(self.with_stamp(replies[0], stamp))

    def with_stamp(self, reply: ModelReply, stamp: ReplyStamp) -> ModelReply:
        """Returns a reply with an id."""
        return reply if reply.id else replace(reply, id=self.new_id(stamp))

    def new_id(self, stamp: ReplyStamp) -> str:
        """Returns the id of a reply whose provider gave it none."""
        return f"{self.id_prefix}{stamp.trace_id}"

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the stream of one choice."""
        return StampedRenderer(transpiler.renderer(), self.new_id(stamp))

    def stream_type(self, client_request: ClientRequest) -> str:
        """Returns the content type of a stream."""
        return "text/event-stream; charset=utf-8"

    def heartbeat(self, client_request: ClientRequest, stamp: ReplyStamp, *, begun: bool) -> bytes:
        """Returns the bytes that keep a quiet stream alive, between its events, or before the first one (not `begun`).

        A comment with one line break: openai 3.54 makes an empty event of one that an empty line follows.
        """
        return b": ping\n"

    def finish(self, renderers: Sequence[StreamRenderer]) -> bytes:
        """Returns the bytes that end the stream of all choices."""
        return renderers[0].finish()

    def failure(self, transpiler: Transpiler, error: AbstractCoreError, status: int | None = None) -> WireResponse:
        """Returns the response for an error, with another status if one is given."""
        response = transpiler.render_error(error)
        return response if status is None else replace(response, status=status)


class StampedRenderer:
    """Writes a stream whose reply has an id."""

    def __init__(self, inner: StreamRenderer, id: str) -> None:
        self._inner = inner
        self._id = id

    def feed(self, delta: Delta) -> bytes:
        """Returns the bytes of a delta."""
        if isinstance(delta, ReplyStart) and not delta.id:
            delta = replace(delta, id=self._id)
        return self._inner.feed(delta)

    def finish(self) -> bytes:
        """Returns the bytes that end the stream."""
        return self._inner.finish()

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the bytes of an error during the stream."""
        return self._inner.error(error)


class ConvertedRenderer:
    """Writes the stream of another API: `convert` changes the bytes of its events, but not those of errors."""

    def __init__(self, inner: StreamRenderer, convert: Callable[[bytes], bytes]) -> None:
        self._inner = inner
        self._convert = convert

    def feed(self, delta: Delta) -> bytes:
        """Returns the bytes of a delta."""
        return self._convert(self._inner.feed(delta))

    def finish(self) -> bytes:
        """Returns the bytes that end the stream."""
        return self._convert(self._inner.finish())

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the bytes of an error during the stream."""
        return self._inner.error(error)


def text_at(data: Mapping[str, Any], name: str) -> str:
    """Returns the text at `name`; raises `InvalidInputError` if there is none."""
    value = data.get(name)
    if isinstance(value, str) and value:
        return value
    if value is None:
        raise InvalidInputError(f"`{name}` is required", path=name)
    got = "an empty text" if value == "" else type(value).__name__
    raise InvalidInputError(f"expected a text, got {got}", path=name)


def flag_at(data: Mapping[str, Any], name: str, default: bool = False) -> bool:
    """Returns the boolean at `name`; raises `InvalidInputError` for any other value."""
    value = data.get(name)
    if value is None:
        return default
    if isinstance(value, bool):
        return value
    raise InvalidInputError(f"expected true or false, got {type(value).__name__}", path=name)


def count_at(data: Mapping[str, Any], name: str, path: str | None = None) -> int:
    """Returns the positive number at `name`, by default 1; raises `InvalidInputError` for any other value."""
    value = data.get(name)
    if value is None:
        return 1
    if type(value) is int and value >= 1:
        return value
    raise InvalidInputError("expected a positive whole number", path=path or name)


def object_at(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns the object at `name`; an empty one for anything else, which the wire format refuses."""
    value = data.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def sum_counts(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Returns the sum of two objects with counts, whatever their depth."""
    return one | {name: _sum(one.get(name), value) for name, value in other.items()}


def _sum(mine: object, value: object) -> object:
    if isinstance(mine, dict) and isinstance(value, dict):
        return sum_counts(cast("dict[str, Any]", mine), cast("dict[str, Any]", value))
    if isinstance(mine, int | float) and isinstance(value, int | float):
        return mine + value
    return value if mine is None else mine  # pyright: ignore[reportUnknownVariableType]
