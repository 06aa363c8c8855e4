"""Gemini's models for speech: events of streamGenerateContent with samples in base64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from abstractcore import ContentFilterError, UnexpectedResponseError, Usage
from abstractcore.schema import WireRequest

from ..decoders import SoundDecoder, SoundEvents
from ..readers import count_of, first_of, object_of, rows_of, text_of
from ..requests import SpeechText, json_post
from ..vendors import VendorRow

_COMPLETE = ("STOP", "MAX_TOKENS")


class GeminiSpeech:
    """A style is metadata of the text, so that it is not read out."""

    provider = "google"

    def __init__(self, row: VendorRow) -> None:
        self.row = row

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"x-goog-api-key": key}

    def speech(self, asked: SpeechText) -> WireRequest:
        """Returns the request of speech."""
        style = {"speechMetadata": {"style": asked.instructions}} if asked.instructions else {}
        voice: dict[str, Any] = {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": asked.voice}}}
        language = {"languageCode": asked.language} if asked.language else {}
        body = {
            "contents": [{"role": "user", "parts": [{"text": asked.text, **style}]}],
            "generationConfig": {"responseModalities": ["AUDIO"], "speechConfig": {**voice, **language}},
        }
        path = f"/models/{quote(asked.model, safe='')}:streamGenerateContent"
        return json_post(path, body, [("alt", "sse")])

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        return SoundEvents(content_type, _event)


def _event(fields: Mapping[str, Any]) -> tuple[Sequence[str], Usage | None, bool]:
    blocked = text_of(object_of(fields, "promptFeedback"), "blockReason")
    if blocked:
        raise ContentFilterError(f"the text was blocked: {blocked}")
    candidate = first_of(fields, "candidates")
    reason = text_of(candidate, "finishReason")
    if reason and reason not in _COMPLETE:
        kind = UnexpectedResponseError if reason == "OTHER" else ContentFilterError
        raise kind(f"the speech ended early: {reason}")
    parts = rows_of(object_of(candidate, "content"), "parts")
    encoded = [text_of(object_of(part, "inlineData"), "data") for part in parts]
    counts = object_of(fields, "usageMetadata")
    usage = Usage(count_of(counts, "promptTokenCount"), count_of(counts, "candidatesTokenCount")) if counts else None
    return encoded, usage, bool(reason)
