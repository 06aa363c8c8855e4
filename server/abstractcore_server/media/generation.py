"""Images and speech, as OpenAI's API has them (https://platform.openai.com/docs/api-reference/images, and /audio), and
music.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import AudioPart, CallWarning, DocumentPart, ImagePart, MediaResult, WireResponse

from ..context import Reply, RequestContext
from ..dialects.base import count_at, text_at
from ..failures import refusal, shown_error
from ..forms import MultipartForm
from ..models import DEFAULT, BackendModel
from ..requests import ClientConnection, ClientGone
from .backends import BegunMedia, MediaRequest, begin_media, headers_of, run_backend, timeout_of

_IMAGE_SIZE = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})")
_IMAGE_FIELDS = frozenset({"model", "prompt", "n", "size", "response_format", "output_format", "image", "mask"})


async def generate(context: RequestContext) -> WireResponse:
    """Makes images of a text."""
    data = await context.read_object()
    backend_model = context.state.backend_models.find("vision", _model_name(data))
    request, options = _image_request("t2i", backend_model, data), _image_options(context, data, backend_model)

    async def draw(begun: BegunMedia) -> MediaResult[ImagePart]:
        prompt, vision = begun.texts["prompt"], backend_model.llm.vision
        return await vision.at2i(prompt, timeout=timeout_of(context), tags=begun.tags, **options)

    return _image_response(context, await run_backend(context, request, draw), data)


async def edit(context: RequestContext) -> WireResponse:
    """Changes an image as a text says; raises `UnsupportedOptionError` for a mask, and what is
    asked for beside it, that the backend does not take.
    """
    form = await context.form()
    data = _form_fields(form)
    backend_model = context.state.backend_models.find("vision", _model_name(data))
    options, files = _image_options(context, data, backend_model), [image := bytes(form.upload("image").content)]
    if form.uploads("mask"):  # without it, places would be changed that the client wants to keep
        files.append(bytes(form.upload("mask").content))
        options |= {"mask": files[-1], "strict": True}
    request = _image_request("i2i", backend_model, data, files)

    async def change(begun: BegunMedia) -> MediaResult[ImagePart]:
        prompt, vision = begun.texts["prompt"], backend_model.llm.vision
        return await vision.ai2i(prompt, image, timeout=timeout_of(context), tags=begun.tags, **options)

    return _image_response(context, await run_backend(context, request, change), data)


def _image_request(
    operation: str, backend_model: BackendModel, data: Mapping[str, Any], files: Sequence[bytes] = ()
) -> MediaRequest:
    return MediaRequest(backend_model, operation, {"prompt": text_at(data, "prompt")}, files)


def _model_name(data: Mapping[str, Any]) -> str:
    """Returns the name of the model, which need not be given."""
    return DEFAULT if data.get("model") is None else text_at(data, "model")


def _form_fields(form: MultipartForm) -> dict[str, Any]:
    """Returns the fields of a form as those of a JSON body."""
    data: dict[str, Any] = {name.removesuffix("[]"): values[-1] for name, values in form.fields.items()}
    if "n" in data:
        data["n"] = int(data["n"]) if data["n"].isdecimal() and len(data["n"]) < 6 else data["n"]
    return data


def _image_options(context: RequestContext, data: Mapping[str, Any], backend_model: BackendModel) -> dict[str, Any]:
    asked = data.get("size") or "auto"
    match = _IMAGE_SIZE.fullmatch(asked) if isinstance(asked, str) else None
    if match is None and asked != "auto":
        raise InvalidInputError('expected a size as "1024x1024", or "auto"', path="size")
    if data.get("response_format") not in (None, "b64_json"):
        raise InvalidInputError("images are sent as b64_json: this server keeps none at a URL", path="response_format")
    width, height = (int(match[1]), int(match[2])) if match else (None, None)
    count, most = count_at(data, "n"), context.state.settings.limits.choices
    if count > most:
        raise refusal(400, f"at most {most} images can be requested at once", path="n")
    size = {"width": width, "height": height}
    given = {**size, "count": count if count > 1 else None, "format": data.get("output_format")}
    return {name: value for name, value in {**given, "model": backend_model.model}.items() if value is not None}


def _image_response(context: RequestContext, result: MediaResult[ImagePart], data: Mapping[str, Any]) -> WireResponse:
    images = [{"b64_json": base64.b64encode(part.blob.read()).decode()} for part in result.parts]
    left_out = [
        CallWarning("field_left_out", name, "no backend has such a field") for name in data.keys() - _IMAGE_FIELDS
    ]
    usage = result.usage
    body: dict[str, Any] = {"created": int(context.time), "data": images}
    if usage.input is not None and usage.output is not None:
        counts = {"input_tokens": usage.input, "output_tokens": usage.output}
        body["usage"] = {**counts, "total_tokens": usage.input + usage.output}
    return WireResponse(200, headers_of(context, "application/json", result, left_out), to_json(body))


_SPEECH_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
_SPEECH_TEXTS = ("input", "instructions")
_SPEECH_FIELDS = frozenset(
    {"model", "input", "voice", "response_format", "speed", "instructions", "stream_format", "language"}
)


async def speak(context: RequestContext) -> Reply:
    """Makes speech of a text; raises `InvalidInputError` for a format that no backend makes."""
    data = await context.read_object()
    backend_model = context.state.backend_models.find("voice", text_at(data, "model"))
    return StreamedSpeech(context, backend_model, data)


class StreamedSpeech:
    """Speech that is sent while it is made: bytes, or with `stream_format: "sse"` events. Its head is sent with its
    first sound: until then, an error becomes a response with a status of its own.
    """

    def __init__(self, context: RequestContext, backend_model: BackendModel, data: Mapping[str, Any]) -> None:
        self._context = context
        self._backend_model = backend_model
        texts = {name: text_at(data, name) for name in _SPEECH_TEXTS if name == "input" or data.get(name) is not None}
        self._request = MediaRequest(backend_model, "tts_stream", texts)
        self._format = _choice(data, "response_format", tuple(_SPEECH_TYPES), "mp3")
        self._is_sse = _choice(data, "stream_format", ("audio", "sse"), "audio") == "sse"
        self._options = _speech_options(data, backend_model)
        self._left_out = sorted(data.keys() - _SPEECH_FIELDS)

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the speech; raises the error of one that has not begun."""
        async with self._context.state.drains.watch(connection, "cancel"):
            try:
                async with begin_media(self._context, self._request) as begun:
                    await self._play(begun, connection)
            except ClientGone:
                raise
            except Exception as error:
                if not connection.started:
                    raise
                await connection.write(self._error(error), more=False)
            else:
                await connection.write(self._end(), more=False)

    async def _play(self, begun: BegunMedia, connection: ClientConnection) -> None:
        texts = dict(begun.texts)
        text = texts.pop("input")
        options: dict[str, Any] = {**self._options, **texts, "tags": begun.tags}
        voice, seconds = self._backend_model.llm.voice, timeout_of(self._context)
        async with voice.atts_stream(text, format=self._format, timeout=seconds, **options) as stream:
            async for part in stream:
                if not connection.started:
                    connection.stream_head = self._head(part.blob.media_type, begun)
                await connection.write(self._piece(part.blob.read()))
        begun.spending.result = stream.result

    def _head(self, media_type: str, begun: BegunMedia) -> dict[str, str]:
        kind = "text/event-stream; charset=utf-8" if self._is_sse else media_type
        given = {"content-type": kind, "cache-control": "no-cache", "x-abstractcore-model": self._backend_model.name}
        warnings = len(self._left_out) + (0 if begun.guarding is None else len(begun.guarding.warnings))
        if warnings:
            given["x-abstractcore-warnings"] = str(warnings)
        return self._context.headers(given)

    def _piece(self, sound: bytes) -> bytes:
        if not self._is_sse:
            return sound
        return _event_bytes({"type": "speech.audio.delta", "audio": base64.b64encode(sound).decode()})

    def _end(self) -> bytes:
        return _event_bytes({"type": "speech.audio.done"}) if self._is_sse else b""

    def _error(self, error: Exception) -> bytes:
        """Returns the event of an error; a stream of bytes has none, and is cut off."""
        if not self._is_sse:
            raise error
        context = self._context
        shown = shown_error(error, context.request.trace_id, context.state.hidden_addresses)
        return b"data: " + context.dialect.failure(context.format, shown).body + b"\n\n"


