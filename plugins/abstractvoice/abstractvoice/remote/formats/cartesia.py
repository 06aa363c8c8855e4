"""Cartesia: Sonic speaks as raw bytes; Ink listens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from abstractcore.schema import Transcript, TranscriptWord, WireRequest, WireResponse

from ..decoders import RawSound, SoundDecoder, decoded_sound, message_fields
from ..failures import error_of
from ..readers import count_of, number_of, numbers_of, object_of, rows_of, text_of, texts_of
from ..requests import SpeechRecording, SpeechText, form_post, get, json_post
from ..sound_pieces import SoundPiece, TimedText
from ..vendors import VendorRow
from ..words import transcript_of

_PAGE = 100


class Cartesia:
    """Requests name the version of the API that they are written for."""

    provider = "cartesia"
    timed = True
    times_of_chunks = False
    most_turns = inf
    farewell = ""

    def __init__(self, row: VendorRow) -> None:
        self.row = row
        self._headers = {"cartesia-version": row.version}

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"authorization": f"Bearer {key}"}

    def speech(self, asked: SpeechText) -> WireRequest:
        """Returns the request of speech."""
        return json_post("/tts/bytes", self._body(asked), headers=self._headers)

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        return RawSound(content_type)

    def connection(self, asked: SpeechText) -> WireRequest:
        """Returns the request that opens a connection."""
        return get("/tts/websocket", headers=self._headers)

    def messages(self, asked: SpeechText, turn: str) -> Sequence[Mapping[str, Any]]:
        """Returns the message of a context, which ends with the sentence: a context expires a second after its last
        sound, and the next sentence may be written later.
        """
        body = {name: value for name, value in self._body(asked).items() if value is not None}
        return [{**body, "context_id": turn, "continue": False, "add_timestamps": True}]

    def heard(self, message: str | bytes, turn: str) -> SoundPiece | None:
        """Returns the sound of a sentence in a message."""
        fields = message_fields(message if isinstance(message, bytes) else message.encode())
        kind, context = text_of(fields, "type"), text_of(fields, "context_id")
        if kind == "error" and context in ("", turn):
            raise error_of(WireResponse(count_of(fields, "status_code") or 400, {}, json.dumps(dict(fields)).encode()))
        if context != turn:
            return None
        if kind == "timestamps":
            return SoundPiece(times=_times(object_of(fields, "word_timestamps")))
        samples = decoded_sound(text_of(fields, "data")) if kind == "chunk" else b""
        return SoundPiece(samples, last=fields.get("done") is True)

    def _body(self, asked: SpeechText) -> dict[str, Any]:
        return {
            "model_id": asked.model,
            "transcript": asked.text,
            "voice": {"id": asked.voice},
            "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": self.row.rate},
            "language": asked.language,
            "generation_config": None if asked.speed is None else {"speed": asked.speed},
        }

    def voices(self, after: str) -> WireRequest:
        """Returns the request of a page of voices."""
        query = [("limit", str(_PAGE)), *([("starting_after", after)] if after else [])]
        return get("/voices", query, headers=self._headers)

    def read_voices(self, fields: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
        """Returns the voices of a page, and the mark of the next one."""
        rows = [
            {name: text_of(row, name) for name in ("id", "name", "language", "gender") if text_of(row, name)}
            for row in rows_of(fields, "data")
        ]
        return rows, str(rows[-1].get("id", "")) if len(rows) >= _PAGE else ""

    def listen(self, asked: SpeechRecording) -> WireRequest:
        """Returns the request of a transcript."""
        fields = [("model", asked.model), ("timestamp_granularities[]", "word")]
        fields += [("language", asked.language)] if asked.language else []
        return form_post("/stt", fields, asked.data, headers=self._headers)

    def transcript(self, fields: Mapping[str, Any], model: str) -> Transcript:
        """Returns the transcript in a response."""
        words = [
            TranscriptWord(text_of(row, "word"), number_of(row, "start"), number_of(row, "end"))
            for row in rows_of(fields, "words")
        ]
        return transcript_of(
            words,
            text_of(fields, "text"),
            language=text_of(fields, "language"),
            seconds=number_of(fields, "duration"),
            model=model,
        )


def _times(found: Mapping[str, Any]) -> list[TimedText]:
    """Returns words with their ends, in seconds from the beginning of the context."""
    words, ends = texts_of(found, "words"), numbers_of(found, "end")
    return [TimedText(word, end) for word, end in zip(words, ends, strict=True)] if len(words) == len(ends) else []
