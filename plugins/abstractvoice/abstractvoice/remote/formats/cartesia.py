"""Cartesia: Sonic speaks as raw bytes; Ink listens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstractcore.schema import Transcript, TranscriptWord, WireRequest

from ..decoders import RawSound, SoundDecoder
from ..readers import number_of, rows_of, text_of
from ..requests import Recording, Speech, form_post, get, json_post
from ..vendors import VendorRow
from ..words import transcript_of

_PAGE = 100


class Cartesia:
    """Requests name the version of the API that they are written for."""

    provider = "cartesia"

    def __init__(self, row: VendorRow) -> None:
        self.row = row
        self._headers = {"cartesia-version": row.version}

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"authorization": f"Bearer {key}"}

    def speech(self, asked: Speech) -> WireRequest:
        """Returns the request of speech."""
        body = {
            "model_id": asked.model,
            "transcript": asked.text,
            "voice": {"id": asked.voice},
            "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": self.row.rate},
            "language": asked.language,
            "generation_config": None if asked.speed is None else {"speed": asked.speed},
        }
        return json_post("/tts/bytes", body, headers=self._headers)

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        return RawSound(content_type)

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

    def listen(self, asked: Recording) -> WireRequest:
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
