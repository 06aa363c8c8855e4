"""Speech, as OpenAI's API has it, and music."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import AudioPart, DocumentPart, MediaResult, WireResponse

from ..client_connection import ClientConnection, ClientGone
from ..context import Reply, RequestContext
from ..dialects.base import text_at
from ..failures import shown_error
from .backends import BackendModel, BegunMedia, MediaRequest, begun_media, headers_of, run_backend, timeout_of

_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
_TEXTS = ("input", "instructions")
_FIELDS = frozenset(
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
        texts = {name: text_at(data, name) for name in _TEXTS if name == "input" or data.get(name) is not None}
        self._request = MediaRequest(backend_model, "tts_stream", texts)
        self._format = _choice(data, "response_format", tuple(_TYPES), "mp3")
        self._is_sse = _choice(data, "stream_format", ("audio", "sse"), "audio") == "sse"
        self._options = _options(data, backend_model)
        self._left_out = sorted(data.keys() - _FIELDS)

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the speech; raises the error of one that has not begun."""
        async with self._context.state.drains.watched(connection, "cancel"):
            try:
                async with begun_media(self._context, self._request) as begun:
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
        told = dict(begun.texts)
        text = told.pop("input")
        options: dict[str, Any] = {**self._options, **told, "tags": begun.tags}
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
        return _event({"type": "speech.audio.delta", "audio": base64.b64encode(sound).decode()})

    def _end(self) -> bytes:
        return _event({"type": "speech.audio.done"}) if self._is_sse else b""

    def _error(self, error: Exception) -> bytes:
        """Returns the event of an error; a stream of bytes has none, and is cut off."""
        if not self._is_sse:
            raise error
        context = self._context
        shown = shown_error(error, context.request.trace_id, context.state.hidden)
        return b"data: " + context.dialect.failure(context.format, shown).body + b"\n\n"


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + to_json(data) + b"\n\n"


def _options(data: Mapping[str, Any], backend_model: BackendModel) -> dict[str, Any]:
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
_NUMBERS = ("seconds", "tempo", "seed")
_MUSIC_FIELDS = frozenset({"model", "format", *_MUSIC_TEXTS, *_NUMBERS})


async def compose(context: RequestContext) -> WireResponse:
    """Makes a piece of music; raises `InvalidInputError` for a field that it does not have."""
    data = await context.read_object()
    unknown = sorted(data.keys() - _MUSIC_FIELDS)
    if unknown:
        raise InvalidInputError(f"there is no such field: use {', '.join(sorted(_MUSIC_FIELDS))}", path=unknown[0])
    backend_model = context.state.backend_models.find("music", text_at(data, "model"))
    texts = {name: text_at(data, name) for name in _MUSIC_TEXTS if name == "prompt" or data.get(name) is not None}
    options: dict[str, Any] = {}
    for name in _NUMBERS:
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
