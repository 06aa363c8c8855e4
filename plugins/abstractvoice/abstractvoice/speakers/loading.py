"""Loads voices: once for a process, however many LLMs use them."""

from __future__ import annotations

from pathlib import Path

from abstractcore.ports import Isolation

from .kokoro import Kokoro
from .piper import Piper
from .sessions import IsolatedSession, LoadSession, PerProcessCache, UnisolatedSession
from .speaker import Speaker, VoiceModel
from .voices import VoiceRow

_models = PerProcessCache()


def speaker(
    voice: VoiceRow, folder: Path, threads: int, variation: float, isolation: Isolation | None = None
) -> Speaker:
    """Returns a voice whose weights are in `folder`. `variation`, from 0 to 1, is that of Piper's speech. With
    `isolation` its model runs in a process of its own.
    """

    def loaded(load: LoadSession) -> VoiceModel:
        return Piper(folder, load, variation) if voice.family == "piper" else Kokoro(folder, load)

    if isolation is not None:
        return Speaker(loaded(lambda file: IsolatedSession(file, threads, isolation)), voice)
    model = _models.get(
        (voice.family, folder, threads, variation), lambda: loaded(lambda file: UnisolatedSession(file, threads))
    )
    return Speaker(model, voice)
