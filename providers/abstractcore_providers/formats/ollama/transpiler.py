"""The format's operations in one object; each is a pure function in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.framing import LineFramer
from abstractcore.schema import Encoded, ModelCall, Parsed, WireRequest

from .decode import decode
from .encode import encode
from .errors import error_of, render_error
from .parse import parse
from .render import render
from .stream_decoder import OllamaDecoder
from .stream_renderer import OllamaRenderer


@dataclass(frozen=True, slots=True)
class OllamaChat:
    """`POST /api/chat` (https://docs.ollama.com/api/chat).

    `context_size` is the context to request, in tokens; without it, a call requests what it needs (see `context`).
    """

    context_size: int | None = None

    decode = staticmethod(decode)
    framer = staticmethod(LineFramer)
    decoder = staticmethod(OllamaDecoder)
    error = staticmethod(error_of)
    render = staticmethod(render)
    renderer = staticmethod(OllamaRenderer)
    render_error = staticmethod(render_error)

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.context_size)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        return parse(request, self.context_size)
