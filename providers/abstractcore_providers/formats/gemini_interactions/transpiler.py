"""The format's operations in one object; each is a pure function in a module of its own.

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstractcore.ports import Operations
from abstractcore.schema import (
    EMPTY,
    Encoded,
    JSONObject,
    ModelCall,
    ModelReply,
    OutputSchema,
    Parsed,
    Rendered,
    WireRequest,
    WireResponse,
)

from ...common.frame_decoder import EventFramer
from ...common.operations import RETRIEVE_REPLY, retrieve_reply
from .decode import decode
from .encode import encode
from .errors import RIGHT_ADDRESS, error_in_body, error_of, render_error

if TYPE_CHECKING:
    from ...common.google_files import GoogleFileStore
    from .stream_decoder import InteractionDecoder
    from .stream_renderer import InteractionRenderer


@dataclass(frozen=True, slots=True)
class GeminiInteractions:
    """`POST /interactions` (https://ai.google.dev/api/interactions-api).

    `provider` is the key of `provider_options`, and the provider of stored files and reasoning. Interactions are not
    stored by the provider unless the option `store` is set. `defaults` are options of all calls, such as those of an
    agent.
    """

    provider: str = "google-interactions"
    defaults: JSONObject = EMPTY

    framer = staticmethod(EventFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.provider, self.defaults)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost."""
        from ...common.json_schemas import GEMINI
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, GEMINI, as_tool=as_tool)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in an `Interaction` object."""
        return decode(response, self.provider)

    def decoder(self) -> InteractionDecoder:
        """Returns a decoder of the events of an interaction."""
        from .stream_decoder import InteractionDecoder

        return InteractionDecoder(self.provider)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request, self.provider)

    def render(self, reply: ModelReply) -> Rendered:
        """Returns an `Interaction` object."""
        from .render import render

        return render(reply, self.provider)

    def renderer(self) -> InteractionRenderer:
        """Returns a renderer of the events of an interaction."""
        from .stream_renderer import InteractionRenderer

        return InteractionRenderer(self.provider)

    @property
    def file_store(self) -> GoogleFileStore:
        """The file store of the Gemini API."""
        from ...common.google_files import GoogleFileStore

        return GoogleFileStore()

    @property
    def operations(self) -> Operations:
        """Returns the operations: `retrieve_reply`, `list_models`. The API counts no tokens, and caches by itself."""
        from ...common.operations import LIST_MODELS, ModelListing

        # https://ai.google.dev/api/interactions-api
        retrieve = retrieve_reply("/interactions", "", self.decode)
        # https://ai.google.dev/api/models#method:-models.list
        models = ModelListing("/models", error_in_body, RIGHT_ADDRESS, {"pageSize": "1000"}, "pageToken", "models/")
        return {RETRIEVE_REPLY: retrieve, LIST_MODELS: models.operation}
