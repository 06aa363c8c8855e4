"""Loads voices: once for a process, however many LLMs use them."""

from __future__ import annotations

from pathlib import Path

from .kokoro import Kokoro
from .piper import Piper
from .sessions import Once
from .speaker import Speaker, VoiceModel
from .voices import VoiceRow

_models = Once()


def speaker(voice: VoiceRow, folder: Path, threads: int, variation: float) -> Speaker:
    """Returns a voice whose weights are in `folder`. `variation`, from 0 to 1, is that of Piper's speech."""

    def load() -> VoiceModel:
        return Piper(folder, threads, variation) if voice.family == "piper" else Kokoro(folder, threads)

    return Speaker(_models.get((voice.family, folder, threads, variation), load), voice)
