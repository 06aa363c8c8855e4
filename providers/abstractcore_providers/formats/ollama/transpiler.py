"""The format's operations in one object; each is a pure function in a module of its own.

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstractcore.framing import LineFramer
from abstractcore.ports import Operations
from abstractcore.schema import Encoded, ModelCall, ModelReply, OutputSchema, Parsed, Rendered, WireRequest

from .decode import decode
from .encode import encode
from .errors import RIGHT_ADDRESS, error_in_body, error_of, render_error

if TYPE_CHECKING:
    from abstractcore.ports import ServedOperation

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
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    @property
    def most_alternatives(self) -> int:
        """The highest `top_logprobs`: the server refuses more (server/routes.go in its repository)."""
        return 20

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.context_size)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost."""
        from ...common.json_schemas import OLLAMA
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, OLLAMA, as_tool=as_tool)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request, self.context_size)

    def decoder(self) -> OllamaDecoder:
        """Returns a decoder of a stream's lines."""
        from .stream_decoder import OllamaDecoder

        return OllamaDecoder()

    def render(self, reply: ModelReply) -> Rendered:
        """Returns the reply as a complete response."""
        from .render import render

        return render(reply)

    def renderer(self) -> OllamaRenderer:
        """Returns a renderer of a stream."""
        from .stream_renderer import OllamaRenderer

        return OllamaRenderer()

    @property
    def operations(self) -> Operations:
        """Returns the operations: `list_models` (https://docs.ollama.com/api/tags), and `embed`."""
        from ...common.operations import LIST_MODELS, ModelListing
        from .embeddings import OPERATIONS

        return {LIST_MODELS: ModelListing("/api/tags", error_in_body, RIGHT_ADDRESS).operation, **OPERATIONS}

    @property
    def served_operations(self) -> Mapping[str, ServedOperation[Any, Any]]:
        """Returns the server side of `embed`."""
        from .served_embeddings import SERVED

        return SERVED
