"""`abstractcore config`: the file and the environment, shown, checked and edited."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app

VALID = """
[llm.fast]
model = "scripted/scripted"
options.replies = ["hi"]
options.tags.since = 2026-01-01

[providers.openai]
api_key_env = "MY_KEY"
headers.X-Team = "search"
"""
KEY = "sk-canary-1234567890"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the configuration; there is no file yet."""
    for name in ("VISUAL", "EDITOR", "ABSTRACTCORE_TRACES", "ABSTRACTCORE_TRACES_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("ABSTRACTCORE_SERVER_KEY", KEY)
    return tmp_path / "config.toml"


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["config", *arguments])
    assert KEY not in result.output
    return result.exit_code, result.output


def run_json(*arguments: str) -> tuple[int, dict[str, Any]]:
    code, output = run(*arguments, "--json")
    return code, json.loads(output)


def test_path_is_printed_whether_there_is_a_file_or_not(path: Path):
    assert run("path") == (0, f"{path}\n")
    assert run_json("path") == (0, {"path": str(path), "exists": False})


def test_each_value_is_shown_with_its_source(path: Path):
    path.write_text(VALID)
    code, output = run("show")
    rows = [line.split("\t") for line in output.splitlines()]
    assert code == 0
    assert ["ABSTRACTCORE_CONFIG", str(path), "environment"] in rows
    assert ["ABSTRACTCORE_SERVER_KEY", "(set, not shown)", "environment"] in rows
    assert ["llm.fast.model", "scripted/scripted", "config.toml:3"] in rows
    assert ["llm.fast.options.replies", '["hi"]', "config.toml:4"] in rows
    assert ["llm.fast.options.tags.since", "2026-01-01", "config.toml:5"] in rows
    assert ["providers.openai.api_key_env", "MY_KEY", "config.toml:8"] in rows
    _, shown = run_json("show")
    assert {"name": "llm.fast.options.replies", "value": ["hi"], "source": "config.toml:4"} in shown["settings"]


def test_secret_in_the_file_is_refused_and_not_shown(path: Path):
    path.write_text(f'[providers.openai.options]\napi_key = "{KEY}"\n')
    assert "providers.openai.options.api_key\t(not shown)\tconfig.toml:2" in run("show")[1]
    code, output = run("check")
    assert (code, "config.toml:2:1: providers.openai.options.api_key: secrets are not allowed" in output) == (2, True)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (None, ["config.toml does not exist"]),
        ('[llm.a]\nmodel = "openai/gpt-5.4"', []),
        ("[llm.a", ["config.toml:1:7: not TOML"]),
        ('[llm.a]\nmodle = "x"\n[media_policy]\nimage = 1', ["4:1: media_policy.image", "2:1: llm.a.modle"]),
        (
            '[llm.a]\nmodel = "opnai/x"\n[llm.b]\nmodel = "openai/x"\noptions.temprature = 1\n'
            '[providers.groq]\napi_key_env = "UNSET_KEY"\n[providers.mistral]\noptions.max_retries = -1\n',
            [
                "2:1: llm.a.model: no provider is called 'opnai'",
                "5:1: llm.b.options.temprature",
                "7:1: providers.groq.api_key_env: the environment variable is not set",
                "9:1: providers.mistral.options.max_retries",
            ],
        ),
    ],
)
def test_everything_that_is_wrong_is_found_at_once(path: Path, text: str | None, problems: list[str]):
    if text is not None:
        path.write_text(text)
    code, output = run("check")
    errors = [line for line in output.splitlines() if line.startswith("error: ")]
    assert code == (2 if problems else 0)
    assert len(errors) == len(problems)
    assert all(problem in error for problem, error in zip(problems, errors, strict=True))
    _, found = run_json("check")
    assert len(found["errors"]) == len(problems)
    assert all(problem in error["message"] for problem, error in zip(problems, found["errors"], strict=True))


@pytest.mark.process
def test_editor_gets_a_file_with_examples_which_is_checked_afterwards(path: Path, monkeypatch: pytest.MonkeyPatch):
    change = (
        "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.write_text(p.read_text() + '[llm.a]\\nmodle = 1\\n')"
    )
    monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} -c {shlex.quote(change)}")
    code, output = run("edit")
    assert code == 2
    assert "llm.a.modle: there is no such setting" in output
    assert path.read_text().startswith("# The configuration of AbstractCore")
    uncommented = [
        line[2:] for line in path.read_text().splitlines() if line.startswith("# ") and ("=" in line or "[" in line)
    ]
    path.write_text("\n".join(line for line in uncommented if "docs/" not in line))
    monkeypatch.setenv("MY_OPENAI_KEY", KEY)
    assert run("check")[0] == 0


@pytest.mark.process
def test_without_an_editor_or_with_one_that_fails_the_file_is_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    code, output = run("edit")
    assert (code, "Set EDITOR" in output, path.exists()) == (2, True, False)
    for editor, problem in {
        "/nonexistent/editor": "No such file",
        f"{shlex.quote(sys.executable)} -c exit(3)": "exit status 3",
        "nano '": "No closing quotation",
    }.items():
        monkeypatch.setenv("EDITOR", editor)
        code, output = run("edit")
        assert (code, f"Edit {path}." in output, problem in output) == (2, True, True), output


def test_blank_editor_does_not_run_the_file(path: Path, monkeypatch: pytest.MonkeyPatch):
    path.write_text("#!/bin/sh\n: > ran\n")
    path.chmod(0o755)
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("EDITOR", "  ")
    assert "Set EDITOR" in run("edit")[1]
    assert not (path.parent / "ran").exists()


def test_file_that_cannot_be_written_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch):
    (path.parent / "file").touch()
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(path.parent / "file" / "config.toml"))
    monkeypatch.setenv("EDITOR", "true")
    code, output = run("edit")
    assert (code, "cannot be written: " in output) == (2, True)


def test_passwords_in_urls_are_not_shown(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ABSTRACTCORE_TRACES_STORE", f"postgresql://me:{KEY}@db.example/traces?sslmode=require")
    path.write_text(
        f"""
[llm.a]
model = "ollama/x"
options.proxy = "http://me:pw@proxy.example:3128"
budget = {{ usd = 1, ledger = "postgresql://db.example/sums?user=me&password={KEY}" }}
"""
    )
    _, output = run("show")
    assert "postgresql://***@db.example/traces?sslmode=require" in output
    assert "http://***@proxy.example:3128" in output
    assert "postgresql://db.example/sums?user=me" in output
