"""The Tab key in bash, zsh and fish: commands, options, providers, models, weights, sessions, files are completed."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from abstractcore import create_llm
from abstractcore.sessions import Session

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed"),
]
PATIENCE_SECONDS = 120.0
PRESS_TAB = """
eval "$(_ABSTRACTCORE_COMPLETE=source_bash abstractcore)"
complete -p abstractcore >&2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_abstractcore_completion abstractcore
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that finds the command, with an empty home."""
    script = tmp_path / "bin" / "abstractcore"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom abstractcore_cli import main\n\nmain()\n")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}


def completions(program: dict[str, str], *words: str) -> tuple[list[str], str]:
    """What is offered for the last word, and what was printed beside it."""
    result = subprocess.run(
        ["bash", "--norc", "-c", PRESS_TAB, "bash", *words],
        env=program,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    return result.stdout.splitlines(), result.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["mo"], ["models"]),
        (["ser"], ["serve"]),  # a command of another package
        (["models", "in"], ["info"]),
        (["ask", "--temp"], ["--temperature"]),
        (["ask", "-p", "anthro"], ["anthropic"]),
        (["ask", "-p", "openai/gpt-5.4-n"], ["openai/gpt-5.4-nano"]),
        (["ask", "-p", "openai", "-m", "gpt-5.4-n"], ["gpt-5.4-nano"]),
        (["chat", "-m", "anthrop"], ["anthropic/"]),
        (["models", "pull", "whisper-b"], ["whisper-base"]),
        (["ask", "-p", "no-such/"], [""]),
        (["no-such-command", "x"], [""]),
    ],
)
def test_tab_completes(program: dict[str, str], words: list[str], offered: list[str]):
    found, printed = completions(program, "abstractcore", *words)
    assert (found, printed) == (offered, "complete -o default -F _abstractcore_completion abstractcore\n")


def test_tab_completes_names_of_sessions(program: dict[str, str], tmp_path: Path):
    folder = tmp_path / "data" / "abstractcore" / "sessions"
    folder.mkdir(parents=True)
    Session.open(folder / "trip.session", create_llm("scripted", replies=["yes"])).close()
    assert completions(program, "abstractcore", "sessions", "show", "tr")[0] == ["trip"]


def test_broken_models_file_prints_nothing_amid_the_line(program: dict[str, str], tmp_path: Path):
    (tmp_path / "models.toml").write_text("[[[")
    found, printed = completions(
        {**program, "ABSTRACTCORE_MODELS": str(tmp_path / "models.toml")},
        "abstractcore",
        "ask",
        "-p",
        "openai/gpt-5.4-n",
    )
    assert (found, "Traceback" in printed, "error" in printed) == ([""], False, False)


def folder(tmp_path: Path) -> Path:
    """Makes a folder with files, and sessions, whose names a shell would not take as they are."""
    sessions = tmp_path / "data" / "abstractcore" / "sessions"
    sessions.mkdir(parents=True)
    for name in ("my trip", "a:b"):
        Session.open(sessions / f"{name}.session", create_llm("scripted", replies=["yes"])).close()
    place = tmp_path / "work"
    place.mkdir()
    for name in ("two words.pdf", "c:d.pdf"):
        (place / name).touch()
    return place


@pytest.mark.parametrize(
    ("typed", "offered"), [("my", "my\\ trip"), ("'my", "my trip"), ('"my', "my trip"), ("a", "a:b")]
)
def test_bash_inserts_quoted_what_it_would_take_as_several_words(
    program: dict[str, str], tmp_path: Path, typed: str, offered: str
):
    folder(tmp_path)
    assert completions(program, "abstractcore", "sessions", "show", typed)[0] == [offered]


CASES = [
    ("mo", "models"),
    ("models inf", "info"),
    ("ask --temp", "--temperature"),
    ("ask -p anthro", "anthropic"),
    ("ask -p openai/gpt-5.4-n", "openai/gpt-5.4-nano"),
    ("ask -p ollama/gemma3:2", "ollama/gemma3:270m"),
    ("models pull whisper-b", "whisper-base"),
    ("sessions show my", "my trip"),
    ("sessions show a", "a:b"),
    ("ask -f tw", "two words.pdf"),
    ("ask -f c", "c:d.pdf"),
]
ZSHRC = """
autoload -Uz compinit; compinit -u
eval "$(_ABSTRACTCORE_COMPLETE=source_zsh abstractcore)"
show() { print -r -- "${(Q)${(z)BUFFER}[-1]}" > $SHOWN.new; mv $SHOWN.new $SHOWN }
zle -N show
bindkey '^X^D' show
PS1='ready> '
"""
"""The keys Control-X Control-D write the last word of the line, without its quotes, to a file."""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_tab_completes_in_zsh(program: dict[str, str], tmp_path: Path):
    (tmp_path / ".zshrc").write_text(ZSHRC)
    shown = tmp_path / "shown"
    terminal, its = pty.openpty()
    environment = {**program, "ZDOTDIR": str(tmp_path), "SHOWN": str(shown), "TERM": "dumb"}
    zsh = subprocess.Popen(
        ["zsh", "-i"], cwd=folder(tmp_path), env=environment, stdin=its, stdout=its, stderr=its, start_new_session=True
    )
    os.close(its)
    printed = bytearray()
    found: dict[str, str] = {}
    with ExitStack() as stack:
        stack.callback(zsh.wait)
        stack.callback(zsh.kill)
        stack.callback(os.close, terminal)
        until(terminal, printed, lambda: b"ready> " in printed)
        for typed, _ in CASES:
            os.write(terminal, f"abstractcore {typed}\t\x18\x04\x15".encode())
            until(terminal, printed, shown.exists)
            found[typed] = shown.read_text().rstrip("\n")
            shown.unlink()
    assert found == dict(CASES)


def until(terminal: int, printed: bytearray, done: Callable[[], bool]) -> None:
    """Reads what a terminal prints until something holds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < end, printed.decode(errors="replace")
        if select.select([terminal], [], [], 0.05)[0]:
            printed += os.read(terminal, 4096)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_tab_completes_in_fish(program: dict[str, str], tmp_path: Path):
    script = "_ABSTRACTCORE_COMPLETE=source_fish abstractcore | source\n"
    script += "".join(f"echo CASE; complete -C 'abstractcore {typed}'\n" for typed, _ in CASES)
    result = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=folder(tmp_path),
        env=program,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    offered = [case.strip().split("\n")[0].partition("\t")[0] for case in result.stdout.split("CASE\n")[1:]]
    assert dict(zip((typed for typed, _ in CASES), offered, strict=True)) == dict(CASES)
