"""Models in the ONNX format, and the end of the program."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstractcore import MediaError
from abstractcore.stores.models import FileModelStore
from abstractvoice.speakers.sessions import Runs, session
from abstractvoice.speakers.voices import families


class _Begun:
    """A real model that says when it is run."""

    def __init__(self, model: Any) -> None:
        self.begun = threading.Event()
        self._model = model

    def run(self, *arguments: Any) -> Any:
        self.begun.set()
        return self._model.run(*arguments)


@pytest.fixture
def model(voice_models: FileModelStore) -> _Begun:
    family = families()["piper"]
    folder: Path = voice_models.path(family["model"])
    return _Begun(session(folder / family["file"], 1))


def test_end_of_the_program_ends_speech_that_is_made_and_refuses_more(model: _Begun) -> None:
    runs = Runs()
    hour = {
        "input": np.full((1, 20_000), 3, dtype=np.int64),
        "input_lengths": np.array([20_000], dtype=np.int64),
        "scales": np.array([0, 1, 0], dtype=np.float32),
    }
    with ThreadPoolExecutor(1) as thread:
        making = thread.submit(runs.run, model, hour)
        assert model.begun.wait(60)
        runs.end()
        with pytest.raises(MediaError, match="the program ends"):
            making.result(60)
    with pytest.raises(MediaError, match="the program ends"):
        runs.run(model, hour)
