"""ElevenLabs: streamed samples by the id of a voice; Scribe for recordings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any
from urllib.parse import quote

from abstractcore.schema import Transcript, TranscriptWord, WireRequest, WireResponse

from ..decoders import RawSound, SoundDecoder, decoded_sound, message_fields
from ..failures import error_of
from ..readers import number_of, numbers_of, object_of, rows_of, text_of, texts_of
from ..requests import SpeechRecording, SpeechText, form_post, get, json_post
from ..sound_pieces import SoundPiece, TimedText
from ..vendors import VendorRow
from ..words import transcript_of

_BEFORE = 500
"""Characters of the text before that are sent, so that the intonation goes on."""
_INACTIVE_SECONDS = 180
"""How long the vendor waits for the next text before it closes the connection; its default is 20."""


class ElevenLabs:
    """Voices have ids, which `voices` lists with their names."""

    provider = "elevenlabs"
    timed = True
    times_of_chunks = True
    most_turns = inf
    farewell = '{"close_socket": true}'

    def __init__(self, row: VendorRow) -> None:
        self.row = row

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"xi-api-key": key}

    def speech(self, asked: SpeechText) -> WireRequest:
        """Returns the request of speech."""
        body = {
            "text": asked.text,
            "model_id": asked.model,
            "language_code": asked.language,
            "voice_settings": None if asked.speed is None else {"speed": asked.speed},
            "previous_text": asked.before[-_BEFORE:] or None,
        }
        query = [("output_format", f"pcm_{self.row.rate}")]
        return json_post(f"/v1/text-to-speech/{quote(asked.voice, safe='')}/stream", body, query)

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        return RawSound(content_type)

    def connection(self, asked: SpeechText) -> WireRequest:
        """Returns the request that opens a connection of several contexts."""
        query = [
            ("model_id", asked.model),
            ("output_format", f"pcm_{self.row.rate}"),
            ("sync_alignment", "true"),
            ("inactivity_timeout", str(_INACTIVE_SECONDS)),
        ]
        query += [("language_code", asked.language)] if asked.language else []
        return get(f"/v1/text-to-speech/{quote(asked.voice, safe='')}/multi-stream-input", query)

    def messages(self, asked: SpeechText, turn: str) -> Sequence[Mapping[str, Any]]:
        """Returns the messages of a context, which ends with the sentence."""
        settings = {} if asked.speed is None else {"voice_settings": {"speed": asked.speed}}
        return [
            {"text": " ", "context_id": turn, **settings},
            {"text": f"{asked.text} ", "context_id": turn, "flush": True},
            {"context_id": turn, "close_context": True},
        ]

    def heard(self, message: str | bytes, turn: str) -> SoundPiece | None:
        """Returns the sound of a sentence in a message."""
        fields = message_fields(message if isinstance(message, bytes) else message.encode())
        if fields.get("error"):
            raise error_of(WireResponse(400, {}, json.dumps(dict(fields)).encode()))
        if text_of(fields, "contextId", "context_id") != turn:
            return None
        last = fields.get("isFinal") is True or fields.get("is_final") is True
        return SoundPiece(decoded_sound(text_of(fields, "audio")), _times(object_of(fields, "alignment")), last=last)

    def voices(self, after: str) -> WireRequest:
        """Returns the request of a page of voices."""
        return get("/v2/voices", [("page_size", "100"), *([("next_page_token", after)] if after else [])])

    def read_voices(self, fields: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
        """Returns the voices of a page, and the mark of the next one."""
        rows: list[dict[str, Any]] = []
        for row in rows_of(fields, "voices"):
            labels = object_of(row, "labels")
            known = {name: labels[name] for name in ("gender", "accent", "language", "age") if labels.get(name)}
            rows.append({"id": text_of(row, "voice_id"), "name": text_of(row, "name"), **known})
        return rows, text_of(fields, "next_page_token") if fields.get("has_more") else ""

    def listen(self, asked: SpeechRecording) -> WireRequest:
        """Returns the request of a transcript."""
        fields = [("model_id", asked.model), ("timestamps_granularity", "word")]
        fields += [("language_code", asked.language)] if asked.language else []
        fields += [("keyterms", term) for term in asked.terms]
        if asked.speakers:
            fields.append(("diarize", "true"))
            fields += [("num_speakers", str(asked.speakers))] if asked.speakers is not True else []
        return form_post("/v1/speech-to-text", fields, asked.data)

    def transcript(self, fields: Mapping[str, Any], model: str) -> Transcript:
        """Returns the transcript in a response."""
        words = [
            TranscriptWord(
                text_of(row, "text"), number_of(row, "start"), number_of(row, "end"), text_of(row, "speaker_id") or None
            )
            for row in rows_of(fields, "words")
            if row.get("type") == "word"
        ]
        seconds = number_of(fields, "audio_duration_secs")
        language = text_of(fields, "language_code")
        return transcript_of(words, text_of(fields, "text"), language=language, seconds=seconds, model=model)


def _times(alignment: Mapping[str, Any]) -> list[TimedText]:
    """Returns the characters of a message with their ends."""
    starts, durations = numbers_of(alignment, "charStartTimesMs"), numbers_of(alignment, "charDurationsMs")
    characters = texts_of(alignment, "chars")
    if not len(characters) == len(starts) == len(durations):
        return []
    return [
        TimedText(character, (start + duration) / 1000)
        for character, start, duration in zip(characters, starts, durations, strict=True)
    ]
