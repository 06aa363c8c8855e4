"""Speech to text with Whisper, by faster-whisper. Loads a model once and keeps it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from abstractcore.errors import MediaError, ModelStoreError

from ..common.extras import missing_extra

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext, ModelStore

    from .sound import Sound


class Transcriber:
    """Whisper models, loaded on first use; thread-safe."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}
        self._lock = threading.Lock()

    def transcribe(self, sound: Sound, source: str, model: str, context: MediaContext) -> str:
        """Returns the transcript of `sound`; empty if there is no speech.

        Deterministic on one machine: nothing is sampled. Raises `ModelStoreError` if the model is unavailable or
        corrupt, `MediaError` if the transcription fails.
        """
        whisper = self._model(model, context.models, context.spare_cores)
        try:
            # Silence is removed first (vad_filter): Whisper hears "You" in it, and in a tone "Beep" a hundred times.
            segments, _ = whisper.transcribe(sound.samples, beam_size=5, temperature=0.0, vad_filter=True)
            return "".join(segment.text for segment in segments).strip()
        except (RuntimeError, ValueError) as error:
            raise MediaError(f"{source} cannot be transcribed: {error}", source=source) from error

    def _model(self, name: str, store: ModelStore, threads: int) -> Any:
        try:
            from faster_whisper import WhisperModel  # pyright: ignore[reportMissingTypeStubs]
        except ImportError as error:
            raise missing_extra("Transcribing audio", "faster-whisper", "audio") from error
        with self._lock:
            if name not in self._loaded:
                path = store.path(name)
                try:
                    # With 8-bit weights it is 40 % faster, but hears "930" for "9.30".
                    self._loaded[name] = WhisperModel(
                        str(path),
                        device="cpu",
                        compute_type="float32",
                        cpu_threads=threads,
                        local_files_only=True,
                    )
                except (RuntimeError, ValueError, OSError) as error:
                    raise ModelStoreError(
                        f"The speech model {name} cannot be loaded from {path}.",
                        hint="Remove it from the model store, so that it is downloaded again.",
                    ) from error
            return self._loaded[name]
