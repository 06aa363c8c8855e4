"""`Transpiler`: translates between schema objects and a wire format, in both directions. Does no I/O.

`native_call`: work in native code that the end of the program waits for.

Calls that are cancelled leave a daemon thread behind. One that comes back from C++ after the interpreter has ended
would abort the process (https://docs.python.org/3.11/c-api/init.html#c.PyEval_RestoreThread).
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from .. import schema
from ..errors import AbstractCoreError, MediaError, ProviderError
from ..schema import CallWarning, Encoded, Message, ModelCall, ModelReply, WireRequest, WireResponse


class Framer(Protocol):
    """Splits a byte stream into frames, however the bytes arrive."""

    def accepts(self, start: bytes) -> bool | None:
        """Returns whether a body that begins with `start` is such a stream, rather than a web page or a JSON document.

        None if `start` is too short to decide. `start` is the body from its first byte, with long runs of white space
        shortened. A framer that has been fed may be asked too.
        """
        ...

    def feed(self, data: bytes) -> Sequence[Any]:
        """Returns the frames that `data` completes."""
        ...

    def finish(self) -> Sequence[Any]:
        """Returns the frames that the end of the stream completes; raises `ServerError` for an incomplete one."""
        ...


class StreamDecoder(Protocol):
    """Decodes frames into deltas."""

    @property
    def complete(self) -> bool:
        """Whether the reply is complete: `finish` is called then, and further data is not read."""
        ...

    def feed(self, frame: Any) -> list[schema.Delta]:
        """Returns the deltas of one frame; raises `ProviderError` for an error event."""
        ...

    def finish(self) -> list[schema.Delta]:
        """Returns the deltas at the end of the stream; raises `StreamInterruptedError` if the reply is incomplete."""
        ...


class StreamRenderer(Protocol):
    """Encodes deltas as the bytes of a stream (server side)."""

    def feed(self, delta: schema.Delta) -> bytes:
        """Returns the bytes of a delta, possibly none."""
        ...

    def finish(self) -> bytes:
        """Returns the bytes that end the stream."""
        ...

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the bytes of an error during the stream."""
        ...


class MessageRead(NamedTuple):
    """A decoded message, None if it is empty, and warnings for fields that the schema does not have."""

    message: Message | None
    warnings: tuple[CallWarning, ...]


@runtime_checkable
class MessageReader(Protocol):
    """A wire format whose messages users may pass in `messages`. Transpilers may implement it."""

    def read_message(self, value: object, path: str, model: str) -> MessageRead:
        """Decodes a message, a JSON object of the format, of a conversation with `model`; raises `InvalidInputError`
        with a path that begins with `path`.
        """
        ...


@runtime_checkable
class ChecksOutputSchemas(Protocol):
    """A wire format that can express only a part of JSON Schema. Transpilers may implement it."""

    def inexpressible(self, output: schema.OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of the schema's structure as that of an answer or of a tool, such as keys of any name;
        None if nothing is lost. Raises `InvalidInputError` with the path of an invalid schema.
        """
        ...


class Transpiler(Protocol):
    """One wire format, for clients and servers. Pure functions: no await, client, clock, logger or environment."""

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for a lowered call. Raises `UnsupportedContentError` for content without a field."""
        ...

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply of a successful response; raises `ServerError` for an invalid response."""
        ...

    def framer(self) -> Framer:
        """Returns a framer for one stream."""
        ...

    def decoder(self) -> StreamDecoder:
        """Returns a decoder for one stream."""
        ...

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response with an error status."""
        ...

    def parse(self, request: WireRequest) -> schema.Parsed:
        """Returns the call of a client's request; raises `InvalidInputError` with the path of an invalid value."""
        ...

    def render(self, reply: ModelReply) -> schema.Rendered:
        """Returns the response body for a reply."""
        ...

    def renderer(self) -> StreamRenderer:
        """Returns a renderer for one stream."""
        ...

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """Returns the response for an error."""
        ...


class WireFormat(Protocol):
    """A named wire format, for code that uses one without a provider."""

    @property
    def name(self) -> str:
        """The name in `registry.wire_format(name)`: "openai_chat"."""
        ...

    @property
    def summary(self) -> str:
        """One line of help."""
        ...

    def transpiler(self) -> Transpiler:
        """The transpiler in its vendor's own dialect, imported on first use."""
        ...


_END_SECONDS: Final = 30.0


class NativeCalls:
    """The native calls of a process. A forked child begins without any; no lock could be left locked by a fork."""

    def __init__(self) -> None:
        self._running: dict[threading.Event, tuple[int, Callable[[], object] | None]] = {}
        self._has_ended = False

    @contextmanager
    def running(self, source: str, stop: Callable[[], object] | None = None) -> Generator[None]:
        """Wraps a call. `stop` makes it return early, from another thread; its errors are then those of the end.

        Raises `MediaError`, which names `source`, once the program ends.
        """
        done = threading.Event()
        self._running[done] = os.getpid(), stop
        try:
            self._check(source)
            yield
        except Exception:
            self._check(source)
            raise
        finally:
            del self._running[done]
            done.set()

    def end(self, seconds: float = _END_SECONDS) -> None:
        """Stops all calls that can be stopped, and waits for all for some seconds; later ones fail."""
        self._has_ended = True
        latest = time.monotonic() + seconds
        running = [(done, stop) for done, (process, stop) in tuple(self._running.items()) if process == os.getpid()]
        for _, stop in running:
            if stop is not None:
                stop()
        for done, _ in running:
            done.wait(max(latest - time.monotonic(), 0))

    def _check(self, source: str) -> None:
        if self._has_ended:
            raise MediaError(f"{source} was not processed, since the program ends.", source=source)


_calls = NativeCalls()
atexit.register(_calls.end)
native_call = _calls.running
