"""Models in the ONNX format, loaded once."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

from abstractcore import MediaError
from abstractcore.ports import native_call

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
        with native_call(file.name):
            return runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise MediaError(f"{file.name} cannot be loaded: {error}", source=file.name) from error


_FATAL = 4  # the level of messages at which one that is ended prints nothing


def run(model: Any, inputs: Mapping[str, Any]) -> Samples:
    """Returns the sound that a model makes, its only output; raises `MediaError` if the program ends."""
    options = cast(Any, onnxruntime).RunOptions()
    options.log_severity_level = _FATAL
    with native_call("speech", stop=partial(setattr, options, "terminate", True)):
        (made,) = model.run(None, dict(inputs), options)
    return np.asarray(made, dtype=np.float32).reshape(-1)


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
