"""Commands that make files, on a disk that takes no more: an error that names the file, and nothing half-written.

The system refuses each write beyond ten bytes to a file (`RLIMIT_FSIZE`), as it does on a full disk.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from abstractcore.stores.models import PACKAGED_MODELS, FileModelStore
from abstractcore.testing.http_server import ScriptedServer
from abstractvoice.speakers.weights import packaged_models
from tests.chaos_server import streamed
from tests.media.parts import EXAMPLES

COMMAND = """
import resource, sys
from abstractcore.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of the size of files")
@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("speak 'It costs $5.' -o a.wav", "a.wav"),
        ("speak 'It costs $5.' -o a.mp3", "a.mp3"),
        ("transcribe {meeting} --backend-model whisper-tiny.en -o a.srt", "a.srt"),
        ("draw 'a red house' -o a.png", "a.png"),
        ("draw 'a red house' -o a.svg", "a.svg"),
        ("compose 'a calm waltz' --backend rules --seconds 2 -o a.wav", "a.wav"),
        ("compose 'a calm waltz' --backend rules --seconds 2 --also stems --also midi -o a.flac", "a.flac"),
        ("talk --input {meeting} --output a.wav --listen-model whisper-tiny.en {model}", "a.wav"),
    ],
)
def test_nothing_is_half_written(
    server: ScriptedServer, models: FileModelStore, tmp_path: Path, command: str, file: str
):
    store = FileModelStore(models.root, packaged=(*PACKAGED_MODELS, *packaged_models()))
    for weights in ("piper-joe", "whisper-tiny.en"):
        assert store.path(weights).exists()
    server.script(streamed("It is at ", "9:30. Bye."))
    model = f"--provider openai-compatible/m --base-url {server.url}/v1"
    arguments = shlex.split(command.format(meeting=EXAMPLES / "meeting.wav", model=model))
    environment = {**os.environ, "ABSTRACTCORE_CACHE": str(models.root.parent.resolve())}
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (ended.returncode, list(tmp_path.iterdir())) == (2, []), ended.stderr
    assert f"error: {file} cannot be written: File too large." in ended.stderr
    assert "Traceback" not in ended.stderr
