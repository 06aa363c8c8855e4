"""The format's operations in one object; each is a pure function in a module of its own.

Token counting (`countTokens`).

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstractcore.ports import EMBED, Operations
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

from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.frame_decoder import EventFramer
from ...common.google_errors import RIGHT_ADDRESS, error_in_body, error_of, render_error
from ...common.operations import COUNT_TOKENS, count_tokens
from ...common.response_bodies import read_count
from .decode import decode
from .encode import body_of, encode, resource_of
from .vocabulary import ARGUMENTS, GenerateContentDialect

if TYPE_CHECKING:
    from abstractcore.ports import ServedOperation

    from ...common.google_files import GoogleFileStore
    from .stream_decoder import ReplyDecoder
    from .stream_renderer import ReplyRenderer

_COUNTED = ("contents", "systemInstruction", "tools", "generationConfig")
"""The fields that Vertex AI counts, at the top level."""


def encode_count(call: ModelCall, dialect: GenerateContentDialect) -> Encoded:
    """Returns the request for the number of tokens of a lowered call, including tools and system instruction."""
    writer = BodyWriter(dialect.provider, ARGUMENTS)
    body, resource = body_of(call, dialect, writer), resource_of(call.model, dialect)
    if dialect.count_wrapped:
        body = {"generateContentRequest": {"model": resource, **body}}
    else:
        body = {name: body[name] for name in _COUNTED if name in body}
    request = WireRequest(f"/{resource}:countTokens", JSON_HEADERS, writer.json(body))
    return Encoded(request, tuple(writer.warnings))


def decode_count(response: WireResponse) -> int:
    """Returns the number of tokens; raises `ServerError` for a body without it."""
    return read_count(response, "totalTokens", error_in_body, RIGHT_ADDRESS)


_GOOGLE = GenerateContentDialect()


@dataclass(frozen=True, slots=True)
class Gemini:
    """`POST /models/{model}:generateContent` (https://ai.google.dev/api/generate-content)."""

    dialect: GenerateContentDialect = _GOOGLE

    framer = staticmethod(EventFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    @property
    def most_alternatives(self) -> int:
        """The highest `logprobs` (`GenerationConfig` on https://ai.google.dev/api/generate-content)."""
        return 20

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.dialect)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost."""
        from ...common.json_schemas import GEMINI
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, GEMINI, as_tool=as_tool)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in a `GenerateContentResponse` object."""
        return decode(response, self.dialect)

    def decoder(self) -> ReplyDecoder:
        """Returns a decoder of `GenerateContentResponse` objects, one a chunk."""
        from .stream_decoder import ReplyDecoder

        return ReplyDecoder(self.dialect)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request, self.dialect)

    def render(self, reply: ModelReply) -> Rendered:
        """Returns a `GenerateContentResponse` object."""
        from .render import render

        return render(reply, self.dialect)

    def renderer(self) -> ReplyRenderer:
        """Returns a renderer of `GenerateContentResponse` objects, one a chunk."""
        from .stream_renderer import ReplyRenderer

        return ReplyRenderer(self.dialect)

    @property
    def file_store(self) -> GoogleFileStore:
        """The file store of the Gemini API."""
        from ...common.google_files import GoogleFileStore

        return GoogleFileStore()

    @property
    def operations(self) -> Operations:
        """Returns the operations: `count_tokens`, `embed`, those of `cachedContents`, and `list_models`."""
        from ...common.operations import LIST_MODELS, ModelListing
        from .cached_contents import cached_content_operations
        from .embeddings import embedding

        # https://ai.google.dev/api/models#method:-models.list, which Vertex AI lists elsewhere
        models = ModelListing("/models", error_in_body, RIGHT_ADDRESS, {"pageSize": "1000"}, "pageToken", "models/")
        count = count_tokens(lambda call: encode_count(call, self.dialect), decode_count)
        listing = {} if self.dialect.publisher else {LIST_MODELS: models.operation}
        operations = {COUNT_TOKENS: count, EMBED: embedding(self.dialect)}
        return {**operations, **cached_content_operations(self.dialect), **listing}

    @property
    def served_operations(self) -> Mapping[str, ServedOperation[Any, Any]]:
        """Returns the server side of `embed`."""
        from .served_embeddings import served_embedding

        return served_embedding(self.dialect)
