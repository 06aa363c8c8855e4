"""`POST /v1beta/models/{model}:generateContent` (https://ai.google.dev/api/generate-content)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import Delta, ModelReply, Rendered, WireRequest, WireResponse

from ..requests import RequestHead, read_object
from .base import EXTENSION, ClientDialect, ClientRequest, ReplyStamp, count_at, object_at, sum_counts

_STREAM = ":streamGenerateContent"
_CONFIGS = ("generationConfig", "generation_config")
_COUNTS = ("candidateCount", "candidate_count")
_COUNT = ":countTokens"
_DATA = b"data: "
_NOT_IMPLEMENTED = 501


class GeminiDialect(ClientDialect):
    """Google's generateContent: the model and the kind of answer are in the path. Candidates are as many calls."""

    name = "gemini"
    format = "gemini"
    vendors = ("google", "vertex")
    needed_fields = frozenset({"cachedContent", "cached_content"})
    model_paths = (("modelVersion",),)
    arguments = "object"
    reply_fields = frozenset(
        {
            "avgLogprobs",
            "candidates",
            "citationMetadata",
            "content",
            "createTime",
            "finishMessage",
            "finishReason",
            "groundingMetadata",
            "index",
            "logprobsResult",
            "modelStatus",
            "modelVersion",
            "promptFeedback",
            "responseId",
            "safetyRatings",
            "tokenCount",
            "urlContextMetadata",
            "usageMetadata",
        }
    )
    own_fields = frozenset({EXTENSION, *(f"{config}.{count}" for config in _CONFIGS for count in _COUNTS)})

    def read(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns a request as far as the server reads it."""
        data = read_object(body, request.headers)
        stream = request.path.endswith(_STREAM)
        choices = _candidates(data)
        if stream and choices > 1:
            raise InvalidInputError("a stream has one candidate", path="generationConfig.candidateCount")
        wire = WireRequest(request.target, {}, body)
        model = request.parameters["model"].removeprefix("models/")
        is_list = stream and request.query_values().get("alt") != "sse"
        return ClientRequest(model, stream, wire, data, choices, data.get(EXTENSION), is_list)

    def read_count(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns the request that is to be counted: its contents, or a whole request in it."""
        data = read_object(body, request.headers)
        wrapped = data.get("generateContentRequest") or data.get("generate_content_request")
        counted = replace(request, path=request.path.replace(_COUNT, ":generateContent"))
        return self.read(counted, body if wrapped is None else to_json(wrapped))

    def render_count(self, tokens: int) -> bytes:
        """Returns a count of tokens."""
        return to_json({"totalTokens": tokens})

    def stream_type(self, client_request: ClientRequest) -> str:
        """Returns the content type of a stream: events, or one JSON list."""
        return "application/json" if client_request.is_list else super().stream_type(client_request)

    def heartbeat(self, client_request: ClientRequest, stamp: ReplyStamp, *, begun: bool) -> bytes:
        """Returns a comment; in a JSON list, white space."""
        return b"\n" if client_request.is_list else super().heartbeat(client_request, stamp, begun=begun)

    def render(
        self, transpiler: Transpiler, replies: Sequence[ModelReply], client_request: ClientRequest, stamp: ReplyStamp
    ) -> Rendered:
        """Returns a response with a candidate for each reply, and the sum of their tokens."""
        rendered = [transpiler.render(self.with_stamp(reply, stamp)) for reply in replies]
        if len(rendered) == 1:
            return rendered[0]
        first, *others = (json.loads(each.body) for each in rendered)
        for number, other in enumerate(others, 1):
            first["candidates"] += [{**candidate, "index": number} for candidate in other["candidates"]]
            first["usageMetadata"] = sum_counts(first.get("usageMetadata", {}), other.get("usageMetadata", {}))
        warnings = tuple(warning for each in rendered for warning in each.warnings)
        return Rendered(json.dumps(first, ensure_ascii=False).encode(), warnings)

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the stream."""
        renderer = super().renderer(transpiler, client_request, stamp, choice)
        return ListRenderer(renderer) if client_request.is_list else renderer

    def failure(self, transpiler: Transpiler, error: AbstractCoreError, status: int | None = None) -> WireResponse:
        """Returns the response for an error, whose body has the status too."""
        response = super().failure(transpiler, error, status)
        if status is None:
            return response
        body = json.loads(response.body)
        body["error"]["code"] = status
        if status == _NOT_IMPLEMENTED:
            body["error"]["status"] = "UNIMPLEMENTED"
        return replace(response, body=json.dumps(body).encode())


class ListRenderer:
    """Writes a stream as one JSON list, an item for each event, for clients that do not ask for events."""

    def __init__(self, inner: StreamRenderer) -> None:
        self._inner = inner
        self._has_items = False

    def feed(self, delta: Delta) -> bytes:
        """Returns the items of a delta."""
        return self._items(self._inner.feed(delta))

    def finish(self) -> bytes:
        """Returns the end of the list."""
        items = self._items(self._inner.finish())
        return items + (b"]" if self._has_items else b"[]")

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as the last item."""
        return self._items(self._inner.error(error)) + b"]"

    def _items(self, events: bytes) -> bytes:
        items = b""
        for event in events.split(b"\n\n"):
            if event:
                items += (b",\n" if self._has_items else b"[") + event.removeprefix(_DATA)
                self._has_items = True
        return items


def _candidates(data: Mapping[str, Any]) -> int:
    """Returns the number of candidates that a request asks for."""
    for config in _CONFIGS:
        for count in _COUNTS:
            if object_at(data, config).get(count) is not None:
                return count_at(object_at(data, config), count, f"{config}.{count}")
    return 1
