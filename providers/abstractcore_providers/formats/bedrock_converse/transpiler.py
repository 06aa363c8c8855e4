"""The format's operations in one object; each is a pure function in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.framing import AwsEventStreamFramer
from abstractcore.ports import Operations
from abstractcore.schema import Encoded, ModelCall, ModelReply, Parsed, WireRequest, WireResponse

from ...common.operations import COUNT_TOKENS, count_tokens
from .count import decode_count, encode_count
from .decode import decode
from .encode import encode
from .errors import error_of, render_error
from .parse import parse
from .render import render
from .stream_decoder import ConverseDecoder
from .stream_renderer import ConverseRenderer


@dataclass(frozen=True, slots=True)
class BedrockConverse:
    """`POST /model/{modelId}/converse` (https://docs.aws.amazon.com/bedrock/latest/APIReference/).

    Replies do not name their model; they get `model` if it is given. `off` is the type of thinking that disables it for
    Anthropic's models.
    """

    model: str | None = None
    off: str = "disabled"

    framer = staticmethod(AwsEventStreamFramer)
    error = staticmethod(error_of)
    render = staticmethod(render)
    renderer = staticmethod(ConverseRenderer)
    render_error = staticmethod(render_error)

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.off)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in the body of a response."""
        return decode(response, self.model)

    def decoder(self) -> ConverseDecoder:
        """Returns a decoder of the messages of a stream."""
        return ConverseDecoder(self.model)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        return parse(request, self.off)

    @property
    def operations(self) -> Operations:
        """Returns the operations: `count_tokens`."""
        count = count_tokens(lambda call: encode_count(call, self.off), decode_count)
        return {COUNT_TOKENS: lambda: count}
