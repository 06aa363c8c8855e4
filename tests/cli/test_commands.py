"""Commands of other packages: found by their entry points, listed, run, and reported if they cannot be imported."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from abstractcore_cli.plugin_commands import GROUP, found_commands
from tests.documents import ROOT

GREET = '''
def greet(name: str) -> None:
    """Greet somebody."""
    print(f"Hello, {name}.")
'''
SEVERAL = '''
import typer
greet = typer.Typer(help="Greetings.", no_args_is_help=True)

@greet.command("formal")
def formal() -> None:
    """Greet formally."""
    print("Good morning.")

@greet.command("informal")
def informal() -> None:
    """Greet informally."""
    print("Hi.")
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """`install(code, name)` puts a package with a command on the path."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(code: str, name: str = "greet") -> None:
        info = tmp_path / "greetings-1.0.dist-info"
        info.mkdir()
        ours = f"[abstractcore.commands]\n{name} = greetings:greet\n"
        text = f"[console_scripts]\nother = other:main\n\n{ours}\n[z]\na = b\n"
        (info / "entry_points.txt").write_text(text)
        (tmp_path / "greetings.py").write_text(code)

    yield install
    sys.modules.pop("greetings", None)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*arguments])
    return result.exit_code, result.output


def test_commands_of_packages_that_are_not_installed_say_what_to_install(monkeypatch):
    monkeypatch.setattr("abstractcore_cli.app.found_commands", dict)
    for project in (ROOT / "packages").glob("*/pyproject.toml"):
        entry_points = tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("entry-points", {})
        for name in entry_points.get(GROUP, {}):
            for more in (["list"], ["--help"], []):
                code, output = run(name, *more)
                assert (code, f"`abstractcore {name}` is a command of {project.parent.name}" in output) == (2, True)
                assert f"pip install ./packages/{project.parent.name};" in output
    code, output = run("runs", "list", "--json")
    assert (code, json.loads(output)["error"]["type"]) == (2, "MissingExtraError")
    assert "No such command 'run'" in run("run")[1]


def test_commands_of_the_server_are_found():
    assert {"keys", "serve", "verify"} <= found_commands().keys()
    assert "other" not in found_commands()


def test_command_of_another_package_is_listed_and_run(install: Callable[..., None]):
    install(GREET)
    assert "Greet somebody." in run("--help")[1]
    assert run("greet", "Ann") == (0, "Hello, Ann.\n")


def test_several_commands_of_another_package_are_one_group(install: Callable[..., None]):
    install(SEVERAL)
    assert "Greetings." in run("--help")[1]
    assert run("greet", "formal") == (0, "Good morning.\n")


def test_command_that_cannot_be_imported_says_so_and_hides_no_other(install: Callable[..., None]):
    install("import a_package_that_is_missing")
    code, listed = run("--help")
    assert code == 0
    assert "It cannot be imported: run it to see why." in listed
    assert "Serve models" in listed
    code, output = run("greet")
    assert code == 2
    assert "the command 'greet' cannot be imported from greetings:greet: ModuleNotFoundError" in output


def test_command_of_the_program_has_precedence(install: Callable[..., None]):
    install(GREET, "ask")
    assert "Greet somebody." not in run("--help")[1]


def test_unknown_command_is_compared_with_those_of_other_packages():
    code, output = run("serv")
    assert code == 2
    assert "Did you mean 'serve'" in output
