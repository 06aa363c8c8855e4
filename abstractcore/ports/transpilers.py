"""A wire format: between our data and a provider's bytes, both ways. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..errors import AbstractCoreError, ProviderError
from ..schema import (
    CallWarning,
    Delta,
    Encoded,
    Message,
    ModelCall,
    ModelReply,
    Parsed,
    Rendered,
    WireRequest,
    WireResponse,
)


class Framer(Protocol):
    """Cuts a stream of bytes into frames, however the bytes are split."""

    def accepts(self, start: bytes) -> bool | None:
        """Whether a body that begins with `start` is such a stream, rather than a web page or one JSON document.

        None if `start` is too short to decide. `start` is the body from its first byte, with long runs of white space
        shortened; any framer may be asked.
        """
        ...

    def feed(self, data: bytes) -> Sequence[Any]:
        """The frames that are complete with `data`."""
        ...

    def finish(self) -> Sequence[Any]:
        """The frames that the end of the stream completes; raises `ServerError` if it cuts one in the middle."""
        ...


class StreamDecoder(Protocol):
    """Turns frames into deltas."""

    @property
    def complete(self) -> bool:
        """Whether the stream has said that nothing follows: it is finished then, and what may follow is not read."""
        ...

    def feed(self, frame: Any) -> list[Delta]:
        """The deltas of one frame; raises `ProviderError` for an error event."""
        ...

    def finish(self) -> list[Delta]:
        """The deltas the end of the stream adds; raises `StreamInterruptedError` if the reply is not complete."""
        ...


class StreamRenderer(Protocol):
    """Turns deltas into the bytes of a stream (server side)."""

    def feed(self, delta: Delta) -> bytes:
        """The bytes one delta gives, maybe none."""
        ...

    def finish(self) -> bytes:
        """The bytes that end the stream."""
        ...

    def error(self, error: AbstractCoreError) -> bytes:
        """The bytes of an error in the middle of the stream."""
        ...


class MessageRead(NamedTuple):
    """A message read, None if it says nothing, and what of it has no place in ours."""

    message: Message | None
    warnings: tuple[CallWarning, ...]


@runtime_checkable
class MessageReader(Protocol):
    """A wire format whose single messages users may write in `messages`: a transpiler may be one too."""

    def read_message(self, value: object, path: str, model: str) -> MessageRead:
        """The message in a JSON object of the format, of a conversation with `model`; raises `InvalidInputError` with
        what is wrong, at a path that begins with `path`.
        """
        ...


class Transpiler(Protocol):
    """One wire format, both sides. Pure: no await, client, clock, logger or environment."""

    def encode(self, call: ModelCall) -> Encoded:
        """The request for a lowered call. Raises `UnsupportedContentError` for content the format cannot carry."""
        ...

    def decode(self, response: WireResponse) -> ModelReply:
        """The reply in a successful response; raises `ServerError` for what is not one."""
        ...

    def framer(self) -> Framer:
        """How this format's streams are cut into frames."""
        ...

    def decoder(self) -> StreamDecoder:
        """A decoder for one stream."""
        ...

    def error(self, response: WireResponse) -> ProviderError:
        """The error that a response with a failure status stands for."""
        ...

    def parse(self, request: WireRequest) -> Parsed:
        """The call in a client's request; raises `InvalidInputError` with the path of what is wrong."""
        ...

    def render(self, reply: ModelReply) -> Rendered:
        """The response body for a reply."""
        ...

    def renderer(self) -> StreamRenderer:
        """A renderer for one stream."""
        ...

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """The response that tells a client of an error."""
        ...


class WireFormat(Protocol):
    """A wire format under its name, for those who need one apart from a provider."""

    @property
    def name(self) -> str:
        """As in `registry.wire_format(name)`: "openai_chat"."""
        ...

    @property
    def summary(self) -> str:
        """One line for people."""
        ...

    def transpiler(self) -> Transpiler:
        """The format in its vendor's own dialect, loaded when it is first asked for."""
        ...
