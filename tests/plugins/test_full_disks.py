"""Commands that make files, on a disk that takes no more: an error that names the file, and nothing half-written.

The system refuses each write beyond ten bytes to a file (`RLIMIT_FSIZE`), as it does on a full disk.
"""

from __future__ import annotations

import json
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

pytestmark = [pytest.mark.process, pytest.mark.weights]

COMMANDS = (
    ("speak 'It costs $5.' -o a.wav", "a.wav"),
    ("speak 'It costs $5.' -o a.mp3", "a.mp3"),
    ("transcribe {meeting} --backend-model whisper-tiny.en -o a.srt", "a.srt"),
    ("draw 'a red house' -o a.png", "a.png"),
    ("draw 'a red house' -o a.svg", "a.svg"),
    ("compose 'a calm waltz' --backend rules --seconds 2 -o a.wav", "a.wav"),
    ("compose 'a calm waltz' --backend rules --seconds 2 --also stems --also midi -o a.flac", "a.flac"),
    ("talk --input {meeting} --output a.wav --listen-model whisper-tiny.en {model}", "a.wav"),
)
"""Commands, and the file that each cannot write."""
PROGRAM = """
import json, os, resource, sys
from typer.testing import CliRunner
from abstractcore_cli.app import app

commands = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
ended = []
for arguments in commands:
    result = CliRunner().invoke(app, arguments)
    ended.append((result.exit_code, os.listdir(), result.stderr))
    for left in os.listdir():
        os.remove(left)
print(json.dumps(ended))
"""
"""Runs all commands in one process: each plugin, and each model, is loaded once."""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of the size of files")
def test_nothing_is_half_written(server: ScriptedServer, models: FileModelStore, tmp_path: Path):
    store = FileModelStore(models.root, packaged=(*PACKAGED_MODELS, *packaged_models()))
    for weights in ("piper-joe", "whisper-tiny.en"):
        assert store.path(weights).exists()
    server.script(streamed("It is at ", "9:30. Bye."))
    model = f"--provider openai-compatible/m --base-url {server.url}/v1"
    arguments = [shlex.split(each.format(meeting=EXAMPLES / "meeting.wav", model=model)) for each, _ in COMMANDS]
    environment = {**os.environ, "ABSTRACTCORE_CACHE": str(models.root.parent.resolve())}
    program = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(arguments),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert program.returncode == 0, program.stderr
    assert "Traceback" not in program.stderr
    for (command, file), (code, left, errors) in zip(COMMANDS, json.loads(program.stdout), strict=True):
        assert (code, left) == (2, []), f"{command}: {errors}"
        assert f"error: {file} cannot be written: File too large." in errors, command
        assert "Traceback" not in errors, command
    assert len(server.requests) == 1
