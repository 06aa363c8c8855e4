"""The format's operations gathered in one object; each is a pure function in a module of its own."""

from __future__ import annotations

from dataclasses import dataclass

from abstractcore.schema import (
    CachedContent,
    Encoded,
    ModelCall,
    ModelReply,
    Parsed,
    Rendered,
    WireRequest,
    WireResponse,
)

from .cached_contents import decode_kept, encode_deletion, encode_extension, encode_keeping, encode_kept
from .count import decode_count, encode_count
from .decode import decode
from .decoder import ReplyDecoder
from .dialect import Dialect
from .encode import encode
from .failures import error_of, render_error
from .framer import AnswerFramer
from .parse import parse
from .render import render
from .renderer import ReplyRenderer

_GOOGLE = Dialect()


@dataclass(frozen=True, slots=True)
class Gemini:
    """`POST /models/{model}:generateContent` (https://ai.google.dev/api/generate-content)."""

    dialect: Dialect = _GOOGLE

    framer = staticmethod(AnswerFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)
    encode_kept = staticmethod(encode_kept)
    encode_extension = staticmethod(encode_extension)
    encode_deletion = staticmethod(encode_deletion)
    decode_count = staticmethod(decode_count)

    def encode(self, call: ModelCall) -> Encoded:
        """The request for `call`."""
        return encode(call, self.dialect)

    def decode(self, response: WireResponse) -> ModelReply:
        """The reply in a `GenerateContentResponse` object."""
        return decode(response, self.dialect)

    def decoder(self) -> ReplyDecoder:
        """A decoder of `GenerateContentResponse` objects, one a chunk."""
        return ReplyDecoder(self.dialect)

    def parse(self, request: WireRequest) -> Parsed:
        """The call in a client's request."""
        return parse(request, self.dialect)

    def render(self, reply: ModelReply) -> Rendered:
        """A `GenerateContentResponse` object."""
        return render(reply, self.dialect)

    def renderer(self) -> ReplyRenderer:
        """A renderer of `GenerateContentResponse` objects, one a chunk."""
        return ReplyRenderer(self.dialect)

    def encode_keeping(self, call: ModelCall, seconds: int, title: str | None) -> Encoded:
        """The request that keeps the messages and tools of `call`."""
        return encode_keeping(call, seconds, title, self.dialect)

    def decode_kept(self, response: WireResponse) -> CachedContent:
        """What a `CachedContent` object says."""
        return decode_kept(response, self.dialect)

    def encode_count(self, call: ModelCall) -> Encoded:
        """The request for the number of tokens of `call`."""
        return encode_count(call, self.dialect)
