"""The Tab key in bash: commands, options, providers, models, weights and sessions are completed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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
