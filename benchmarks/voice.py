"""Speech relative to the voice and to faster-whisper alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from faster_whisper import WhisperModel  # pyright: ignore[reportMissingTypeStubs]
from rounds import Row, Setup, best

from abstractcore import LLM, Services, create_llm
from abstractcore.ports import Conversion
from abstractcore.stores.models import PACKAGED_MODELS, FileModelStore
from abstractvoice.sound.encoding import Encoder
from abstractvoice.sound.formats import format_named
from abstractvoice.speakers.english import Lexicon, pronounced
from abstractvoice.speakers.loading import speaker
from abstractvoice.speakers.voices import VoiceRow, voice_named
from abstractvoice.speakers.weights import packaged_models
from abstractvoice.text import speakable

SENTENCE = "The 9:05 train from Oslo to Bergen leaves on March 5, 2024 and costs $42.50."
RECORDING = Path(__file__).parents[1] / "examples" / "media" / "meeting.wav"
WHISPER = "whisper-tiny.en"
_GOAL = 1.05
_FIRST_SOUND_SECONDS = 0.3


class NothingKept:
    """A store of conversions that keeps nothing, so that each round transcribes."""

    def get(self, key: str) -> Conversion | None:
        return None

    def put(self, key: str, conversion: Conversion) -> None: ...


def voices(setup: Setup) -> list[Row]:
    """Speaking relative to the voice alone, transcribing relative to faster-whisper alone, and the first sound of the
    first whole sentence. Wall time.
    """
    row = voice_named("joe")
    store = FileModelStore(packaged=(*PACKAGED_MODELS, *packaged_models()))
    services = Services(models=store, conversions=NothingKept())
    options: dict[str, Any] = {"voice_variation": 0, "transcription_model": WHISPER}
    llm = create_llm("scripted", replies=[], services=services, **options)
    alone: dict[str, Any] = {"voice_isolated": True, "transcription_isolated": True}
    isolated = create_llm("scripted", replies=[], services=services, **alone, **options)
    works: dict[str, Callable[[], object]] = {
        "voice": voice_itself(row, store, services.spare_cores),
        "tts": lambda: llm.voice.tts(SENTENCE),
        "isolated": lambda: isolated.voice.tts(SENTENCE),
        "first": lambda: first_sound(llm),
        "whisper": whisper_itself(store, services.spare_cores),
        "transcribe": lambda: llm.audio.transcribe(RECORDING),
        "isolated transcribe": lambda: isolated.audio.transcribe(RECORDING),
    }
    times = best({name: wall_seconds(work) for name, work in works.items()}, setup.rounds)
    services.close()
    return [
        Row("voice.tts / the voice", times["tts"], times["voice"], _GOAL),
        Row("voice.tts, isolated / the voice", times["isolated"], times["voice"]),
        Row("voice.tts_stream: first sound", times["first"], goal=_FIRST_SOUND_SECONDS),
        Row("audio.transcribe / faster-whisper", times["transcribe"], times["whisper"], _GOAL),
        Row("audio.transcribe, isolated / faster-whisper", times["isolated transcribe"], times["whisper"]),
    ]


def voice_itself(row: VoiceRow, store: FileModelStore, threads: int) -> Callable[[], object]:
    """Returns what says the sentence by the model alone."""
    voice = speaker(row, store.path(row.model), threads, 0)
    (utterance,) = speakable(SENTENCE)
    words, _ = pronounced(utterance.text, Lexicon.load())
    symbols = [symbol for word in voice.model.symbols(words) for symbol in word]

    def say() -> None:
        encoder = Encoder(format_named("wav"), voice.rate, whole=True)
        encoder.feed(np.asarray(voice.model.sound(symbols, row, 1.0)))
        encoder.finish()

    return say


def whisper_itself(store: FileModelStore, threads: int) -> Callable[[], object]:
    """Returns what transcribes the recording by faster-whisper alone, with the same settings."""
    model: Any = WhisperModel(
        str(store.path(WHISPER)), device="cpu", compute_type="float32", cpu_threads=threads, local_files_only=True
    )
    settings: dict[str, Any] = {"beam_size": 5, "temperature": 0.0, "condition_on_previous_text": False}

    def transcribe() -> None:
        segments, _ = model.transcribe(str(RECORDING), vad_filter=True, language="en", **settings)
        list(segments)

    return transcribe


def first_sound(llm: LLM) -> None:
    """Reads the first part of a stream."""
    with llm.voice.tts_stream(SENTENCE) as stream:
        next(stream)


def wall_seconds(work: Callable[[], object]) -> Callable[[], float]:
    """Returns a batch: the time of one run."""

    def batch() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return batch
