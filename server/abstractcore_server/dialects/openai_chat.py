"""Chat Completions and the older completions of OpenAI."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard, cast

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import (
    Delta,
    ImagePart,
    ModelReply,
    Part,
    PartDelta,
    Rendered,
    ReplyStart,
    WireRequest,
    WireResponse,
)

from ..requests import RequestHead
from .base import (
    EXTENSION,
    ClientDialect,
    ClientRequest,
    ConvertedRenderer,
    ReplyStamp,
    StampedRenderer,
    flag_at,
    object_at,
    sum_counts,
)
from .client_tools import ClientToolFunction, chat_tools


def rendered_with_images(transpiler: Transpiler, reply: ModelReply) -> Rendered:
    """Returns a `chat.completion` whose message has the images of the reply."""
    images = [part for part in reply.parts if is_shown(part)]
    if not images:
        return transpiler.render(reply)
    others = tuple(part for part in reply.parts if not is_shown(part))
    rendered = transpiler.render(replace(reply, parts=others))
    data = json.loads(rendered.body)
    data["choices"][0]["message"]["images"] = images_field(images)
    return replace(rendered, body=json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())


def is_shown(part: Part) -> TypeGuard[ImagePart]:
    """Whether a part is an image that a client can be given: those that a provider stores are not."""
    return isinstance(part, ImagePart) and part.blob.form in ("bytes", "file", "url")


def images_field(images: Sequence[ImagePart], first: int = 0) -> list[dict[str, object]]:
    """Returns images as the field has them, each as a data URL, or at its own URL, and with its index from `first`."""
    return [
        {"type": "image_url", "image_url": {"url": _url(image)}, "index": index}
        for index, image in enumerate(images, first)
    ]


def _url(image: ImagePart) -> str:
    blob = image.blob
    if blob.form == "url":
        return blob.location or ""
    return f"data:{blob.media_type};base64,{base64.b64encode(blob.read()).decode()}"


_DONE = b"data: [DONE]\n\n"
_NO_TIME = b'"created":0,"model"'
_FIRST = b'"choices":[{"index":0,'


class OpenAIChatDialect(ClientDialect):
    """OpenAI's chat completions. `n` answers are `n` calls."""

    name = "openai_chat"
    format = "openai_chat"
    vendors = ("openai",)
    id_prefix = "chatcmpl-"
    choices_field = "n"
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

    def client_tools(self, definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
        """Returns the function for a custom tool."""
        return chat_tools(definition)

    def render(
        self, transpiler: Transpiler, replies: Sequence[ModelReply], client_request: ClientRequest, stamp: ReplyStamp
    ) -> Rendered:
        """Returns a `chat.completion`, with a choice for each reply and the sum of their tokens."""
        rendered = [rendered_with_images(transpiler, self.with_stamp(reply, stamp)) for reply in replies]
        if len(rendered) == 1:
            return rendered[0]
        warnings = tuple(warning for each in rendered for warning in each.warnings)
        return Rendered(join_completions([each.body for each in rendered]), warnings)

    def with_stamp(self, reply: ModelReply, stamp: ReplyStamp) -> ModelReply:
        """Returns a reply with an id and a time."""
        reply = super().with_stamp(reply, stamp)
        if "created" in reply.provider_metadata:
            return reply
        return replace(reply, provider_metadata={**reply.provider_metadata, "created": int(stamp.time)})

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the chunks of one choice."""
        wants_usage = flag_at(object_at(client_request.data, "stream_options"), "include_usage")
        return ChoiceRenderer(transpiler.renderer(), self.new_id(stamp), int(stamp.time), choice, wants_usage)

    def finish(self, renderers: Sequence[StreamRenderer]) -> bytes:
        """Returns the chunk with the tokens of all choices, if it was asked for, and the end mark."""
        if len(renderers) == 1:
            return renderers[0].finish()
        chunks = [each.finish().removesuffix(_DONE) for each in renderers]
        counted = [chunk.removeprefix(b"data: ") for chunk in chunks if chunk]
        return (b"data: " + join_completions(counted) + b"\n\n" if counted else b"") + _DONE


class OpenAIVectorsDialect(OpenAIChatDialect):
    """OpenAI's embeddings, and the rankings beside them, for clients of Voyage and Jina too."""

    def failure(self, transpiler: Transpiler, error: AbstractCoreError, status: int | None = None) -> WireResponse:
        """Returns the response for an error, with its message in `detail` as well: without it, clients of Voyage know
        no rate limit (voyageai 0.5, `APIRequestor.handle_error_response`).
        """
        response = super().failure(transpiler, error, status)
        body = json.loads(response.body)
        body["detail"] = body["error"]["message"]
        return replace(response, body=json.dumps(body, ensure_ascii=False).encode())


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
        return self._with_time_and_choice(super().feed(delta))

    def finish(self) -> bytes:
        """Returns the chunk with the tokens, if it was asked for, and the end mark."""
        return self._with_time_and_choice(super().finish()) if self._wants_usage else _DONE

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return super().error(error)

    def _image(self, image: ImagePart) -> bytes:
        images = images_field([image], self._images)
        self._images += 1
        choice = {"index": self._number, "delta": {"images": images}, "finish_reason": None}
        return b"data: " + to_json({**self._head, "choices": [choice]}) + b"\n\n"

    def _with_time_and_choice(self, chunks: bytes) -> bytes:
        """Returns chunks with the time and the choice. The renderer knows neither; quotes within texts are escaped, so
        that no text contains what is replaced.
        """
        chunks = chunks.replace(_NO_TIME, self._created)
        return chunks.replace(_FIRST, self._choice) if self._choice else chunks


def join_completions(bodies: Sequence[bytes]) -> bytes:
    """Returns one completion with the choices of several, and the sum of their tokens."""
    first, *others = (json.loads(body) for body in bodies)
    for number, other in enumerate(others, 1):
        first["choices"] += [{**choice, "index": number} for choice in other["choices"]]
        if "usage" in other:
            first["usage"] = sum_counts(first.get("usage", {}), other["usage"])
    return json.dumps(first, ensure_ascii=False, separators=(",", ":")).encode()


_DATA = b"data: "
_OF_COMPLETIONS = frozenset({"best_of", "echo", "logprobs", "prompt", "suffix"})


class OpenAICompletionsDialect(OpenAIChatDialect):
    """OpenAI's completions, which older clients use."""

    name = "openai_completions"
    id_prefix = "cmpl-"

    def read(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns a request as far as the server reads it; raises `InvalidInputError` for several prompts, and for
        fields that chats lack.
        """
        client_request = super().read(request, body)
        return replace(client_request, wire=WireRequest(request.target, {}, to_json(_as_chat(client_request.data))))

    def render(
        self, transpiler: Transpiler, replies: Sequence[ModelReply], client_request: ClientRequest, stamp: ReplyStamp
    ) -> Rendered:
        """Returns a `text_completion`."""
        rendered = super().render(transpiler, replies, client_request, stamp)
        return Rendered(_as_completion(rendered.body), rendered.warnings)

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the chunks of one choice."""
        return ConvertedRenderer(super().renderer(transpiler, client_request, stamp, choice), _events)


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
