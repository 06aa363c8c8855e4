"""Scripted models: replies written beforehand, through the same pipeline as real ones, for tests and examples.

Their wire format is the schema's own JSON, and their network end is a list.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast, get_args

from abstractcore import errors
from abstractcore.errors import (
    AbstractCoreError,
    ConfigurationError,
    InvalidInputError,
    ProviderError,
    ScriptExhaustedError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.framing import LineFramer
from abstractcore.ports import ModelProfile, Price, ProviderConfig, ProviderServices, ProviderSession
from abstractcore.schema import (
    Delta,
    Encoded,
    ModelCall,
    ModelReply,
    Parsed,
    Rendered,
    ReplyEnd,
    SchemaError,
    TextDelta,
    TextPart,
    Usage,
    WireRequest,
    WireResponse,
    deltas_of,
    from_json,
    to_json,
)

from .endpoints import FixedEndpoint, NoAuth
from .json_reading import as_object, read_answer, text_of

T = TypeVar("T")

Script: TypeAlias = "str | ModelReply | AbstractCoreError | Callable[[ModelCall], Any]"
"""A reply's text, a whole reply, an error to raise, or a function of the call that gives one of these."""

_DELTAS: tuple[type[Delta], ...] = get_args(Delta)


class CanonicalJson:
    """The schema's JSON as a wire format: nothing is lost in it."""

    def encode(self, call: ModelCall) -> Encoded:
        """The call itself."""
        return Encoded(WireRequest("/call", {"content-type": "application/json"}, to_json(call).encode()))

    def decode(self, response: WireResponse) -> ModelReply:
        """The reply itself."""
        return _read(response.body, ModelReply)

    def framer(self) -> LineFramer:
        """One delta a line."""
        return LineFramer()

    def decoder(self) -> CanonicalDecoder:
        """A decoder of lines."""
        return CanonicalDecoder()

    def error(self, response: WireResponse) -> ProviderError:
        """The error that was rendered; scripted errors are raised as they are and never come here."""
        return _read_error(response.body, response.status)

    def parse(self, request: WireRequest) -> Parsed:
        """The call itself."""
        try:
            call = from_json(request.body)
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.path) from None
        if not isinstance(call, ModelCall):
            raise InvalidInputError(f"expected a ModelCall, got a {type(call).__name__}", path="type")
        return Parsed(call)

    def render(self, reply: ModelReply) -> Rendered:
        """The reply itself."""
        return Rendered(to_json(reply).encode())

    def renderer(self) -> CanonicalRenderer:
        """A renderer of lines."""
        return CanonicalRenderer()

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """The class, the message and the time to wait."""
        return WireResponse(500, {"content-type": "application/json"}, _write_error(error))


def _read(data: bytes, kind: type[T] | tuple[type[T], ...]) -> T:
    """The document of this kind; raises `ServerError` for anything else."""
    try:
        document = from_json(data)
    except SchemaError as error:
        raise ServerError(f"the script's answer does not fit the schema: {error}") from None
    if not isinstance(document, kind):
        raise ServerError(f"the script's answer is a {type(document).__name__}")
    return document


def _write_error(error: AbstractCoreError) -> bytes:
    return json.dumps({"error": type(error).__name__, "message": error.message, "wait": error.retry_after}).encode()


def _read_error(data: bytes, status: int | None) -> ProviderError:
    try:
        told = as_object(read_answer(data))
    except ValueError:
        told = {}
    error_class = getattr(errors, text_of(told, "error") or "", None)
    if not isinstance(error_class, type) or not issubclass(error_class, ProviderError):
        error_class = ServerError
    message = text_of(told, "message") or data.decode("utf-8", "replace")
    wait = told.get("wait")
    return error_class(message, status=status, retry_after=wait if isinstance(wait, int | float) else None)


class CanonicalDecoder:
    """Reads deltas from lines."""

    def __init__(self) -> None:
        self._ended = False

    def feed(self, frame: bytes) -> list[Delta]:
        """The delta in one line; raises the error in a line that holds one."""
        if frame.startswith(b'{"error"'):
            raise _read_error(frame, None)
        delta = _read(frame, _DELTAS)
        self._ended = isinstance(delta, ReplyEnd)
        return [delta]

    def finish(self) -> list[Delta]:
        """Nothing; raises `StreamInterruptedError` if the reply did not end."""
        if not self._ended:
            raise StreamInterruptedError("the stream ended before the reply did")
        return []


