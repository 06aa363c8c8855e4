"""The format's operations gathered in one object; each is a pure function in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.framing import ServerSentEventFramer
from abstractcore.schema import Encoded, ModelCall, ModelReply, Parsed, Rendered, WireRequest, WireResponse

from .decode import decode
from .decoder import CohereDecoder
from .encode import encode
from .failures import error_of, render_error
from .parse import parse
from .render import render
from .renderer import CohereRenderer


@dataclass(frozen=True, slots=True)
class CohereChat:
    """`POST /v2/chat` (https://docs.cohere.com/reference/chat).

    `model` is the one that answers, since replies do not name it: reasoning goes back to its own model only.
    """

    model: str | None = None

    def encode(self, call: ModelCall) -> Encoded:
        """The request for `call`."""
        return encode(call)

    def decode(self, response: WireResponse) -> ModelReply:
        """The reply in a whole answer."""
        return decode(response, self.model)

    def framer(self) -> ServerSentEventFramer:
        """Server-sent events."""
        return ServerSentEventFramer()

    def decoder(self) -> CohereDecoder:
        """A decoder of a stream's events."""
        return CohereDecoder(self.model)

    def error(self, response: WireResponse) -> ProviderError:
        """The error in a failed response."""
        return error_of(response)

    def parse(self, request: WireRequest) -> Parsed:
        """The call in a client's request."""
        return parse(request)

    def render(self, reply: ModelReply) -> Rendered:
        """A whole answer."""
        return render(reply)

    def renderer(self) -> CohereRenderer:
        """A renderer of a stream's events."""
        return CohereRenderer()

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """An error's text with its status."""
        return render_error(error)
