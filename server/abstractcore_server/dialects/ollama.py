"""`POST /api/chat` and `/api/generate` (https://docs.ollama.com/api)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import ModelReply, Rendered, WireRequest

from ..requests import RequestHead
from .base import ClientDialect, ClientRequest, ConvertedRenderer, ReplyStamp

_BEFORE = b'"message":'
_UNLOADS = (0, "0", "0s", "0m", "0h")
"""Values of `keep_alive` with which a model is unloaded."""


class OllamaDialect(ClientDialect):
    """Ollama's chat: a stream is lines of JSON, and the default."""

    name = "ollama"
    format = "ollama"
    streams_by_default = True
    vendors = ("ollama",)
    event_ends = (b"\n",)
    arguments = "object"
    reply_fields = frozenset(
        {
            "context",
            "created_at",
            "done",
            "done_reason",
            "eval_count",
            "eval_duration",
            "load_duration",
            "logprobs",
            "message",
            "model",
            "prompt_eval_count",
            "prompt_eval_duration",
            "response",
            "thinking",
            "total_duration",
        }
    )

    def stream_type(self, client_request: ClientRequest) -> str:
        """Returns the content type of lines of JSON."""
        return "application/x-ndjson"

    def with_stamp(self, reply: ModelReply, stamp: ReplyStamp) -> ModelReply:
        """Returns a reply with a time: the format has no ids."""
        if "created_at" in reply.provider_metadata:
            return reply
        return replace(reply, provider_metadata={**reply.provider_metadata, "created_at": ollama_time(stamp)})

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the lines, with the time that clients expect in each."""
        time = b'"created_at":"%s",' % ollama_time(stamp).encode()
        return ConvertedRenderer(transpiler.renderer(), partial(_with_time, time))

    def heartbeat(self, client_request: ClientRequest, stamp: ReplyStamp, *, begun: bool) -> bytes:
        """Returns a line with an empty text: clients parse every line."""
        return self._without_text(client_request, stamp, done=False) + b"\n"

    def loading_answer(self, client_request: ClientRequest, stamp: ReplyStamp) -> bytes | None:
        """Returns the answer to a request that only loads a model, or unloads it; None for one that asks something."""
        if self._asks_something(client_request.data):
            return None
        reason = "unload" if client_request.data.get("keep_alive") in _UNLOADS else "load"
        return self._without_text(client_request, stamp, done=True, done_reason=reason)

    def _asks_something(self, data: Mapping[str, Any]) -> bool:
        return data.get("messages", []) != []

    def _without_text(self, client_request: ClientRequest, stamp: ReplyStamp, **more: Any) -> bytes:
        message = {"role": "assistant", "content": ""}
        return to_json({"model": client_request.model, "created_at": ollama_time(stamp), "message": message, **more})


def _with_time(time: bytes, line: bytes) -> bytes:
    """Returns a line with the time, before its message: quotes within texts are escaped."""
    return line if b'"created_at":"' in line else line.replace(_BEFORE, time + _BEFORE, 1)


class OllamaGenerateDialect(OllamaDialect):
    """Ollama's generate: a chat of one message."""

    name = "ollama_generate"

    def read(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns a request as far as the server reads it; raises `InvalidInputError` for a template or a suffix."""
        client_request = super().read(request, body)
        chat = to_json(_as_chat(client_request.data))
        return replace(client_request, wire=WireRequest(request.target, {}, chat))

    def render(
        self, transpiler: Transpiler, replies: Sequence[ModelReply], client_request: ClientRequest, stamp: ReplyStamp
    ) -> Rendered:
        """Returns the answer with its text in `response`."""
        rendered = super().render(transpiler, replies, client_request, stamp)
        return Rendered(_as_generate_answer(rendered.body), rendered.warnings)

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the lines."""
        return ConvertedRenderer(super().renderer(transpiler, client_request, stamp, choice), _lines)

    def _asks_something(self, data: Mapping[str, Any]) -> bool:
        return any(data.get(name) for name in ("prompt", "images", "system"))

    def _without_text(self, client_request: ClientRequest, stamp: ReplyStamp, **more: Any) -> bytes:
        return _as_generate_answer(super()._without_text(client_request, stamp, **more))


def _lines(lines: bytes) -> bytes:
    return b"".join(_as_generate_answer(line) + b"\n" for line in lines.splitlines())


def _as_chat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the chat that a request is, without what only `generate` has."""
    for name in ("suffix", "template", "context", "raw"):
        if data.get(name):
            raise InvalidInputError("it is not supported here: use /api/chat", path=name)
    chat = {name: value for name, value in data.items() if name not in _OF_GENERATE}
    prompt = data.get("prompt", "")
    if not isinstance(prompt, str):
        raise InvalidInputError(f"expected a text, got {type(prompt).__name__}", path="prompt")
    user: dict[str, Any] = {"role": "user", "content": prompt}
    if data.get("images"):
        user["images"] = data["images"]
    system = [{"role": "system", "content": data["system"]}] if data.get("system") else []
    return {**chat, "messages": [*system, user]}


_OF_GENERATE = frozenset({"context", "images", "prompt", "raw", "suffix", "system", "template"})


def _as_generate_answer(body: bytes) -> bytes:
    """Returns an answer of a chat as one of `generate`."""
    data = json.loads(body)
    message = data.pop("message", {})
    thinking = {"thinking": message["thinking"]} if message.get("thinking") else {}
    return to_json({**data, "response": message.get("content", ""), **thinking})


def ollama_time(stamp: ReplyStamp) -> str:
    """Returns a time as Ollama writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp.time))
