"""The format's operations in one object; each is a pure function in a module of its own.

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstractcore.ports import Operations
from abstractcore.schema import ModelReply, OutputSchema, Parsed, Rendered, WireRequest, WireResponse

from ...common.frame_decoder import EventFramer
from .decode import decode
from .encode import encode
from .errors import RIGHT_ADDRESS, error_in_body, error_of, render_error

if TYPE_CHECKING:
    from abstractcore.ports import ServedOperation

    from .stream_decoder import CohereDecoder
    from .stream_renderer import CohereRenderer


@dataclass(frozen=True, slots=True)
class CohereChat:
    """`POST /v2/chat` (https://docs.cohere.com/reference/chat).

    `model` is the one that answers, since replies do not name it: reasoning is only sent back to its own model.
    """

    model: str | None = None

    encode = staticmethod(encode)
    framer = staticmethod(EventFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost."""
        from ...common.json_schemas import COHERE
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, COHERE, as_tool=as_tool)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in an unstreamed answer."""
        return decode(response, self.model)

    def decoder(self) -> CohereDecoder:
        """Returns a decoder of a stream's events."""
        from .stream_decoder import CohereDecoder

        return CohereDecoder(self.model)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request)

    def render(self, reply: ModelReply) -> Rendered:
        """Returns the reply as a complete response."""
        from .render import render

        return render(reply)

    def renderer(self) -> CohereRenderer:
        """Returns a renderer of a stream."""
        from .stream_renderer import CohereRenderer

        return CohereRenderer()

    @property
    def operations(self) -> Operations:
        """Returns the operations: `list_models` (https://docs.cohere.com/reference/list-models), `embed`, `rerank`."""
        from ...common.operations import LIST_MODELS, ModelListing
        from .embeddings import OPERATIONS

        models = ModelListing("/../v1/models", error_in_body, RIGHT_ADDRESS, {"page_size": "1000"}, "page_token")
        return {LIST_MODELS: models.operation, **OPERATIONS}

    @property
    def served_operations(self) -> Mapping[str, ServedOperation[Any, Any]]:
        """Returns the server sides of `embed` and `rerank`."""
        from .served_embeddings import SERVED

        return SERVED
