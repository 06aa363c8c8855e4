"""`POST /v1/completions` (https://platform.openai.com/docs/api-reference/completions): a chat of one message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import Delta, ModelReply, Rendered, WireRequest

from ..requests import Request
from .base import Asked, Stamp
from .openai_chat import OpenAIChatDialect

_DATA = b"data: "
_OF_COMPLETIONS = frozenset({"best_of", "echo", "logprobs", "prompt", "suffix"})


class OpenAICompletionsDialect(OpenAIChatDialect):
    """OpenAI's completions, which older clients use."""

    name = "openai_completions"
    id_prefix = "cmpl-"

    def read(self, request: Request, body: bytes) -> Asked:
        """Returns what a request asks for; raises `InvalidInputError` for several prompts, and for what a chat has
        nothing like.
        """
        asked = super().read(request, body)
        return replace(asked, wire=WireRequest(request.target, {}, to_json(_as_chat(asked.data))))

    def render(self, transpiler: Transpiler, replies: Sequence[ModelReply], asked: Asked, stamp: Stamp) -> Rendered:
        """Returns a `text_completion`."""
        rendered = super().render(transpiler, replies, asked, stamp)
        return Rendered(_as_completion(rendered.body), rendered.warnings)

    def renderer(self, transpiler: Transpiler, asked: Asked, stamp: Stamp, choice: int = 0) -> StreamRenderer:
        """Returns what writes the chunks of one choice."""
        return CompletionRenderer(super().renderer(transpiler, asked, stamp, choice))


class CompletionRenderer:
    """Writes the chunks of a chat as those of a completion."""

    def __init__(self, inner: StreamRenderer) -> None:
        self._inner = inner

    def feed(self, delta: Delta) -> bytes:
        """Returns the chunks of a delta."""
        return _events(self._inner.feed(delta))

    def finish(self) -> bytes:
        """Returns the chunk with the tokens, if it was asked for, and the end mark."""
        return _events(self._inner.finish())

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return self._inner.error(error)


def _as_chat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the chat that a request is."""
    prompt = data.get("prompt")
    if isinstance(prompt, list) and len(cast("list[Any]", prompt)) == 1:
        prompt = cast("list[Any]", prompt)[0]
    if not isinstance(prompt, str):
        raise InvalidInputError("expected one text: lists of prompts or tokens are not supported", path="prompt")
    for name in ("suffix", "echo", "logprobs"):
        if data.get(name):
            raise InvalidInputError("it is not supported here: use /v1/chat/completions", path=name)
    if data.get("best_of") not in (None, data.get("n"), 1):
        raise InvalidInputError("it is not supported: leave it out", path="best_of")
    chat = {name: value for name, value in data.items() if name not in _OF_COMPLETIONS}
    return {**chat, "messages": [{"role": "user", "content": prompt}]}


def _events(events: bytes) -> bytes:
    chunks = (event.removeprefix(_DATA) for event in events.split(b"\n\n") if event)
    return b"".join(_DATA + (chunk if chunk == b"[DONE]" else _as_completion(chunk)) + b"\n\n" for chunk in chunks)


def _as_completion(body: bytes) -> bytes:
    """Returns a chat completion, or a chunk of one, as a text completion."""
    data = json.loads(body)
    data["object"] = "text_completion"
    data["choices"] = [_choice(choice) for choice in data["choices"]]
    return to_json(data)


def _choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    message: Mapping[str, Any] = choice.get("message") or choice.get("delta") or {}
    return {
        "text": message.get("content") or "",
        "index": choice["index"],
        "logprobs": None,
        "finish_reason": choice["finish_reason"],
    }
