"""docs/commands.md and `--help`: every command has examples, they parse, those without network run, and --json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore import create_llm
from abstractcore.traces import TraceStore
from abstractcore_cli.app import app
from tests.command_page import PAGE, CommandEntry, arguments_of, commands, page

COMMANDS = {entry.words: entry for entry in commands()}
WITHOUT_JSON = {
    ("chat",): "a conversation",
    ("config", "edit"): "it opens an editor",
    ("dashboard",): "it serves a page",
    ("mcp", "serve"): "its stdout is the protocol",
    ("runs", "work"): "its lines are JSON already",
    ("serve",): "it serves until it is stopped",
    ("talk",): "a conversation",
}
ALONE = ("config", "doctor", "keys", "models info", "models list", "models search", "plugins", "providers")
"""Commands whose examples run in an empty home without network."""
STORED = ("costs", "traces list", "traces search", "traces tail", "traces export", "traces prune", "sessions list")
"""Commands whose examples run if there are traces."""
NOT_RUN = ("config edit", "costs reconcile", "traces tail --failed")
"""What opens an editor, asks vendors, or goes on until Ctrl-C."""


def named(entry: CommandEntry) -> str:
    return entry.name


def typed_lines(prefixes: tuple[str, ...]) -> list[str]:
    """The examples that begin with one of the commands."""
    return [
        line
        for entry in COMMANDS.values()
        for line in entry.examples
        if (words := " ".join(arguments_of(line) or [])).startswith(prefixes) and not words.startswith(NOT_RUN)
    ]


def test_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


@pytest.mark.parametrize("entry", COMMANDS.values(), ids=named)
def test_help_has_two_examples_on_lines_of_their_own(entry: CommandEntry):
    assert len(entry.own_examples) >= 2
    lines = [
        line.strip()
        for line in CliRunner(env={"COLUMNS": "200"}).invoke(app, [*entry.words, "--help"]).stdout.splitlines()
    ]
    assert [each for each in entry.examples if each not in lines] == []


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The values of the arguments of a command, and of those of its program after `--`."""
    words = max((words for words in COMMANDS if tuple(arguments[: len(words)]) == words), key=len)
    context = COMMANDS[words].context
    return context.command.make_context(words[-1], arguments[len(words) :], parent=context.parent).params


@pytest.mark.parametrize("entry", COMMANDS.values(), ids=named)
def test_examples_parse(entry: CommandEntry):
    for line in entry.examples:
        arguments = arguments_of(line)
        assert arguments is None or parsed(arguments) is not None


def test_example_with_a_wrong_option_does_not_parse():
    with pytest.raises(Exception, match="No such option: --temperatur"):
        parsed(["ask", "hi", "--temperatur", "1"])


def test_every_command_prints_json_but_those_that_go_on():
    assert {entry.words for entry in COMMANDS.values() if not entry.has_json} == set(WITHOUT_JSON)


TEMPERATURE = "llm.fast.options.temperature"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and current folder."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "ABSTRACTCORE_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_line(home: Path) -> Callable[[str], Any]:
    def run_line(line: str) -> Any:
        return CliRunner().invoke(app, arguments_of(line) or [], catch_exceptions=False)

    return run_line


@pytest.mark.exhaustive
@pytest.mark.parametrize("line", typed_lines(ALONE))
def test_examples_without_network_run(line: str, run_line: Callable[[str], Any], home: Path):
    (home / "other.toml").write_text("")
    if line.startswith(("abstractcore keys revoke", "abstractcore keys rotate")):
        run_line("abstractcore keys create alice")
    if line.startswith("abstractcore config unset"):
        for name, value in (("model", "ollama/qwen3:8b"), ("llm.fast.model", "ollama/qwen3:8b"), (TEMPERATURE, "0.5")):
            assert run_line(f"abstractcore config set {name} {value}").exit_code == 0
    result = run_line(line)
    assert (result.exit_code, result.stdout != "" or result.stderr != "") == (0, True), result.output


@pytest.mark.exhaustive
@pytest.mark.parametrize("line", typed_lines(STORED))
def test_examples_with_traces_run(line: str, run_line: Callable[[str], Any], home: Path):
    store = TraceStore()
    with store.keep("full"):
        create_llm("scripted", replies=["yes"]).generate("Is it an invoice?")
    store.close()
    result = run_line(line)
    assert result.exit_code == 0, result.output
