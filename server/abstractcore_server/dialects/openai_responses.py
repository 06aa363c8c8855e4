"""`POST /v1/responses` (https://platform.openai.com/docs/api-reference/responses)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import Delta, ModelReply, Rendered, ReplyStart

from ..models import DEFAULT
from ..requests import RequestHead, read_object
from ..responses.items import RESPONSE_FIELDS, ResponseFields, compact
from .base import EXTENSION, ClientDialect, ClientRequest, ReplyStamp, StampedRenderer
from .client_tools import ClientToolFunction, responses_tools


class OpenAIResponsesDialect(ClientDialect):
    """OpenAI's responses. An id of another API is replaced: clients expect "resp_"."""

    name = "openai_responses"
    format = "openai_responses"
    vendors = ("openai-responses", "openai")
    id_prefix = "resp_"
    own_fields = frozenset({EXTENSION, "background"})
    needed_fields = frozenset({"prompt"})
    state_fields = frozenset({"conversation", "previous_response_id", "store"})
    model_paths = (("model",), ("response", "model"))
    reply_fields = RESPONSE_FIELDS

    def read(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns a request as far as the server reads it. One that names no model is for the default one."""
        data = read_object(body, request.headers)
        if data.get("model") is not None:
            return self.client_request(request, body, data)
        data["model"] = DEFAULT
        return replace(self.client_request(request, compact(data), data), is_changed=True)

    def client_tools(self, definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
        """Returns the functions for a custom tool, a namespace, a shell, patches, or a search of the client."""
        return responses_tools(definition)

    def render_count(self, tokens: int) -> bytes:
        """Returns a count of tokens."""
        return compact({"object": "response.input_tokens", "input_tokens": tokens})

    def with_stamp(self, reply: ModelReply, stamp: ReplyStamp) -> ModelReply:
        """Returns a reply with an id of this API."""
        return reply if (reply.id or "").startswith(self.id_prefix) else replace(reply, id=self.new_id(stamp))

    def render(
        self, transpiler: Transpiler, replies: Sequence[ModelReply], client_request: ClientRequest, stamp: ReplyStamp
    ) -> Rendered:
        """Returns the response, with what it repeats of the request."""
        rendered = super().render(transpiler, replies, client_request, stamp)
        fields = ResponseFields({**client_request.data, **client_request.own}, int(stamp.time))
        return replace(rendered, body=compact(fields.complete(json.loads(rendered.body))))

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the events."""
        return DescribedRenderer(
            transpiler.renderer(),
            self.new_id(stamp),
            ResponseFields({**client_request.data, **client_request.own}, int(stamp.time)),
        )

    def heartbeat(self, client_request: ClientRequest, stamp: ReplyStamp, *, begun: bool) -> bytes:
        """Returns an event that clients do not know, and ignore: the timer of some does not count comments.

        Before the first event it is a comment, since clients expect `response.created` first.
        """
        return keepalive(begun=begun)


def keepalive(*, begun: bool) -> bytes:
    """Returns the bytes that keep a quiet stream of events alive, once it has `begun`, or before."""
    return b'event: keepalive\ndata: {"type":"keepalive"}\n\n' if begun else b": ping\n"


class DescribedRenderer(StampedRenderer):
    """Writes events whose response has all fields."""

    def __init__(self, inner: StreamRenderer, id: str, fields: ResponseFields) -> None:
        super().__init__(inner, id)
        self._fields = fields

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of a delta."""
        if isinstance(delta, ReplyStart) and not (delta.id or "").startswith(OpenAIResponsesDialect.id_prefix):
            delta = replace(delta, id=None)
        return self._fields.in_events(super().feed(delta))

    def finish(self) -> bytes:
        """Returns the event with the whole response."""
        return self._fields.in_events(super().finish())
