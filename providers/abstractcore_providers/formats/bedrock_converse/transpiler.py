"""The format's operations gathered in one object; each is a pure function in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.framing import AwsEventStreamFramer
from abstractcore.schema import Encoded, ModelCall, ModelReply, Parsed, Rendered, WireRequest, WireResponse

from .count import decode_count, encode_count
from .decode import decode
from .decoder import ConverseDecoder
from .encode import encode
from .failures import error_of, render_error
from .parse import parse
from .render import render
from .renderer import ConverseRenderer


@dataclass(frozen=True, slots=True)
class BedrockConverse:
    """`POST /model/{modelId}/converse` (https://docs.aws.amazon.com/bedrock/latest/APIReference/).

    Replies do not name their model: `model` stands in them where it is given.
    """

    model: str | None = None

    def encode(self, call: ModelCall) -> Encoded:
        """The request for `call`."""
        return encode(call)

    def decode(self, response: WireResponse) -> ModelReply:
        """The reply in the body of a response."""
        return decode(response, self.model)

    def framer(self) -> AwsEventStreamFramer:
        """Amazon's event stream."""
        return AwsEventStreamFramer()

    def decoder(self) -> ConverseDecoder:
        """A decoder of the messages of a stream."""
        return ConverseDecoder(self.model)

    def error(self, response: WireResponse) -> ProviderError:
        """The error in a failed response."""
        return error_of(response)

    def parse(self, request: WireRequest) -> Parsed:
        """The call in a client's request."""
        return parse(request)

    def render(self, reply: ModelReply) -> Rendered:
        """The body of a response."""
        return render(reply)

    def renderer(self) -> ConverseRenderer:
        """A renderer of the messages of a stream."""
        return ConverseRenderer()

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """An error with its name and status."""
        return render_error(error)

    def encode_count(self, call: ModelCall) -> Encoded:
        """The request that asks how many tokens `call` would take."""
        return encode_count(call)

    def decode_count(self, response: WireResponse) -> int:
        """The number of tokens in the answer to that."""
        return decode_count(response)
