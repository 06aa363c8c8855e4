"""`POST /v1/audio/music`: music from a text. OpenAI's API has no such route; this one has the shape of its speech."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import AudioPart, DocumentPart, MediaResult, WireResponse

from .dialects.base import text_at
from .exchange import Exchange
from .made_media import BegunMedia, MediaRequest, headers_of, made, timeout_of

_TEXTS = ("prompt", "lyrics", "key", "meter", "mood")
_NUMBERS = ("seconds", "tempo", "seed")
_FIELDS = frozenset({"model", "format", *_TEXTS, *_NUMBERS})


async def compose(exchange: Exchange) -> WireResponse:
    """Makes a piece of music; raises `InvalidInputError` for a field that it does not have."""
    data = await exchange.read_object()
    unknown = sorted(data.keys() - _FIELDS)
    if unknown:
        raise InvalidInputError(f"there is no such field: use {', '.join(sorted(_FIELDS))}", path=unknown[0])
    maker = exchange.state.makers.find("music", text_at(data, "model"))
    texts = {name: text_at(data, name) for name in _TEXTS if name == "prompt" or data.get(name) is not None}
    options: dict[str, Any] = {}
    for name in _NUMBERS:
        value = data.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InvalidInputError("expected a number", path=name)
        options |= {} if value is None else {name: value}
    options["format"] = text_at(data, "format") if data.get("format") is not None else "mp3"
    options["timeout"] = timeout_of(exchange)

    async def play(begun: BegunMedia) -> MediaResult[AudioPart | DocumentPart]:
        return await maker.llm.music.at2m(**begun.texts, model=maker.model, tags=begun.tags, **options)

    result = await made(exchange, MediaRequest(maker, "t2m", texts), play)
    return WireResponse(200, headers_of(exchange, result.part.blob.media_type, result), result.part.blob.read())
