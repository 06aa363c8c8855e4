"""`abstractcore transcribe`, with Whisper and without a plugin: formats, files, what it prints and refuses."""

from __future__ import annotations

import io
import json
import os
import wave
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore.stores.models import FileModelStore
from abstractcore_cli.app import app
from tests.media.parts import EXAMPLES
from tests.terminal import Terminal

pytestmark = [pytest.mark.process, pytest.mark.weights]

MEETING = EXAMPLES / "meeting.wav"
TINY = ("--backend-model", "whisper-tiny.en")


@pytest.fixture(autouse=True)
def in_a_folder(models: FileModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(models.root.parent.resolve()))
    monkeypatch.chdir(tmp_path)


def transcribe(*arguments: str, stdin: bytes | None = None) -> Any:
    """The result of the command."""
    return CliRunner().invoke(app, ("transcribe", *arguments), input=stdin, catch_exceptions=False)


def test_text_goes_to_stdout_and_facts_to_stderr():
    result = transcribe(str(MEETING), *TINY)
    assert result.exit_code == 0
    assert result.stdout.startswith("Good morning, the meeting starts at")
    assert result.stdout.count("\n") == 1
    assert "abstractcore:local, whisper-tiny.en: " in result.stderr


def test_subtitles_are_written_by_the_ending_of_the_output():
    assert transcribe(str(MEETING), "-o", "m.srt", "--quiet", *TINY).stdout == "m.srt\n"
    first, times, text, *_ = Path("m.srt").read_text(encoding="utf-8").splitlines()
    assert (first, text[:12]) == ("1", "Good morning")
    assert "00:00:0" in times


def test_json_has_times_of_words_and_nothing_else_is_printed():
    result = transcribe(str(MEETING), "--format", "json", "--words", *TINY)
    found = json.loads(result.stdout)
    assert result.stderr == ""
    assert found["text"].startswith("Good morning")
    assert found["transcript"]["segments"][0]["words"][0]["text"] == "Good"
    assert (found["backend"], found["model"], found["exit_code"]) == ("abstractcore:local", "whisper-tiny.en", 0)


def silence() -> bytes:
    """A second of a recording in which nobody speaks."""
    recording = io.BytesIO()
    with wave.open(recording, "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(32_000))
    return recording.getvalue()


def test_silence_is_an_empty_text_with_a_warning():
    result = transcribe("-", *TINY, stdin=silence())
    assert (result.exit_code, result.stdout) == (0, "")
    assert "warning: nobody speaks in the recording" in result.stderr
    assert transcribe("-", "--format", "vtt", *TINY, stdin=silence()).stdout == "WEBVTT\n"


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "missing": (("none.wav",), "none.wav"),
    "text": (("notes.txt",), "expected audio or video, got notes.txt, text/plain"),
    "garbage": (("noise.wav",), "noise.wav"),
    "format": ((str(MEETING), "--format", "doc"), "--format 'doc' is not a format"),
    "language": ((str(MEETING), "--language", "Klingon!"), "language: expected a language code, got 'Klingon!'"),
    "language of the model": ((str(MEETING), "--language", "fr", *TINY), "does not know the language 'fr'"),
    "model": ((str(MEETING), "--backend-model", "whisper-tinny"), "whisper-tinny"),
    "backend": ((str(MEETING), "--backend", "nobody"), "no backend of"),
    "base URL": ((str(MEETING), "--base-url", "http://x"), "--base-url needs --backend"),
    "option": ((str(MEETING), "--option", "x"), "--option 'x' is not an argument."),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_mistake_is_a_usage_error_and_nothing_is_written(tmp_path: Path, case: str):
    arguments, message = REFUSED[case]
    (tmp_path / "notes.txt").write_text("Notes.")
    (tmp_path / "noise.wav").write_bytes(b"RIFF" + os.urandom(4) + b"WAVE" + bytes(range(256)))
    before = sorted(tmp_path.iterdir())
    result = transcribe(*arguments, "-o", "made.txt")
    assert message in result.stderr
    assert result.exit_code in (1, 2)
    error = json.loads(transcribe(*arguments, "--json").stdout)
    assert error["exit_code"] == result.exit_code
    assert sorted(tmp_path.iterdir()) == before


def test_json_has_no_other_format():
    error = json.loads(transcribe(str(MEETING), "--format", "srt", "--json").stdout)["error"]
    assert (error["message"], error["hint"]) == (
        "with --json the format is json.",
        "The formats are txt, srt, vtt, json.",
    )


def test_output_in_a_folder_that_is_not_there_is_refused_before_the_work():
    result = transcribe("-", "-o", "no/such.srt", stdin=b"not read")
    assert result.exit_code == 2
    assert "no/such.srt cannot be written: there is no such folder" in result.stderr


def test_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = transcribe("-", "-o", "m.txt", *TINY, stdin=silence())
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "m.txt cannot be written: No space left on device" in result.stderr


def test_terminal_shows_progress_in_seconds(tmp_path: Path):
    command = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
    with Terminal([*command, "transcribe", str(MEETING), *TINY], dict(os.environ)) as window:
        window.wait_for("seconds")
        window.wait_for("Good morning")
        assert window.wait_for_end() == 0
