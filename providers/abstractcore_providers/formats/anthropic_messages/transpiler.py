"""The format's operations in one object; each is a pure function in a module of its own.

Token counting.

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
from ...common.response_bodies import read_count
from .decode import decode
from .dialect import COUNT_PATH, MessagesDialect, with_version
from .encode import draft, encode
from .errors import RIGHT_ADDRESS, error_in_body, error_of, render_error

if TYPE_CHECKING:
    from .file_store import AnthropicFileStore
    from .stream_decoder import MessageDecoder
    from .stream_renderer import MessageRenderer

PATH = "/messages/count_tokens"
_COUNTED = ("model", "system", "messages", "tools", "tool_choice", "thinking", "output_config")


def encode_count(call: ModelCall, dialect: MessagesDialect) -> Encoded:
    """Returns the request (https://platform.claude.com/docs/en/api/messages-count-tokens), without sampling options.

    Raises as `encode` does.
    """
    drafted = draft(call, dialect)
    drafted.body = {name: drafted.body[name] for name in _COUNTED if name in drafted.body}
    drafted.warnings = [warning for warning in drafted.warnings if not warning.path.startswith("sampling.")]
    if dialect.raw_predict:
        drafted.body = with_version(drafted.body, dialect.version)
    return drafted.written(COUNT_PATH if dialect.raw_predict else PATH)


def decode_count(response: WireResponse) -> int:
    """Returns the number of input tokens; raises `ServerError` for a response without it."""
    return read_count(response, "input_tokens", error_in_body, RIGHT_ADDRESS)


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
