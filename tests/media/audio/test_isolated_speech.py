"""Whisper in a process of its own: the same transcript, and crashes and hangs that the program survives."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from abstractcore import (
    LLM,
    CorruptFileError,
    InvalidInputError,
    ModelStoreError,
    RequestTimeoutError,
    Services,
    create_llm,
)
from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.schema import Transcript
from abstractcore.stores.models import FileModelStore
from abstractcore.testing.sync_and_async import AsyncCalls, CallStyle, SyncCalls
from tests.backend_doubles import call
from tests.media.parts import EXAMPLES, FILES

pytestmark = [pytest.mark.process, pytest.mark.weights]

MEETING = EXAMPLES / "meeting.wav"
OPTIONS: dict[str, Any] = {"transcription_model": "whisper-tiny.en"}


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    """The processes of isolated work: one that a test has left with its model loaded is the next one's."""
    pool = ProcessPool()
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def isolated(models: FileModelStore, pool: ProcessPool) -> Iterator[LLM]:
    """An LLM that transcribes in a process of its own."""
    services = Services(models=models, isolation=pool)
    yield create_llm("scripted", replies=["a"] * 2, services=services, transcription_isolated=True, **OPTIONS)
    services.close()


def crash(*_: object) -> Generator[list[Any]]:
    os.kill(os.getpid(), signal.SIGSEGV)
    yield []


@pytest.fixture(scope="module")
def here(models: FileModelStore) -> Transcript:
    """The transcript that is made in this process."""
    services = Services(models=models)
    made = create_llm("scripted", replies=[], services=services, **OPTIONS).audio.transcribe(MEETING, words=True)
    services.close()
    return made.transcript


def test_transcript_is_that_of_this_process(isolated: LLM, here: Transcript, call_style: CallStyle):
    there = call(call_style, isolated.audio, "transcribe", MEETING, words=True)
    assert there.transcript == here
    assert there.transcript.segments[0].words


def test_file_of_a_call_is_transcribed(isolated: LLM, call_style: CallStyle):
    response = call_style.generate(isolated, "When?", media=[MEETING])
    assert "the meeting starts" in response.media[0].sent.text


@pytest.mark.parametrize(
    ("call_style", "function"), [(SyncCalls, "recognised"), (AsyncCalls, "speech_spans")], indirect=["call_style"]
)
def test_crash_is_an_error_and_the_next_call_transcribes(
    isolated: LLM, monkeypatch: pytest.MonkeyPatch, call_style: CallStyle, function: str
):
    with monkeypatch.context() as crashing:
        crashing.setattr(f"abstractcore_media.audio.isolated_speech.{function}", crash)
        with pytest.raises(CorruptFileError, match=r"meeting\.wav cannot be read: its decoder crashed \(SIGSEGV\)"):
            call(call_style, isolated.audio, "transcribe", MEETING)
    assert "meeting" in call(call_style, isolated.audio, "transcribe", MEETING).transcript.text


def test_hang_ends_at_the_time_limit(isolated: LLM, pool: ProcessPool, call_style: CallStyle):
    isolated.audio.transcribe(MEETING)
    hanging = pool.process_ids
    for process in hanging:
        os.kill(process, signal.SIGSTOP)
    with pytest.raises(RequestTimeoutError):
        call(call_style, isolated.audio, "transcribe", FILES / "speech.mp3", timeout=0.5)
    for process in {*hanging} & {*pool.process_ids}:
        os.kill(process, signal.SIGCONT)
    assert "meeting" in isolated.audio.transcribe(MEETING).transcript.text


def test_mistakes_are_the_errors_of_this_process(isolated: LLM, models: FileModelStore, tmp_path: Any):
    with pytest.raises(InvalidInputError, match=r"whisper-tiny\.en does not know the language 'fr'") as failed:
        isolated.audio.transcribe(MEETING, language="fr")
    assert failed.value.path == "language"
    (tmp_path / "model.bin").write_bytes(b"none")
    with pytest.raises(ModelStoreError):
        isolated.audio.transcribe(MEETING, model=str(tmp_path))


def test_unsupported_option_is_a_warning(isolated: LLM):
    (warning,) = isolated.audio.transcribe(MEETING, speakers=True).warnings
    assert (warning.code, warning.path) == ("unsupported_option", "speakers")
