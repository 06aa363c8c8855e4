"""The format's operations in one object; each is a pure function in a module of its own.

Token counting: the operation CountTokens.

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstractcore.framing import AwsEventStreamFramer
from abstractcore.ports import Operations
from abstractcore.schema import (
    CallWarning,
    Encoded,
    ModelCall,
    ModelReply,
    OutputSchema,
    Parsed,
    Rendered,
    WireRequest,
    WireResponse,
)

from ...common.operations import COUNT_TOKENS, count_tokens
from ...common.response_bodies import read_count
from .decode import decode
from .encode import encode, request_body, request_to
from .errors import RIGHT_ADDRESS, error_in_body, error_of, render_error
from .model_fields import FIELDS
from .vocabulary import ConverseDialect

if TYPE_CHECKING:
    from .stream_decoder import ConverseDecoder
    from .stream_renderer import ConverseRenderer

_COUNTED = ("messages", "system", "toolConfig", FIELDS)


def encode_count(call: ModelCall, dialect: ConverseDialect) -> Encoded:
    """Returns the request; raises as `encode` does."""
    warnings: list[CallWarning] = []
    body, inputs, _ = request_body(call, dialect, warnings)
    counted = {name: body[name] for name in _COUNTED if name in body}
    request = request_to(call.model, "count-tokens", {"input": {"converse": counted}}, inputs)
    return Encoded(request, tuple(warnings))


def decode_count(response: WireResponse) -> int:
    """Returns the number of tokens; raises `ServerError` for a body without it."""
    return read_count(response, "inputTokens", lambda data: error_in_body(data, response.headers), RIGHT_ADDRESS)


_ANY = ConverseDialect(reads_all=True)


@dataclass(frozen=True, slots=True)
class BedrockConverse:
    """`POST /model/{modelId}/converse` (https://docs.aws.amazon.com/bedrock/latest/APIReference/).

    Replies do not name their model; they get `model` if it is given. `dialect` is how its requests are written.
    """

    model: str | None = None
    dialect: ConverseDialect = _ANY

    framer = staticmethod(AwsEventStreamFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.dialect)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost."""
        from ...common.json_schemas import BEDROCK
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, BEDROCK, as_tool=as_tool)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in the body of a response."""
        return decode(response, self.model)

    def decoder(self) -> ConverseDecoder:
        """Returns a decoder of the messages of a stream."""
        from .stream_decoder import ConverseDecoder

        return ConverseDecoder(self.model)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request, self.dialect)

    def render(self, reply: ModelReply) -> Rendered:
        """Returns the reply as a complete response."""
        from .render import render

        return render(reply)

    def renderer(self) -> ConverseRenderer:
        """Returns a renderer of a stream."""
        from .stream_renderer import ConverseRenderer

        return ConverseRenderer()

    @property
    def operations(self) -> Operations:
        """Returns the operations: `count_tokens`, `embed` and `rerank`."""
        from .embeddings import OPERATIONS

        count = count_tokens(lambda call: encode_count(call, self.dialect), decode_count)
        return {COUNT_TOKENS: count, **OPERATIONS}
