"""The format's operations in one object; each is a pure function in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.framing import ServerSentEventFramer
from abstractcore.schema import ModelReply, WireResponse

from .decode import decode
from .encode import encode
from .errors import error_of, render_error
from .parse import parse
from .render import render
from .stream_decoder import CohereDecoder
from .stream_renderer import CohereRenderer


@dataclass(frozen=True, slots=True)
class CohereChat:
    """`POST /v2/chat` (https://docs.cohere.com/reference/chat).

    `model` is the one that answers, since replies do not name it: reasoning is only sent back to its own model.
    """

    model: str | None = None

    encode = staticmethod(encode)
    framer = staticmethod(ServerSentEventFramer)
    error = staticmethod(error_of)
    parse = staticmethod(parse)
    render = staticmethod(render)
    renderer = staticmethod(CohereRenderer)
    render_error = staticmethod(render_error)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in an unstreamed answer."""
        return decode(response, self.model)

    def decoder(self) -> CohereDecoder:
        """Returns a decoder of a stream's events."""
        return CohereDecoder(self.model)
