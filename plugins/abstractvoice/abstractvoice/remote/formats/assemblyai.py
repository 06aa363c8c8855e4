"""AssemblyAI: a recording is uploaded, transcribed as a job, and asked for until it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from abstractcore.schema import Transcript, TranscriptWord, WireRequest

from ..readers import number_of, rows_of, text_of
from ..requests import SpeechRecording, data_post, get, json_post
from ..vendors import VendorRow
from ..words import transcript_of


class AssemblyAI:
    """Times are in milliseconds there."""

    provider = "assemblyai"

    def __init__(self, row: VendorRow) -> None:
        self.row = row

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        return {"authorization": key}

    def upload(self, asked: SpeechRecording) -> WireRequest:
        """Returns the request that uploads a recording."""
        return data_post("/v2/upload", asked.data, "application/octet-stream")

    def start(self, asked: SpeechRecording, url: str) -> WireRequest:
        """Returns the request that starts the job for an uploaded recording."""
        body: dict[str, Any] = {
            "audio_url": url,
            "language_code": asked.language,
            "language_detection": None if asked.language else True,
            "speech_models": [asked.model] if asked.model else None,
            "keyterms_prompt": list(asked.terms) or None,
            "speaker_labels": True if asked.speakers else None,
            "speakers_expected": asked.speakers if asked.speakers and asked.speakers is not True else None,
        }
        return json_post("/v2/transcript", body)

    def state(self, job: str) -> WireRequest:
        """Returns the request for the state of a job."""
        return get(f"/v2/transcript/{quote(job, safe='')}")

    def transcript(self, fields: Mapping[str, Any]) -> Transcript:
        """Returns the transcript of a job that is done."""
        words = [
            TranscriptWord(
                text_of(row, "text"), _seconds(row, "start"), _seconds(row, "end"), text_of(row, "speaker") or None
            )
            for row in rows_of(fields, "words")
        ]
        return transcript_of(
            words,
            text_of(fields, "text"),
            language=text_of(fields, "language_code"),
            seconds=number_of(fields, "audio_duration"),
            model=text_of(fields, "speech_model_used"),
        )


def _seconds(row: Mapping[str, Any], name: str) -> float | None:
    value = number_of(row, name)
    return None if value is None else value / 1000