def _event_bytes(data: dict[str, Any]) -> bytes:
    return b"data: " + to_json(data) + b"\n\n"


def _speech_options(data: Mapping[str, Any], backend_model: BackendModel) -> dict[str, Any]:
    voice = data.get("voice")
    if isinstance(voice, Mapping):
        raise InvalidInputError("a custom voice is not supported: send the name of a voice", path="voice")
    speed = data.get("speed")
    if speed is not None and (isinstance(speed, bool) or not isinstance(speed, int | float)):
        raise InvalidInputError("expected a number", path="speed")
    texts = {name: text_at(data, name) for name in ("voice", "language") if data.get(name) is not None}
    if texts.get("voice") == "default":
        del texts["voice"]
    return {**texts, "speed": speed, "model": backend_model.model}


def _choice(data: Mapping[str, Any], name: str, choices: tuple[str, ...], default: str) -> str:
    value = data.get(name)
    if value is None:
        return default
    if value in choices:
        return value
    raise InvalidInputError(f"expected one of {', '.join(choices)}", path=name)


_MUSIC_TEXTS = ("prompt", "lyrics", "key", "meter", "mood")
_MUSIC_NUMBERS = ("seconds", "tempo", "seed")
_MUSIC_FIELDS = frozenset({"model", "format", *_MUSIC_TEXTS, *_MUSIC_NUMBERS})


async def compose(context: RequestContext) -> WireResponse:
    """Makes a piece of music; raises `InvalidInputError` for a field that it does not have."""
    data = await context.read_object()
    unknown = sorted(data.keys() - _MUSIC_FIELDS)
    if unknown:
        raise InvalidInputError(f"there is no such field: use {', '.join(sorted(_MUSIC_FIELDS))}", path=unknown[0])
    backend_model = context.state.backend_models.find("music", text_at(data, "model"))
    texts = {name: text_at(data, name) for name in _MUSIC_TEXTS if name == "prompt" or data.get(name) is not None}
    options: dict[str, Any] = {}
    for name in _MUSIC_NUMBERS:
        value = data.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InvalidInputError("expected a number", path=name)
        options |= {} if value is None else {name: value}
    options["format"] = text_at(data, "format") if data.get("format") is not None else "mp3"
    options["timeout"] = timeout_of(context)

    async def play(begun: BegunMedia) -> MediaResult[AudioPart | DocumentPart]:
        return await backend_model.llm.music.at2m(**begun.texts, model=backend_model.model, tags=begun.tags, **options)

    result = await run_backend(context, MediaRequest(backend_model, "t2m", texts), play)
    return WireResponse(200, headers_of(context, result.part.blob.media_type, result), result.part.blob.read())
