"""`--tag` of the commands that call models: each gives it to its calls, and `costs --by tag:NAME` sums them up."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import abstractcore
from abstractcore_cli.app import app

CALLS = {
    "ask": "hi",
    "chat": "",
    "draw": "house",
    "speak": "hello",
    "transcribe": "notes.wav",
    "compose": "waltz",
    "talk": "--input notes.wav --output x.wav",
    "embed": "notes.txt -o x.npz",
    "mcp serve": "",
}
OTHER_TAGS = {"index add", "search", "traces rerun"}
"""Commands whose `--tag` is of documents or of stored calls."""
UNTAGGED = {"media", "models search", "models list", "models info", "costs reconcile", "index rebuild"}
"""Commands with a provider or a time limit whose requests cost nothing, or that embed again what an index has."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, with the files that the commands name, and the configuration."""
    (tmp_path / "notes.txt").write_text("Bring two copies.")
    (tmp_path / "notes.wav").write_bytes(b"RIFF")
    (tmp_path / "config.toml").write_text('[llm.ann]\nmodel = "scripted/ann"\noptions.replies = ["One.", "Two."]\n')
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False)


def commands(group: Any, *names: str) -> Iterator[tuple[str, set[str]]]:
    """Yields each command of ours, with its options."""
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *names, name)
    if not hasattr(group, "commands"):
        yield " ".join(names), {option for each in group.params for option in each.opts}


def test_every_command_that_calls_models_takes_tags():
    options = dict(commands(get_command(app)))
    assert {name for name, given in options.items() if given & {"--provider", "--timeout"}} == {
        *CALLS,
        *OTHER_TAGS,
        *UNTAGGED,
    }
    assert {name for name in (*CALLS, *OTHER_TAGS) if "--tag" not in options[name]} == set()


@pytest.mark.parametrize("command", CALLS)
def test_tags_are_those_of_all_calls_of_the_command(command: str, monkeypatch: pytest.MonkeyPatch):
    made: list[dict[str, Any]] = []

    def create_llm(*names: object, **options: Any) -> Any:
        made.append(options)
        raise abstractcore.ConfigurationError("enough is known")

    monkeypatch.setattr(abstractcore, "create_llm", create_llm)
    words = [*command.split(), *CALLS[command].split(), "--tag", "team=a", "--tag", "user=b=c"]
    assert "enough is known" in invoke(*words, stdin="hi\n").stderr
    assert [each["tags"] for each in made] == [{"team": "a", "user": "b=c"}]


@pytest.mark.parametrize("command", CALLS)
@pytest.mark.parametrize(
    ("tags", "problem"),
    [
        (["team"], "--tag: 'team' is not a tag.\nWrite --tag NAME=VALUE.\n"),
        (["=a"], "--tag: '=a' is not a tag.\nWrite --tag NAME=VALUE.\n"),
        (
            ["team=a", "team=b"],
            "--tag: the tag 'team' has two values.\nWrite one of 'a' and 'b', or a command for each.\n",
        ),
    ],
)
def test_invalid_tag_is_a_usage_error(command: str, tags: list[str], problem: str):
    words = [*command.split(), *CALLS[command].split(), *(word for tag in tags for word in ("--tag", tag))]
    result = invoke(*words, stdin="hi\n")
    assert (result.exit_code, result.stderr) == (2, f"error: {problem}")


@pytest.mark.process
def test_costs_of_other_processes_are_summed_by_tag_and_a_missing_one_says_how_to_give_it(tmp_path: Path):
    kept = {"ABSTRACTCORE_TRACES": "redacted", "ABSTRACTCORE_TRACES_STORE": str(tmp_path / "traces.db")}

    def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "abstractcore", *arguments]
        return subprocess.run(
            command, env={**os.environ, **kept}, input=stdin, capture_output=True, text=True, check=True
        )

    run("ask", "hi", "-p", "ann", "--tag", "team=office")
    run("chat", "-p", "ann", "--tag", "team=lab", stdin="hi\n")
    assert {line.split("\t")[0] for line in run("costs", "--by", "tag:team").stdout.splitlines()} == {"office", "lab"}
    notes = run("costs", "--by", "tag:user").stderr.splitlines()
    hint = "Give it to calls: abstractcore ask --tag user=VALUE, or tags={'user': ...} in Python."
    assert notes[:2] == ["No call has the tag user; stored tags: session, team", hint]
