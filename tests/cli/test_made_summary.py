"""The summary below what a backend made."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from abstractcore import AudioPart, Blob, MediaResult
from abstractcore.capabilities.result_verification import compare_texts
from abstractcore_cli.output_files import media_summary
from abstractcore_cli.reporting import media_json


def test_verified_speech_shows_how_many_words_differ():
    part = AudioPart(Blob.from_bytes(b"RIFF", "audio/wav"))
    heard = compare_texts("Good evening, everyone, it is late", "good morning everyone it is very late")
    result = MediaResult(parts=(part,), backend="tests:voice", cost=Decimal(0), verification=heard)
    first, _ = media_summary(result)
    assert first == "verified: 2 of 6 words differ: evening -> morning; - -> very"
    made = json.loads(media_json(result, []))
    assert (made["verification"]["errors"], made["word_error_rate"]) == (2, pytest.approx(1 / 3))
