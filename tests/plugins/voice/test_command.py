"""`abstractcore speak`, with a voice on this machine: what it writes, prints and refuses; vendors by `--backend`."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore.stores.models import FileModelStore
from abstractcore.testing.http_server import ScriptedServer
from abstractcore_cli.app import app
from tests.documents import ROOT
from tests.media.parts import EXAMPLES
from tests.plugins.voice.remote.fakes import KEY, FakeDeepgram, FakeElevenLabs
from tests.plugins.voice.sounds import seconds
from tests.terminal import Terminal

pytestmark = pytest.mark.weights


@pytest.fixture(autouse=True)
def in_a_folder(models: FileModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(models.root.parent.resolve()))
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, stdin: str | None = None) -> Any:
    """The result of the command."""
    return CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False)


def test_speech_is_named_after_the_text_and_replaces_nothing(tmp_path: Path):
    for name in ("it-costs-5.wav", "it-costs-5-2.wav"):
        result = run("speak", "It costs $5.")
        assert (result.exit_code, result.stdout) == (0, f"{name}\n")
        assert seconds((tmp_path / name).read_bytes()) > 0.5
    assert "abstractvoice:local, piper-joe: " in result.stderr


def test_command_in_the_readme_prints_what_is_shown():
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("## Voice, ")[1].split("```\n")
    install, command = shown[1].splitlines()
    assert all((ROOT / each / "pyproject.toml").exists() for each in install.split()[2:])
    result = run(*shlex.split(command)[1:])
    assert re.sub(r"\d+\.\d+ s", "2.8 s", result.output).endswith(shown[3])


@pytest.mark.parametrize(("name", "start"), [("a.mp3", b"ID3"), ("a.ogg", b"OggS"), ("a.flac", b"fLaC")])
def test_ending_of_the_output_is_the_format(tmp_path: Path, name: str, start: bytes):
    assert run("speak", "Yes.", "-o", name).stdout == f"{name}\n"
    assert (tmp_path / name).read_bytes().startswith(start)


def test_text_comes_from_a_file_or_from_stdin(tmp_path: Path):
    (tmp_path / "notes.md").write_text("# Notes\n\nYes, **2**.", encoding="utf-8")
    made = json.loads(run("speak", "notes.md", "--json", "-o", "a.wav").stdout)
    assert [each["text"] for each in made["metadata"]["said"]] == ["Notes.", "Yes, two."]
    assert (made["files"], made["media_types"], made["exit_code"]) == (["a.wav"], ["audio/wav"], 0)


@pytest.mark.process
def test_sound_goes_to_stdout_as_it_is_made(tmp_path: Path):
    command = ["-W", "error", "-c", "from abstractcore_cli import main; main()", "speak", "-", "--output", "-"]
    result = subprocess.run([sys.executable, *command], input=b"Yes. No.", capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(b"RIFF")
    assert seconds(result.stdout) > 1
    assert b"piper-joe" in result.stderr


def test_voices_are_listed():
    lines = run("speak", "--voices").stdout.splitlines()
    assert lines[:2] == ["joe\ten-US\tmale\t\tpiper-joe", "heart\ten-US\tfemale\tA\tkokoro-82m"]
    assert json.loads(run("speak", "--voices", "--json").stdout)["voices"][0]["id"] == "joe"


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": ((), "no text given."),
    "empty": ((" ",), "the text is empty"),
    "no words": (("***",), "there is nothing to say in the text"),
    "long": (("long.txt",), "Write it to stdout: --output - > FILE."),
    "no file": (("none.md",), "there is no file none.md."),
    "not text": (("noise.txt",), "noise.txt cannot be read: it is not UTF-8 text."),
    "voice": (("Hi.", "--voice", "hart"), "no voice on this machine is called 'hart'.\nIs it heart?"),
    "format": (("Hi.", "--format", "mp4"), "no format of sound is called 'mp4'.\nIs it mp3?"),
    "ending": (("Hi.", "-o", "hi.xyz"), "no format of sound is called 'xyz'"),
    "speed": (("Hi.", "--speed", "9"), "speed 9.0: expected a number from 0.25 to 4.0"),
    "language": (("Hi.", "--language", "tlh"), "not 'tlh'.\nUse another backend: --backend NAME"),
    "backend": (("Hi.", "--backend", "elevenlab"), "no backend of voice is called 'elevenlab'"),
    "key": (("Hi.", "--backend", "elevenlabs"), "ElevenLabs needs an API key.\nSet ELEVENLABS_API_KEY.\n"),
    "folder": (("Hi.", "-o", "no/such.wav"), "no/such.wav cannot be written: there is no such folder"),
    "json to stdout": (("Hi.", "-o", "-", "--json"), "--json cannot be combined with --output -."),
    "verified on stdout": (("Hi.", "-o", "-", "--verify"), "--verify cannot be combined with --output -."),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_mistake_is_a_usage_error_and_nothing_is_written(tmp_path: Path, case: str):
    arguments, message = REFUSED[case]
    (tmp_path / "noise.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "long.txt").write_text("word " * 50_000)
    before = sorted(tmp_path.iterdir())
    result = run("speak", *arguments)
    assert message in (result.stderr or json.loads(result.stdout)["error"]["message"])
    assert result.exit_code == 2
    assert sorted(tmp_path.iterdir()) == before


def test_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = run("speak", "Yes.", "-o", "a.wav")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "a.wav cannot be written: No space left on device" in result.stderr


def test_vendor_speaks_at_its_address_with_the_key_of_the_environment(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
):
    fake = FakeElevenLabs()
    server.always_by(fake.script)
    monkeypatch.setenv("ELEVENLABS_API_KEY", KEY)
    result = run("speak", "Hi there.", "-o", "a.wav", "--backend", "elevenlabs", "--base-url", server.url)
    assert (result.exit_code, result.stdout) == (0, "a.wav\n"), result.stderr
    assert fake.texts == ["Hi there."]
    assert "abstractvoice:elevenlabs, elevenlabs/eleven_flash_v2_5: " in result.stderr


def test_vendor_listens(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch):
    server.always_by(FakeDeepgram().script)
    monkeypatch.setenv("DEEPGRAM_API_KEY", KEY)
    at = ("--backend", "deepgram", "--base-url", server.url)
    result = run("transcribe", str(EXAMPLES / "meeting.wav"), "--speakers", *at)
    assert (result.exit_code, result.stdout) == (0, "0: Hello there.\n1: Yes.\n"), result.stderr
    result = run("transcribe", str(EXAMPLES / "meeting.wav"), "--speakers", "--format", "vtt", *at)
    assert "<v 1>Yes." in result.stdout


@pytest.mark.process
def test_terminal_shows_progress():
    command = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
    with Terminal([*command, "speak", "Yes. No.", "-o", "a.wav"], dict(os.environ)) as window:
        window.wait_for("characters")
        window.wait_for("a.wav")
        assert window.wait_for_end() == 0
