"""OpenAI's `/audio/speech`, which many servers have: raw samples, or events where the model has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from abstractcore import Usage
from abstractcore.schema import WireRequest, WireResponse

from ..decoders import RawSound, SoundDecoder, SoundEvents
from ..failures import error_of
from ..readers import count_of, object_of, text_of
from ..requests import SpeechText, json_post
from ..vendors import VendorRow


class OpenAISpeech:
    """Events have the counts of tokens that are charged; servers that know no events send samples all the same."""

    provider = "openai"

    def __init__(self, row: VendorRow) -> None:
        self.row = row

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"authorization": f"Bearer {key}"}

    def speech(self, asked: SpeechText) -> WireRequest:
        """Returns the request of speech."""
        body = {
            "model": asked.model,
            "input": asked.text,
            "voice": asked.voice,
            "response_format": "pcm",
            "speed": asked.speed,
            "instructions": asked.instructions,
            "stream_format": None if asked.model in self.row.models_without_events else "sse",
        }
        return json_post("/audio/speech", body)

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        if content_type.startswith("text/event-stream"):
            return SoundEvents(content_type, _event)
        return RawSound(content_type)


def _event(fields: Mapping[str, Any]) -> tuple[Sequence[str], Usage | None, bool]:
    kind = fields.get("type")
    if kind == "speech.audio.delta":
        return [text_of(fields, "audio")], None, False
    if kind == "speech.audio.done":
        counts = object_of(fields, "usage")
        return [], Usage(count_of(counts, "input_tokens"), count_of(counts, "output_tokens")), True
    if "error" in fields or kind == "error":
        raise error_of(WireResponse(500, {}, json.dumps(dict(fields)).encode()))
    return [], None, False