class CanonicalRenderer:
    """Writes deltas as lines."""

    def feed(self, delta: Delta) -> bytes:
        """One line."""
        return to_json(delta).encode() + b"\n"

    def finish(self) -> bytes:
        """Nothing more."""
        return b""

    def error(self, error: AbstractCoreError) -> bytes:
        """The error as a line."""
        return _write_error(error) + b"\n"


class ScriptedBody:
    """A response whose pieces are known beforehand."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.status = 200
        self.headers: Mapping[str, str] = {}
        self._pieces = list(pieces)

    async def read(self) -> bytes:
        """The next piece."""
        return self._pieces.pop(0) if self._pieces else b""

    async def close(self) -> None:
        """What is left is not read."""
        self._pieces.clear()

    def abort(self) -> None:
        """Nothing can be cut."""


class ScriptedTransport:
    """Gives the replies in order and keeps the calls, in any colour and from any thread."""

    def __init__(self, replies: Sequence[Script]) -> None:
        self.calls: list[ModelCall] = []
        self._replies = list(replies)
        self._lock = threading.Lock()

    async def open(self, request: WireRequest, timeout: float) -> ScriptedBody:
        """The next reply; raises the error that stands in its place, or `ScriptExhaustedError`."""
        call = CanonicalJson().parse(request).call
        with self._lock:
            self.calls.append(call)
            number = len(self.calls)
            if not self._replies:
                raise ScriptExhaustedError(
                    f"the script has {number - 1} replies, and this is call {number}.",
                    hint="Give create_llm('scripted', replies=[...]) one more.",
                )
            script = self._replies.pop(0)
        reply = _reply(script, call)
        if not call.stream:
            return ScriptedBody([CanonicalJson().render(reply).body])
        renderer = CanonicalRenderer()
        return ScriptedBody([renderer.feed(delta) for delta in _in_words(reply)])

    async def close(self) -> None:
        """Nothing is held."""


def _reply(script: Any, call: ModelCall) -> ModelReply:
    if isinstance(script, AbstractCoreError):
        raise script
    if isinstance(script, str):
        words, asked = len(script.split()), sum(len(message.text.split()) for message in call.messages)
        parts = (TextPart(script),) if script else ()
        return ModelReply(parts, "stop", usage=Usage(asked, words), model=call.model, provider="scripted")
    if isinstance(script, ModelReply):
        return script
    if callable(script):
        return _reply(script(call), call)
    raise ConfigurationError(
        f"a script holds texts, replies, errors and functions, not {type(script).__name__}",
    )


def _in_words(reply: ModelReply) -> list[Delta]:
    """The reply's deltas, with text a word at a time."""
    deltas: list[Delta] = []
    for delta in deltas_of(reply):
        if isinstance(delta, TextDelta):
            words = re.findall(r"\s*\S+|\s+$", delta.text)
            deltas += [TextDelta(len(deltas) + i, delta.block, word) for i, word in enumerate(words)]
        else:
            delta.sequence = len(deltas)
            deltas.append(delta)
    return deltas


@dataclass(frozen=True, slots=True)
class ScriptedProvider:
    """`create_llm("scripted", replies=[...])`."""

    name: str = "scripted"
    summary: str = "replies written beforehand, for tests"

    @property
    def options(self) -> Mapping[str, str]:
        """Options of its own."""
        return {"replies": "texts, ModelReply objects, errors to raise, or functions of the call"}

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session that plays the script from its beginning."""
        replies = config.options.get("replies", ())
        if isinstance(replies, str) or not isinstance(replies, Sequence):
            raise ConfigurationError("`replies` is a list.", hint="As in replies=['hello'].")
        transport = ScriptedTransport(cast("Sequence[Script]", replies))
        return ProviderSession(
            model=config.model or "scripted",
            transpiler=CanonicalJson(),
            endpoint=FixedEndpoint.at("scripted://", NoAuth()),
            profile=ModelProfile(price=Price(0.0, 0.0)),
            transport=transport,
            calls=transport.calls,
        )
