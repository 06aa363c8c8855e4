"""`VoiceSession`: a model in the ONNX format, loaded once, in this process or in one of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from abstractcore import CorruptFileError, MediaError
from abstractcore.ports import Isolation, native_call

from ..sound.samples import Samples

Inputs: TypeAlias = Mapping[str, np.ndarray[Any, Any]]
_FATAL = 4  # the level of messages at which one that is ended prints nothing
_MOST_SECONDS = 120.0
"""The longest piece of speech takes half of that on a slow core."""


class VoiceSession(Protocol):
    """A model that makes sound."""

    def run(self, inputs: Inputs) -> Samples:
        """Returns the sound, the only output of the model; raises `MediaError`."""
        ...


LoadSession: TypeAlias = Callable[[Path], VoiceSession]


class UnisolatedSession:
    """A model that is loaded here. It runs on `threads` threads, and may be used from several."""

    def __init__(self, file: Path, threads: int) -> None:
        import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

        self._runtime = runtime = cast(Any, onnxruntime)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Optimised, Kokoro's half-precision weights overflow; unoptimised, both models are as fast or faster.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # Threads that wait without sleeping take the cores of other programs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            with native_call(file.name):
                self._model = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise MediaError(f"{file.name} cannot be loaded: {error}", source=file.name) from error

    def run(self, inputs: Inputs) -> Samples:
        """Returns the sound; raises `MediaError` if the program ends."""
        options = self._runtime.RunOptions()
        options.log_severity_level = _FATAL
        with native_call("speech", stop=partial(setattr, options, "terminate", True)):
            (made,) = self._model.run(None, dict(inputs), options)
        return np.asarray(made, dtype=np.float32).reshape(-1)


class IsolatedSession:
    """A model that runs in a process of its own, which may crash or hang, and ends some time after its last use."""

    def __init__(self, file: Path, threads: int, isolation: Isolation) -> None:
        self._file = file
        self._threads = threads
        self._isolation = isolation

    def run(self, inputs: Inputs) -> Samples:
        """Returns the sound; raises `MediaError` if the process crashes or takes too long."""
        arguments = self._file, self._threads, dict(inputs)
        run = self._isolation.run(sound_of, arguments, source=self._file.name, seconds=_MOST_SECONDS, timeout=None)
        try:
            (made,) = run
        except CorruptFileError as error:
            raise MediaError(
                f"No speech was made: the process that runs {self._file.name} has crashed, or did not answer.",
                source=self._file.name,
                hint="Try again: the next call starts another process.",
            ) from error
        return np.frombuffer(made, dtype=np.float32)


def sound_of(file: Path, threads: int, inputs: Inputs) -> Generator[bytes]:
    """Yields the sound that a model makes, in a process of `Isolation`, where it stays loaded."""
    yield _sessions.get((file, threads), partial(UnisolatedSession, file, threads)).run(inputs).tobytes()


class PerProcessCache:
    """Objects that are made once for each key in each process, also if several threads ask at the same time.

    A forked process has a copy of the lock, but not of the thread that may hold it, nor of the threads of a model.
    """

    def __init__(self) -> None:
        self._of_process: dict[int, tuple[threading.Lock, dict[Any, Any]]] = {}

    def get(self, key: Any, make: Any) -> Any:
        """Returns the object of `key`."""
        process = os.getpid()
        found = self._of_process.get(process)
        lock, made = found or self._of_process.setdefault(process, (threading.Lock(), {}))
        with lock:
            if key not in made:
                made[key] = make()
            return made[key]


_sessions = PerProcessCache()
