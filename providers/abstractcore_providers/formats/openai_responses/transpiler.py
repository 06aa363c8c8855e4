"""The format's operations in one object; each is a pure function in a module of its own.

Token counting without a call: `POST /responses/input_tokens`.

Streams and the server side (`parse`, `render`) are imported on first use: a complete answer needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pydantic_core import to_json

from abstractcore.ports import EMBED, Operation, Operations
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

from ...common.endpoints import JSON_HEADERS, RIGHT_ADDRESS
from ...common.frame_decoder import EventFramer
from ...common.openai_errors import error_in_body, error_of, render_error
from ...common.operations import COUNT_TOKENS, RETRIEVE_REPLY, count_tokens, retrieve_reply
from ...common.response_bodies import read_count
from .decode import decode
from .encode import encode, request_body
from .options import default_include

if TYPE_CHECKING:
    from abstractcore.ports import ServedOperation
    from abstractcore.schema import StoredReplyInput

    from ...common.openai_file_store import OpenAIFileStore
    from .stream_decoder import ResponsesDecoder
    from .stream_renderer import ResponsesRenderer

_FIELDS = frozenset(
    {
        "conversation",
        "input",
        "instructions",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "reasoning",
        "text",
        "tool_choice",
        "tools",
        "truncation",
    }
)
"""The fields that affect the count; it accepts no others."""


def encode_count(call: ModelCall, provider: str, encrypted_reasoning: bool) -> Encoded:
    """Returns the request for the number of input tokens of a lowered call; raises as `encode` does."""
    warnings: list[CallWarning] = []
    body, _ = request_body(call, provider, encrypted_reasoning, warnings)
    body = {name: value for name, value in body.items() if name in _FIELDS}
    return Encoded(WireRequest("/responses/input_tokens", JSON_HEADERS, to_json(body)), tuple(warnings))


def decode_count(response: WireResponse) -> int:
    """Returns the number of tokens; raises `ServerError` for a response without it."""
    return read_count(response, "input_tokens", error_in_body, RIGHT_ADDRESS)


@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """`POST /responses` (https://platform.openai.com/docs/api-reference/responses).

    `provider` is the key of `provider_options`, and the provider of stored files and reasoning. With
    `encrypted_reasoning`, a request asks for reasoning that can be sent back.
    """

    provider: str = "openai-responses"
    encrypted_reasoning: bool = True

    framer = staticmethod(EventFramer)
    error = staticmethod(error_of)
    render_error = staticmethod(render_error)

    @property
    def most_alternatives(self) -> int:
        """The highest `top_logprobs` (`ResponseCreateParams` in the openai package)."""
        return 20

    def encode(self, call: ModelCall) -> Encoded:
        """Returns the request for `call`."""
        return encode(call, self.provider, self.encrypted_reasoning)

    def inexpressible(self, output: OutputSchema, *, as_tool: bool) -> str | None:
        """Returns the losses of a schema's structure as that of an answer or of a tool; None if nothing is lost."""
        from ...common.json_schemas import OPENAI
        from ...common.json_schemas.fitting import inexpressible

        return inexpressible(output, OPENAI, as_tool=as_tool)

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
    def file_store(self) -> OpenAIFileStore:
        """The file store of OpenAI."""
        from ...common.openai_file_store import OpenAIFileStore

        return OpenAIFileStore()

    @property
    def operations(self) -> Operations:
        """Returns the operations: `count_tokens`, `retrieve_reply`, `list_models` and `embed`."""
        from ...common.operations import LIST_MODELS, ModelListing
        from ..openai_chat.dialect import EMBEDDINGS_OF_OPENAI
        from ..openai_chat.embeddings import embedding

        # https://platform.openai.com/docs/api-reference/models/list
        models = ModelListing("/models", error_in_body, RIGHT_ADDRESS)
        count = count_tokens(lambda call: encode_count(call, self.provider, self.encrypted_reasoning), decode_count)
        return {
            COUNT_TOKENS: count,
            RETRIEVE_REPLY: self._retrieval,
            LIST_MODELS: models.operation,
            EMBED: embedding(self.provider, EMBEDDINGS_OF_OPENAI),
        }

    @property
    def served_operations(self) -> Mapping[str, ServedOperation[Any, Any]]:
        """Returns the server side of `embed`."""
        from ..openai_chat.dialect import EMBEDDINGS_OF_OPENAI
        from ..openai_chat.embeddings import served_embedding

        return {EMBED: served_embedding(self.provider, EMBEDDINGS_OF_OPENAI)}

    @property
    def _retrieval(self) -> Operation[StoredReplyInput, ModelReply]:
        """The operation `GET /responses/{id}` (https://platform.openai.com/docs/api-reference/responses/get).

        It asks for what a call asks for.
        """
        query = urlencode([("include[]", name) for name in default_include(self.encrypted_reasoning, logprobs=False)])
        return retrieve_reply("/responses", f"?{query}" if query else "", self.decode)
