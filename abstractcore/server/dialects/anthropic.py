"""`POST /v1/messages` (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

import json
from dataclasses import replace

from pydantic_core import to_json

from ...errors import AbstractCoreError, InvalidInputError
from ...ports import StreamRenderer, Transpiler
from ...schema import Delta, ReplyStart, WireResponse
from ..requests import Request
from .base import Asked, Dialect, Stamp, StampedRenderer

_TOO_LARGE = 413
_NO_TOKENS = b'"usage":{"input_tokens":0,'


class AnthropicDialect(Dialect):
    """Anthropic's Messages. Betas come in a header only: a field of that name would become one at the provider."""

    name = "anthropic"
    format = "anthropic_messages"
    vendors = ("anthropic",)
    id_header = "request-id"
    id_prefix = "msg_"
    kept_headers = ("anthropic-beta",)
    needed_fields = frozenset({"container", "mcp_servers"})
    model_paths = (("model",), ("message", "model"))
    arguments = "pieces"
    reply_fields = frozenset(
        {
            "container",
            "content",
            "context_management",
            "diagnostics",
            "id",
            "input_transformations",
            "model",
            "role",
            "stop_details",
            "stop_reason",
            "stop_sequence",
            "type",
            "usage",
        }
    )

    def read(self, request: Request, body: bytes) -> Asked:
        """Returns what a request asks for; raises `InvalidInputError` for betas in the body."""
        asked = super().read(request, body)
        if "betas" in asked.data:
            raise InvalidInputError("betas are named in the header anthropic-beta", path="betas")
        return asked

    def render_count(self, tokens: int) -> bytes:
        """Returns a count of tokens."""
        return to_json({"input_tokens": tokens})

    def heartbeat(self, asked: Asked, stamp: Stamp, *, begun: bool) -> bytes:
        """Returns Anthropic's own event for it."""
        return b'event: ping\ndata: {"type":"ping"}\n\n'

    def renderer(self, transpiler: Transpiler, asked: Asked, stamp: Stamp, choice: int = 0) -> StreamRenderer:
        """Returns what writes the events."""
        return CountedRenderer(transpiler.renderer(), self.new_id(stamp), stamp.input_tokens)

    def failure(self, transpiler: Transpiler, error: AbstractCoreError, status: int | None = None) -> WireResponse:
        """Returns the response for an error; that of a body that is too large has a type of its own."""
        response = super().failure(transpiler, error, status)
        if status != _TOO_LARGE:
            return response
        body = json.loads(response.body)
        body["error"]["type"] = "request_too_large"
        return replace(response, body=json.dumps(body).encode())


class CountedRenderer(StampedRenderer):
    """Writes events of which the first one has the tokens of the input: clients show from it how full the context is,
    and compact the conversation.
    """

    def __init__(self, inner: StreamRenderer, id: str, input_tokens: int) -> None:
        super().__init__(inner, id)
        self._tokens = b'"usage":{"input_tokens":%d,' % input_tokens

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of a delta."""
        events = super().feed(delta)
        return events.replace(_NO_TOKENS, self._tokens, 1) if isinstance(delta, ReplyStart) else events
