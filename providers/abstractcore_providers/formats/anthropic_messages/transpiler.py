"""The format's operations in one object; each is a pure function in a module of its own.

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstractcore.ports import Operations
from abstractcore.schema import (
    Encoded,
    ModelCall,
    ModelReply,
    OutputSchema,
    Parsed,
    Rendered,
    WireRequest,
    WireResponse,
)

from ...common.frame_decoder import EventFramer
from ...common.operations import COUNT_TOKENS, count_tokens
from .count import decode_count, encode_count
from .decode import decode
from .dialect import MessagesDialect
from .encode import encode
from .errors import RIGHT_ADDRESS, error_in_body, error_of, render_error

if TYPE_CHECKING:
    from .file_store import AnthropicFileStore
    from .stream_decoder import MessageDecoder
    from .stream_renderer import MessageRenderer

_ANTHROPIC = MessagesDialect()


@dataclass(frozen=True, slots=True)
class AnthropicMessages:
    """`POST /messages` (https://platform.claude.com/docs/en/api/messages)."""

    dialect: MessagesDialect = _ANTHROPIC

    framer = staticmethod(EventFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.dialect)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost."""
        from ...common.json_schemas import ANTHROPIC
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, ANTHROPIC, as_tool=as_tool)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in a `message` object."""
        return decode(response, self.dialect)

    def decoder(self) -> MessageDecoder:
        """Returns a decoder of a message's events."""
        from .stream_decoder import MessageDecoder

        return MessageDecoder(self.dialect)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request, self.dialect)

    def render(self, reply: ModelReply) -> Rendered:
        """Returns a `message` object."""
        from .render import render

        return render(reply, self.dialect)

    def renderer(self) -> MessageRenderer:
        """Returns a renderer of a message's events."""
        from .stream_renderer import MessageRenderer

        return MessageRenderer(self.dialect)

    @property
    def file_store(self) -> AnthropicFileStore:
        """The file store of Anthropic."""
        from .file_store import AnthropicFileStore

        return AnthropicFileStore(self.dialect.headers)

    @property
    def operations(self) -> Operations:
        """Returns the operations: `count_tokens` and `list_models`."""
        from ...common.operations import LIST_MODELS, ModelListing

        # https://platform.claude.com/docs/en/api/models-list
        models = ModelListing(
            "/models", error_in_body, RIGHT_ADDRESS, {"limit": "1000"}, "after_id", headers=self.dialect.headers
        )
        count = count_tokens(lambda call: encode_count(call, self.dialect), decode_count)
        counting: Operations = {COUNT_TOKENS: count}
        return counting if self.dialect.raw_predict else {**counting, LIST_MODELS: models.operation}
