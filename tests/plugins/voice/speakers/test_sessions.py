"""The end of the program while a voice speaks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from abstractcore.stores.models import FileModelStore
from abstractvoice.speakers.voices import families

HOUR = """
import sys, threading
from pathlib import Path
import numpy as np
from abstractvoice.speakers.sessions import run, session

model, begun = session(Path(sys.argv[1]), 1), threading.Event()

class Announced:
    def run(self, *given):
        begun.set()
        return model.run(*given)

inputs = {
    "input": np.full((1, 20_000), 3, dtype=np.int64),
    "input_lengths": np.array([20_000], dtype=np.int64),
    "scales": np.array([0, 1, 0], dtype=np.float32),
}
threading.excepthook = lambda failed: print(failed.exc_value, flush=True)
threading.Thread(target=run, args=(Announced(), inputs), daemon=True).start()
assert begun.wait(60)
"""


def test_end_of_the_program_ends_speech_that_is_made(voice_models: FileModelStore) -> None:
    family = families()["piper"]
    folder: Path = voice_models.path(family["model"])
    ended = subprocess.run([sys.executable, "-c", HOUR, str(folder / family["file"])], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "speech was not processed, since the program ends" in ended.stdout
