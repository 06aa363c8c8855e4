"""The format's operations in one object; each is a pure function in a module of its own.

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstractcore.framing import ServerSentEventFramer
from abstractcore.ports import Operations
from abstractcore.schema import Encoded, ModelCall, ModelReply, Parsed, Rendered, WireRequest, WireResponse

from ...common.openai_errors import RIGHT_ADDRESS, error_in_body, error_of, render_error
from ...common.operations import COUNT_TOKENS, count_tokens
from .count import decode_count, encode_count
from .decode import decode
from .encode import encode

if TYPE_CHECKING:
    from .stream_decoder import ResponsesDecoder
    from .stream_renderer import ResponsesRenderer


@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """`POST /responses` (https://platform.openai.com/docs/api-reference/responses).

    `provider` is the key of `provider_options`, and the provider of stored files and reasoning. With
    `encrypted_reasoning`, a request asks for reasoning that can be sent back.
    """

    provider: str = "openai-responses"
    encrypted_reasoning: bool = True

    framer = staticmethod(ServerSentEventFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.provider, self.encrypted_reasoning)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in a `response` object."""
        return decode(response, self.provider)

    def decoder(self) -> ResponsesDecoder:
        """Returns a decoder of `response.*` events."""
        from .stream_decoder import ResponsesDecoder

        return ResponsesDecoder(self.provider)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request, self.provider, self.encrypted_reasoning)

    def render(self, reply: ModelReply) -> Rendered:
        """Returns a `response` object."""
        from .render import render

        return render(reply, self.provider)

    def renderer(self) -> ResponsesRenderer:
        """Returns a renderer of `response.*` events."""
        from .stream_renderer import ResponsesRenderer

        return ResponsesRenderer(self.provider)

    @property
    def operations(self) -> Operations:
        """Returns the operations: `count_tokens` and `list_models`."""
        from ...common.model_lists import LIST_MODELS, ModelListing

        # https://platform.openai.com/docs/api-reference/models/list
        models = ModelListing("/models", error_in_body, RIGHT_ADDRESS)
        count = count_tokens(lambda call: encode_count(call, self.provider, self.encrypted_reasoning), decode_count)
        return {COUNT_TOKENS: lambda: count, LIST_MODELS: models}
