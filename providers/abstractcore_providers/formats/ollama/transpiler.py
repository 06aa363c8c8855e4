"""The format's operations gathered in one object; each is a pure function in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.framing import LineFramer
from abstractcore.schema import Encoded, ModelCall, ModelReply, Parsed, Rendered, WireRequest, WireResponse

from .decode import decode
from .decoder import OllamaDecoder
from .encode import encode
from .failures import error_of, render_error
from .parse import parse
from .render import render
from .renderer import OllamaRenderer


@dataclass(frozen=True, slots=True)
class OllamaChat:
    """`POST /api/chat` (https://docs.ollama.com/api/chat).

    `context_size` is the context to ask for, in tokens; without it a call asks for what it needs (see `context`).
    """

    context_size: int | None = None

    def encode(self, call: ModelCall) -> Encoded:
        """The request for `call`."""
        return encode(call, self.context_size)

    def decode(self, response: WireResponse) -> ModelReply:
        """The reply in a whole answer."""
        return decode(response)

    def framer(self) -> LineFramer:
        """JSON lines."""
        return LineFramer()

    def decoder(self) -> OllamaDecoder:
        """A decoder of a stream's lines."""
        return OllamaDecoder()

    def error(self, response: WireResponse) -> ProviderError:
        """The error in a failed response."""
        return error_of(response)

    def parse(self, request: WireRequest) -> Parsed:
        """The call in a client's request."""
        return parse(request, self.context_size)

    def render(self, reply: ModelReply) -> Rendered:
        """A whole answer."""
        return render(reply)

    def renderer(self) -> OllamaRenderer:
        """A renderer of a stream's lines."""
        return OllamaRenderer()

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """An error's text with its status."""
        return render_error(error)
