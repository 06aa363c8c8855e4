"""What Whisper hears in speech is what was written: numbers, names, a table."""

from __future__ import annotations

import hashlib

import pytest

from abstractcore import LLM
from abstractcore.stores.models import FileModelStore
from abstractvoice.speakers.weights import packaged_models
from tests.plugins.voice.sounds import heard, word_errors, words

pytestmark = pytest.mark.weights

TEXT = """The 9:05 train from Oslo to Boston leaves on March 5, 2024 and costs $42.50.
Dr. Anna Miller lives 12 km away, at 3.5% above the average of 1,250 people.
Version 3.11.7 of **Python** was released in 2023.
The temperature fell to -5 °C on Monday, which was 10° lower than before.
Please call Peter Johnson at 14:30, or write to him by 6 pm.
About 2/3 of the 709,037 people in Oslo use public transport.
On June 21st, 1,000 runners ran 10 km in under 55 minutes.
Mr. Smith paid €3 billion for it.
We tested it with 16 GB of memory; see [the report](https://example.com/report).
From 1998 to 2024 they built 35 houses.

| City | People | Area |
|---|---|---|
| Oslo | 709,037 | 454 km² |
| London | 291,940 | 465 km² |
"""


def test_numbers_names_and_a_table_are_understood(speaking: LLM, models: FileModelStore) -> None:
    result = speaking.voice.tts(TEXT)
    expected = words(result.part.transcript or "")
    found = heard(result.part.blob.read(), str(models.path("whisper-base")))
    assert len(expected) > 150
    assert word_errors(expected, found) <= 0.05 * len(expected), " ".join(found)


def test_voice_with_styles_is_understood(speaking: LLM, models: FileModelStore) -> None:
    result = speaking.voice.tts("The train leaves at nine thirty.", voice="heart")
    assert result.model == "kokoro-82m"
    found = heard(result.part.blob.read(), str(models.path("whisper-base")))
    assert found == ["the", "train", "leaves", "at", "nine", "thirty"]


@pytest.mark.process
def test_speech_is_heard_by_the_same_object(speaking: LLM) -> None:
    said = speaking.voice.tts("Hello there, how are you today?", format="opus")
    heard_text = speaking.voice.stt(said.part, language="en").text
    assert words(heard_text) == words("Hello there, how are you today?")


def test_real_weights_are_downloaded_completely(voice_models: FileModelStore) -> None:
    for model in packaged_models():
        folder = voice_models.path(model.name)
        for file in model.files:
            with (folder / file.name).open("rb") as weights:
                assert hashlib.file_digest(weights, "sha256").hexdigest() == file.sha256
            assert (folder / file.name).stat().st_size == file.size == sum(part.size for part in file.parts)
