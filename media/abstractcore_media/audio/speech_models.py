"""`SpeechModels`: Whisper models, loaded on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from abstractcore.errors import ModelStoreError
from abstractcore.ports import native_call

from ..common.extras import missing_extra
from ..common.processes import PerProcess


class _LoadedModels:
    """The models of a process, by name, and the lock under which they are loaded."""

    def __init__(self) -> None:
        self.models: dict[str, Any] = {}
        self.lock = threading.Lock()


class SpeechModels:
    """Whisper models, loaded on first use in each process; thread-safe."""

    def __init__(self) -> None:
        self._loaded = PerProcess(_LoadedModels)

    def load(self, name: str, folder_of: Callable[[str], Path], threads: int) -> Any:
        """Returns a `WhisperModel`, whose folder `folder_of` returns. Raises `ModelStoreError` if it is unavailable or
        corrupt.
        """
        try:
            from faster_whisper import WhisperModel  # pyright: ignore[reportMissingTypeStubs]
        except ImportError as error:
            raise missing_extra("Transcribing audio", "faster-whisper", "audio") from error
        loaded = self._loaded.get()
        with loaded.lock:
            if name not in loaded.models:
                path = folder_of(name)
                try:
                    # With 8-bit weights it is 40 % faster, but hears "930" for "9.30".
                    with native_call(name):
                        loaded.models[name] = WhisperModel(
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
            return loaded.models[name]
