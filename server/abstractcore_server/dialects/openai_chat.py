"""`POST /v1/chat/completions` (https://platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import Delta, ImagePart, ModelReply, PartDelta, Rendered, ReplyStart

from ..requests import Request
from .base import EXTENSION, Asked, Dialect, Stamp, StampedRenderer, count_at, flag_at, object_at
from .chat_images import images_field, is_shown, rendered_with_images
from .client_tools import ClientTool
from .openai_tools import chat_tools
from .sums import summed

_DONE = b"data: [DONE]\n\n"
_NO_TIME = b'"created":0,"model"'
_FIRST = b'"choices":[{"index":0,'


class OpenAIChatDialect(Dialect):
    """OpenAI's chat completions. `n` answers are `n` calls."""

    name = "openai_chat"
    format = "openai_chat"
    vendors = ("openai",)
    id_prefix = "chatcmpl-"
    own_fields = frozenset({EXTENSION, "n", "stream_options"})
    needed_fields = frozenset({"function_call", "functions"})
    reply_fields = frozenset(
        {
            "choices",
            "created",
            "id",
            "metadata",
            "model",
            "moderation",
            "obfuscation",
            "object",
            "service_tier",
            "system_fingerprint",
            "usage",
        }
    )

    def client_tools(self, definition: Mapping[str, Any]) -> tuple[ClientTool, ...] | None:
        """Returns the function for a custom tool."""
        return chat_tools(definition)

    def read(self, request: Request, body: bytes) -> Asked:
        """Returns what a request asks for."""
        asked = super().read(request, body)
        return replace(asked, choices=count_at(asked.data, "n"))

    def render(self, transpiler: Transpiler, replies: Sequence[ModelReply], asked: Asked, stamp: Stamp) -> Rendered:
        """Returns a `chat.completion`, with a choice for each reply and the sum of their tokens."""
        rendered = [rendered_with_images(transpiler, self.stamped(reply, stamp)) for reply in replies]
        if len(rendered) == 1:
            return rendered[0]
        warnings = tuple(warning for each in rendered for warning in each.warnings)
        return Rendered(joined([each.body for each in rendered]), warnings)

    def stamped(self, reply: ModelReply, stamp: Stamp) -> ModelReply:
        """Returns a reply with an id and a time."""
        reply = super().stamped(reply, stamp)
        if "created" in reply.provider_metadata:
            return reply
        return replace(reply, provider_metadata={**reply.provider_metadata, "created": int(stamp.time)})

    def renderer(self, transpiler: Transpiler, asked: Asked, stamp: Stamp, choice: int = 0) -> StreamRenderer:
        """Returns what writes the chunks of one choice."""
        wants_usage = flag_at(object_at(asked.data, "stream_options"), "include_usage")
        return ChoiceRenderer(transpiler.renderer(), self.new_id(stamp), int(stamp.time), choice, wants_usage)

    def finish(self, renderers: Sequence[StreamRenderer]) -> bytes:
        """Returns the chunk with the tokens of all choices, if it was asked for, and the end mark."""
        if len(renderers) == 1:
            return renderers[0].finish()
        chunks = [each.finish().removesuffix(_DONE) for each in renderers]
        counted = [chunk.removeprefix(b"data: ") for chunk in chunks if chunk]
        return (b"data: " + joined(counted) + b"\n\n" if counted else b"") + _DONE


class ChoiceRenderer(StampedRenderer):
    """Writes the chunks of one choice, with a time, and with tokens only if they were asked for: clients that did not
    ask read the first choice of every chunk.
    """

    def __init__(self, inner: StreamRenderer, id: str, created: int, choice: int, wants_usage: bool) -> None:
        super().__init__(inner, id)
        self._created = b'"created":%d,"model"' % created
        self._choice = b'"choices":[{"index":%d,' % choice if choice else b""
        self._wants_usage = wants_usage
        self._head: dict[str, object] = {
            "id": id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": "",
        }
        self._number = choice
        self._images = 0

    def feed(self, delta: Delta) -> bytes:
        """Returns the chunk of a delta."""
        if isinstance(delta, PartDelta) and is_shown(delta.part):
            return self._image(delta.part)
        if isinstance(delta, ReplyStart):
            self._head |= {"id": delta.id or self._id, "model": delta.model or ""}
        return self._marked(super().feed(delta))

    def finish(self) -> bytes:
        """Returns the chunk with the tokens, if it was asked for, and the end mark."""
        return self._marked(super().finish()) if self._wants_usage else _DONE

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return super().error(error)

    def _image(self, image: ImagePart) -> bytes:
        images = images_field([image], self._images)
        self._images += 1
        choice = {"index": self._number, "delta": {"images": images}, "finish_reason": None}
        return b"data: " + to_json({**self._head, "choices": [choice]}) + b"\n\n"

    def _marked(self, chunks: bytes) -> bytes:
        """Returns chunks with the time and the choice. The renderer knows neither; quotes within texts are escaped, so
        that no text contains what is replaced.
        """
        chunks = chunks.replace(_NO_TIME, self._created)
        return chunks.replace(_FIRST, self._choice) if self._choice else chunks


def joined(bodies: Sequence[bytes]) -> bytes:
    """Returns one completion with the choices of several, and the sum of their tokens."""
    first, *others = (json.loads(body) for body in bodies)
    for number, other in enumerate(others, 1):
        first["choices"] += [{**choice, "index": number} for choice in other["choices"]]
        if "usage" in other:
            first["usage"] = summed(first.get("usage", {}), other["usage"])
    return json.dumps(first, ensure_ascii=False, separators=(",", ":")).encode()
