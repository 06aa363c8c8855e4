"""The format's operations in one object; each is a pure function in a module of its own.

Streams, errors and the server side (`parse`, `render`) are imported on first use: a complete answer needs none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.ports import EMBED, RERANK, TRANSCRIBE, MessageRead, Operation, Operations
from abstractcore.schema import CallWarning, Encoded, ModelCall, ModelReply, OutputSchema, WireRequest, WireResponse

from ...common.conversations import origin_of
from ...common.endpoints import JSON_HEADERS, RIGHT_ADDRESS
from ...common.response_bodies import read_count
from .decode import decode
from .dialect import OPENAI, ChatDialect, CountEndpoint
from .encode import encode, request_body

if TYPE_CHECKING:
    from abstractcore.ports import ServedOperation
    from abstractcore.schema import Parsed, Rendered

    from ...common.frame_decoder import EventFramer
    from ...common.openai_file_store import OpenAIFileStore
    from .stream_decoder import ChatDecoder
    from .stream_renderer import ChatRenderer


def encode_count(call: ModelCall, dialect: ChatDialect, endpoint: CountEndpoint) -> Encoded:
    """Returns the request for the number of tokens of a lowered call, by the chat template of the model; raises as
    `encode` does.
    """
    warnings: list[CallWarning] = []
    body, _ = request_body(call.with_(stream=False), dialect, warnings)
    body = {name: value for name, value in body.items() if name in endpoint.fields}
    counted = [each for each in warnings if not each.path.startswith("sampling.")]
    return Encoded(WireRequest(endpoint.path, JSON_HEADERS, to_json(body)), tuple(counted))


def decode_count(response: WireResponse, endpoint: CountEndpoint) -> int:
    """Returns the number of tokens; raises `ServerError` for a response without it."""
    from ...common.openai_errors import error_in_body

    return read_count(response, endpoint.count, error_in_body, RIGHT_ADDRESS)


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """`POST /chat/completions` (https://platform.openai.com/docs/api-reference/chat)."""

    dialect: ChatDialect = OPENAI

    @property
    def most_alternatives(self) -> int:
        """The highest `top_logprobs`."""
        return self.dialect.most_alternatives

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.dialect)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost.

        In JSON mode the whole schema is in the prompt.
        """
        if self.dialect.json_mode_only and not as_tool:
            return None
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, self.dialect.schemas, as_tool=as_tool)

    def decode(self, response: WireResponse) -> ModelReply:
        """Returns the reply in a `chat.completion` object."""
        return decode(response, self.dialect)

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response with an error status."""
        from ...common.openai_errors import error_of

        return error_of(response)

    def framer(self) -> EventFramer:
        """Returns a framer for one stream."""
        from ...common.frame_decoder import EventFramer

        return EventFramer()

    def decoder(self) -> ChatDecoder:
        """Returns a decoder of `chat.completion.chunk` objects."""
        from .stream_decoder import ChatDecoder

        return ChatDecoder(self.dialect)

    def parse(self, request: WireRequest) -> Parsed:
        """Returns the call in a client's request."""
        from .parse import parse

        return parse(request, self.dialect)

    def read_message(self, value: object, path: str, model: str) -> MessageRead:
        """Returns one message of a request."""
        from .parse import read_message

        warnings: list[CallWarning] = []
        message = read_message(value, path, self.dialect, origin_of(self.dialect.provider, model), warnings)
        return MessageRead(message, tuple(warnings))

    def render(self, reply: ModelReply) -> Rendered:
        """Returns a `chat.completion` object."""
        from .render import render

        return render(reply, self.dialect)

    def render_error(self, error: AbstractCoreError) -> WireResponse:
        """Renders `error` as a response."""
        from ...common.openai_errors import render_error

        return render_error(error)

    def renderer(self) -> ChatRenderer:
        """Returns a renderer of `chat.completion.chunk` events."""
        from .stream_renderer import ChatRenderer

        return ChatRenderer(self.dialect)

    @property
    def file_store(self) -> OpenAIFileStore:
        """The file store of OpenAI."""
        from ...common.openai_file_store import OpenAIFileStore

        return OpenAIFileStore()

    @property
    def operations(self) -> Operations:
        """Returns the operations `list_models` and `transcribe`, and those of `embed`, `rerank` and `count_tokens` that
        the server has.
        """
        from ...common.openai_errors import error_in_body
        from ...common.operations import LIST_MODELS, ModelListing
        from .transcription import transcription

        # https://platform.openai.com/docs/api-reference/models/list
        models = ModelListing("/models", error_in_body, RIGHT_ADDRESS)
        found: dict[str, Operation[Any, Any]] = {}
        if self.dialect.has_chat:
            found |= {LIST_MODELS: models.operation, TRANSCRIBE: transcription(self.dialect)}
        if self.dialect.embeddings is not None:
            from .embeddings import embedding

            found[EMBED] = embedding(self.dialect.provider, self.dialect.embeddings)
        if self.dialect.reranking is not None:
            from .reranking import reranking

            found[RERANK] = reranking(self.dialect, self.dialect.reranking)
        endpoint = self.dialect.counts
        if endpoint is None:
            return found
        from ...common.operations import COUNT_TOKENS, count_tokens

        count = count_tokens(
            lambda call: encode_count(call, self.dialect, endpoint), lambda response: decode_count(response, endpoint)
        )
        return {**found, COUNT_TOKENS: count}

    @property
    def served_operations(self) -> Mapping[str, ServedOperation[Any, Any]]:
        """Returns the server sides of `rerank`, and of `embed` where the dialect has it."""
        from .embeddings import served_embedding
        from .reranking import SERVED_RERANK

        fields = self.dialect.embeddings
        embed = {} if fields is None else {EMBED: served_embedding(self.dialect.provider, fields)}
        return {**embed, RERANK: SERVED_RERANK}
