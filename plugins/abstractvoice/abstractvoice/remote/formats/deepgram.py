"""Deepgram: Aura speaks, a voice is a model of its own; Nova listens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from abstractcore.schema import Transcript, TranscriptWord, WireRequest, WireResponse

from ..decoders import RawSound, SoundDecoder, message_fields
from ..failures import error_of
from ..readers import first_of, number_of, object_of, rows_of, text_of, texts_of
from ..requests import SpeechRecording, SpeechText, data_post, get, json_post
from ..sound_pieces import SoundPiece
from ..vendors import VendorRow
from ..words import transcript_of


class Deepgram:
    """The voice is the model: `voice` wins over `model`."""

    provider = "deepgram"
    timed = False
    times_of_chunks = False
    most_turns = 20  # so many flushes a minute are allowed: https://developers.deepgram.com/docs/tts-ws-flush
    farewell = '{"type": "Close"}'

    def __init__(self, row: VendorRow) -> None:
        self.row = row

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"authorization": f"Token {key}"}

    def speech(self, asked: SpeechText) -> WireRequest:
        """Returns the request of speech."""
        return json_post("/v1/speak", {"text": asked.text}, [*self._query(asked), ("container", "none")])

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        return RawSound(content_type)

    def connection(self, asked: SpeechText) -> WireRequest:
        """Returns the request that opens a connection, whose sound has no container."""
        return get("/v1/speak", self._query(asked))

    def messages(self, asked: SpeechText, turn: str) -> Sequence[Mapping[str, Any]]:
        """Returns the messages for a sentence."""
        return [{"type": "Speak", "text": asked.text}, {"type": "Flush"}]

    def heard(self, message: str | bytes, turn: str) -> SoundPiece | None:
        """Returns the sound of a sentence in a message. A warning is an error: a text or a flush that is refused has
        no sound.
        """
        if isinstance(message, bytes):
            return SoundPiece(message)
        fields = message_fields(message.encode())
        kind = text_of(fields, "type")
        if kind in ("Warning", "Error"):
            body = {"message": text_of(fields, "description"), "code": text_of(fields, "code")}
            raise error_of(WireResponse(400, {}, json.dumps(body).encode()))
        return SoundPiece(last=True) if kind == "Flushed" else None

    def _query(self, asked: SpeechText) -> list[tuple[str, str]]:
        query = [("model", asked.voice), ("encoding", "linear16"), ("sample_rate", str(self.row.rate))]
        return query if asked.speed is None else [*query, ("speed", f"{asked.speed:g}")]

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

    def listen(self, asked: SpeechRecording) -> WireRequest:
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
