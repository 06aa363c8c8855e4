"""Deepgram: Aura speaks, a voice is a model of its own; Nova listens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstractcore.schema import Transcript, TranscriptWord, WireRequest

from ..decoders import RawSound, SoundDecoder
from ..readers import first_of, number_of, object_of, rows_of, text_of, texts_of
from ..requests import Recording, Speech, data_post, get, json_post
from ..vendors import VendorRow
from ..words import transcript_of


class Deepgram:
    """The voice is the model: `voice` wins over `model`."""

    provider = "deepgram"

    def __init__(self, row: VendorRow) -> None:
        self.row = row

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"authorization": f"Token {key}"}

    def speech(self, asked: Speech) -> WireRequest:
        """Returns the request of speech."""
        query = [
            ("model", asked.voice),
            ("encoding", "linear16"),
            ("sample_rate", str(self.row.rate)),
            ("container", "none"),
        ]
        query += [] if asked.speed is None else [("speed", f"{asked.speed:g}")]
        return json_post("/v1/speak", {"text": asked.text}, query)

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        return RawSound(content_type)

    def voices(self, after: str) -> WireRequest:
        """Returns the request of the voices."""
        return get("/v1/models")

    def read_voices(self, fields: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
        """Returns the voices."""
        rows: list[dict[str, Any]] = []
        for row in rows_of(fields, "tts"):
            languages = texts_of(row, "languages")
            language = {"language": languages[0]} if languages else {}
            rows.append({"id": text_of(row, "canonical_name", "name"), "name": text_of(row, "name"), **language})
        return rows, ""

    def listen(self, asked: Recording) -> WireRequest:
        """Returns the request of a transcript."""
        query = [("model", asked.model), ("smart_format", "true")]
        query += [("language", asked.language)] if asked.language else [("detect_language", "true")]
        query += [("keyterm", term) for term in asked.terms]
        query += [("diarize_model", "latest")] if asked.speakers else []
        return data_post("/v1/listen", asked.data, asked.data.media_type, query)

    def transcript(self, fields: Mapping[str, Any], model: str) -> Transcript:
        """Returns the transcript in a response: that of its first channel."""
        channel = first_of(object_of(fields, "results"), "channels")
        best = first_of(channel, "alternatives")
        words = [
            TranscriptWord(
                text_of(row, "punctuated_word", "word"),
                number_of(row, "start"),
                number_of(row, "end"),
                str(row["speaker"]) if isinstance(row.get("speaker"), int) else None,
            )
            for row in rows_of(best, "words")
        ]
        seconds = number_of(object_of(fields, "metadata"), "duration")
        language = text_of(channel, "detected_language")
        return transcript_of(words, text_of(best, "transcript"), language=language, seconds=seconds, model=model)
