"""`abstractcore compose`, by rules: what it writes, prints and refuses."""

from __future__ import annotations

import json
import os
import wave
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from tests.terminal import Terminal

RULES = ("--provider", "scripted", "--backend", "rules", "--seconds", "3")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compose(*arguments: str) -> Any:
    """The result of the command."""
    return CliRunner().invoke(app, ("compose", *arguments), catch_exceptions=False)


def test_music_is_named_after_the_prompt_and_replaces_nothing(tmp_path: Path):
    for name in ("a-calm-waltz-for-flute.wav", "a-calm-waltz-for-flute-2.wav"):
        result = compose("A calm waltz, for flute!", *RULES)
        assert (result.exit_code, result.stdout) == (0, f"{name}\n")
        with wave.open(str(tmp_path / name)) as file:
            assert file.getnframes() / file.getframerate() == pytest.approx(3, rel=0.1)
    assert "abstractmusic:rules" in result.stderr


HEADS = {"waltz.mp3": b"ID3", "waltz.flac": b"fLaC", "waltz.ogg": b"OggS", "waltz.mid": b"MThd", "waltz.xml": b"<?xml"}


@pytest.mark.parametrize("name", HEADS)
def test_ending_of_the_output_is_the_format(name: str):
    assert compose("a calm waltz", "-o", name, *RULES).stdout == f"{name}\n"
    assert Path(name).read_bytes().startswith(HEADS[name])


def test_format_wins_over_the_ending():
    assert compose("a calm waltz", "-o", "waltz.bin", "--format", "midi", *RULES).exit_code == 0
    assert Path("waltz.bin").read_bytes()[:4] == b"MThd"


def test_further_files_have_endings_of_their_own_and_stems_their_names():
    also = ("--also", "midi", "--also", "musicxml", "--also", "stems")
    result = compose("a calm waltz for flute and harp", "-o", "waltz.wav", *also, *RULES)
    assert result.stdout.splitlines()[:3] == ["waltz.wav", "waltz.mid", "waltz.musicxml"]
    assert {"waltz-flute.wav", "waltz-harp.wav"} <= set(result.stdout.splitlines()[3:])
    assert all(Path(name).exists() for name in result.stdout.splitlines())


def test_wishes_and_lyrics_reach_the_score():
    Path("words.txt").write_text("\ufeffRain on the window\nAll day long\n", encoding="utf-8")
    wishes = ("--key", "E minor", "--tempo", "90", "--meter", "3/4", "--mood", "sad", "--seed", "2")
    words = ("--lyrics-file", "words.txt")
    result = compose("a song", "-o", "s.musicxml", "--json", *wishes, *words, *RULES[:4], "--seconds", "20")
    made = json.loads(result.stdout)
    assert result.stderr == ""
    assert (made["files"], made["exit_code"]) == (["s.musicxml"], 0)
    assert [made["metadata"][name] for name in ("key", "tempo", "meter")] == ["E minor", 90, "3/4"]
    assert "<text>win</text>" in Path("s.musicxml").read_text(encoding="utf-8")


@pytest.mark.process
def test_quiet_prints_the_file_only_and_a_terminal_shows_progress():
    assert compose("a waltz", "-q", "-o", "w.wav", *RULES).stderr == ""
    command = ("-m", "abstractcore", "compose", "a waltz", "-o", "w2.wav", *RULES)
    with Terminal(command, dict(os.environ)) as terminal:
        assert terminal.wait_for_end() == 0
    assert "voices" in terminal.screen
    assert Path("w2.wav").exists()


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "key": (("a waltz", "--key", "H minor"), "key"),
    "format": (("a waltz", "-o", "waltz.wma"), "no format is called 'wma'"),
    "also": (("a waltz", "--also", "pdf"), "no format is called 'pdf'"),
    "empty text": ((" ",), "prompt"),
    "backend": (("a waltz", "--backend", "rulez"), "no backend of music is called 'rulez'"),
    "missing lyrics": (("a waltz", "--lyrics-file", "none.txt"), "none.txt cannot be read: No such file"),
    "two lyrics": (("a waltz", "--lyrics-file", "none.txt", "--lyrics", "la"), "--lyrics and --lyrics-file"),
    "length": (("a waltz", "--seconds", "1e9"), "expected 2 to 600"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistake_is_a_usage_error_and_nothing_is_written(tmp_path: Path, case: str):
    arguments, message = REFUSED[case]
    result = compose(*RULES[:4], *arguments)
    assert result.exit_code == 2, result.stderr
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_file_that_cannot_be_written_is_a_usage_error():
    result = compose("a waltz", "-o", "no/such/waltz.wav", *RULES)
    assert result.exit_code == 2
    assert "no/such/waltz.wav cannot be written: there is no such folder" in result.stderr
