"""`POST /v1/messages` (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import CallWarning, Delta, ReplyStart, WireRequest, WireResponse

from ..requests import Request
from .anthropic_tools import anthropic_tools
from .base import Asked, Dialect, Stamp, StampedRenderer
from .client_tools import ClientTool

_ATTRIBUTION = "x-anthropic-billing-header:"
"""The beginning of a line of the system prompt for Anthropic's accounts, which Claude Code writes. It is another one in
each request, so that nothing after it would be found in another vendor's cache.
"""
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
    counts_first = True
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

    def for_others(self, asked: Asked) -> tuple[WireRequest, list[CallWarning]]:
        """Returns a request without the line for Anthropic's accounts."""
        if _ATTRIBUTION.encode() not in asked.wire.body:
            return asked.wire, []
        data: dict[str, Any] = json.loads(asked.wire.body)
        given = data.get("system")
        left = _without_attribution(given)
        if left == given:
            return asked.wire, []
        data["system"] = left
        message = "the line for Anthropic's accounts is sent to Anthropic alone"
        return replace(asked.wire, body=to_json(data)), [CallWarning("text_left_out", "system", message)]

    def client_tools(self, definition: Mapping[str, Any]) -> tuple[ClientTool, ...] | None:
        """Returns the function for a shell, an editor, the memory or a computer."""
        return anthropic_tools(definition)

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


def _without_attribution(system: Any) -> Any:
    """Returns a system prompt, a text or blocks, without the lines of attribution; None if nothing is left."""
    if isinstance(system, str):
        lines = [line for line in system.splitlines(keepends=True) if not line.startswith(_ATTRIBUTION)]
        return "".join(lines) or None
    if not isinstance(system, list):
        return system
    blocks = [_block_without(block) for block in cast("list[object]", system)]
    return [block for block in blocks if block is not None] or None


def _block_without(block: object) -> object:
    if not isinstance(block, dict):
        return block
    given = cast("dict[str, Any]", block)
    text = given.get("text")
    if not isinstance(text, str) or not text:
        return given
    left = _without_attribution(text)
    return None if left is None else {**given, "text": left}


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
