"""`llm.audio.transcribe` without a plugin: the core's own speech recognition."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Blob,
    CallProgress,
    File,
    InvalidInputError,
    MediaError,
    Services,
    UnknownProviderError,
    create_llm,
)
from abstractcore.ports import ModelStore
from abstractcore.testing import CallStyle
from tests.backend_doubles import PNG, call
from tests.media.parts import EXAMPLES
from tests.providers.strict_fakes.transcriptions import Said, transcription_server

pytestmark = pytest.mark.weights

MEETING = EXAMPLES / "meeting.wav"
LOCAL = "abstractcore:local"


@pytest.fixture(scope="module")
def llm(models: ModelStore) -> Iterator[LLM]:
    services = Services(models=models, environment={})
    yield create_llm(
        "scripted", replies=[], services=services, audio_backend=LOCAL, transcription_model="whisper-tiny.en"
    )
    services.close()


@pytest.mark.process
def test_recording_is_transcribed_with_its_times(call_style: CallStyle, llm: LLM):
    seen: list[CallProgress] = []
    result = call(call_style, llm.audio, "transcribe", MEETING, words=True, on_progress=seen.append)
    assert "budget report" in result.text
    assert (result.backend, result.model, result.cost, result.warnings) == (LOCAL, "whisper-tiny.en", Decimal(0), ())
    assert result.transcript.seconds == pytest.approx(7.06, abs=0.1)
    words = [word for segment in result.transcript.segments for word in segment.words]
    assert words[0].text.strip().lower().startswith("good")
    assert all(word.start is not None for word in words)
    assert (seen[-1].done, seen[-1].what) == (result.transcript.seconds, "seconds")


def test_part_of_a_recording_is_transcribed(call_style: CallStyle, llm: LLM):
    whole = call(call_style, llm.audio, "transcribe", MEETING.read_bytes())
    beginning = call(call_style, llm.audio, "transcribe", File(MEETING, end=3.0))
    assert whole.text.startswith(beginning.text[:12])
    assert len(beginning.text) < len(whole.text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "xx-!"}, r"language: expected a language code, got 'xx-!'"),
        ({"terms": "Ann"}, r"terms: expected a list of texts, got 'Ann'"),
    ],
)
def test_invalid_argument_is_named(call_style: CallStyle, llm: LLM, options: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=f"^{LOCAL}.*{message}|^{message}"):
        call(call_style, llm.audio, "transcribe", MEETING, **options)


def test_speakers_are_not_told_apart_with_a_warning(call_style: CallStyle, llm: LLM):
    result = call(call_style, llm.audio, "transcribe", MEETING, speakers=True)
    assert [(each.code, each.path) for each in result.warnings] == [("unsupported_option", "speakers")]


def test_damaged_recording_is_a_media_error(call_style: CallStyle, llm: LLM):
    with pytest.raises(MediaError):
        call(call_style, llm.audio, "transcribe", Blob.from_bytes(PNG, "audio/mpeg"))


@pytest.mark.process
def test_model_of_a_provider_transcribes_with_its_cost_and_record(call_style: CallStyle, models: ModelStore):
    said = Said(segments=[(0.0, 3.0, "Good morning.", "A"), (3.0, 7.0, "Room 12.", "B")])
    records: list[Any] = []
    with transcription_server(lambda heard: said) as server:
        environment = {"OPENAI_API_KEY": "key-1", "OPENAI_BASE_URL": server.url}
        services = Services(models=models, environment=environment)
        by = create_llm("mistral", model="voxtral-mini-2602", base_url=server.url, api_key="k", services=services)
        llm = create_llm("scripted", replies=[], transcription_model=by, services=services, audio_backend=LOCAL)
        with services.records.subscribe(records.append):
            result = call(call_style, llm.audio, "transcribe", MEETING, speakers=True)
        other = call(call_style, llm.audio, "transcribe", MEETING, model="openai/whisper-1")
    assert [(each.speaker, each.text) for each in result.transcript.segments] == [
        ("Speaker 1", "Good morning."),
        ("Speaker 2", "Room 12."),
    ]
    cost = (Decimal("0.18") * 7 / 3600).quantize(Decimal("1E-12"))
    assert (result.model, result.cost, other.model) == ("mistral/voxtral-mini-2602", cost, "openai/whisper-1")
    request, made = records
    assert (request.parent_id, request.cost, made.cost) == (made.trace_id, cost, 0)
    services.close()


@pytest.mark.process
def test_model_of_an_unknown_provider_is_an_error(call_style: CallStyle, llm: LLM):
    with pytest.raises(UnknownProviderError, match="openai"):
        call(call_style, llm.audio, "transcribe", MEETING, model="opnai/whisper-1")
