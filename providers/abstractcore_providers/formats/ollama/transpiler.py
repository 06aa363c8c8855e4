"""The format's operations gathered in one object; each is a pure function in a module of its own."""

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

    `context_size` is the context to ask for, in tokens; without it a call asks for what it needs (see `context`).
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
        """The request for `call`."""
        return encode(call, self.context_size)

    def parse(self, request: WireRequest) -> Parsed:
        """The call in a client's request."""
        return parse(request, self.context_size)
