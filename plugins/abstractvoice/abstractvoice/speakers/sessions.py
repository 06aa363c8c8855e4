"""Models in the ONNX format, loaded once."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

from abstractcore import MediaError

from ..sound.samples import Samples


def session(file: Path, threads: int) -> Any:
    """Returns a model, loaded. It runs on `threads` threads, and may be used from several."""
    runtime = cast(Any, onnxruntime)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Optimised, Kokoro's half-precision weights overflow; unoptimised, both models are as fast or faster.
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Threads that wait without sleeping take the cores of other programs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise MediaError(f"{file.name} cannot be loaded: {error}", source=file.name) from error


_FATAL = 4  # the level of messages at which one that is ended prints nothing
_END_SECONDS = 5.0


class Runs:
    """Runs of models, which the end of the program ends: a daemon thread that came back from native code after it
    would abort the process. A forked child starts without any; there is no lock that a fork could leave locked.
    """

    def __init__(self) -> None:
        self._running: dict[threading.Event, tuple[int, Any]] = {}
        self._ended = False

    def run(self, model: Any, inputs: Mapping[str, Any]) -> Any:
        """Returns the only output of a model; raises `MediaError` if the program ends."""
        options, done = cast(Any, onnxruntime).RunOptions(), threading.Event()
        options.log_severity_level = _FATAL
        self._running[done] = os.getpid(), options
        try:
            if not self._ended:
                (made,) = model.run(None, dict(inputs), options)
                return made
        except Exception:
            if not self._ended:
                raise
        finally:
            del self._running[done]
            done.set()
        raise MediaError("speech was not made, since the program ends", source="speech")

    def end(self) -> None:
        """Ends all runs, and waits until they have ended; later ones fail."""
        self._ended = True
        latest = time.monotonic() + _END_SECONDS
        running = [(done, options) for done, (process, options) in self._running.items() if process == os.getpid()]
        for _, options in running:
            options.terminate = True
        for done, _ in running:
            done.wait(max(latest - time.monotonic(), 0))


_RUNS = Runs()
atexit.register(_RUNS.end)


def run(model: Any, inputs: Mapping[str, Any]) -> Samples:
    """Returns the sound that a model makes."""
    return np.asarray(_RUNS.run(model, inputs), dtype=np.float32).reshape(-1)


class Once:
    """Objects that are made once for each key, also if several threads ask at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Any, Any] = {}

    def get(self, key: Any, make: Any) -> Any:
        """Returns the object of `key`."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]
