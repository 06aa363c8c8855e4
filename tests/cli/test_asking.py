"""`ask`: typed answers of `--schema`, and conversations of `-c` and `--session`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore import Session, create_llm
from abstractcore.schema import MediaProgress
from abstractcore_cli.app import app
from abstractcore_cli.file_progress import FileProgress
from abstractcore_cli.sessions import last
from abstractcore_cli.sessions.last import VARIABLE, last_path, unnamed_path

CONFIGURATION = """
[llm.ann]
model = "scripted/ann"
options.replies = ['{"name": "tea", "price": 3.5}', "second"]

[llm.bob]
model = "scripted/bob"
options.replies = ["I am Bob.", "Still Bob."]
"""
SHOP = """
from dataclasses import dataclass
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

@dataclass
class Item:
    name: str
    price: float

class Alias(BaseModel):
    title: str = Field(alias="name")

class Named(TypedDict):
    name: str

Items = list[Item]
number = 5
"""
LAZY = """
def __getattr__(name):
    raise AttributeError(name) if name == "Gone" else RuntimeError(f"no {name}")

def __dir__():
    return ["Item", "Other"]
"""
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder; the last conversation is kept there."""
    folder = tmp_path / "data"
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("abstractcore_cli.sessions.names.data_folder", lambda: folder)
    monkeypatch.setattr("abstractcore_cli.sessions.last.data_folder", lambda: folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "corner_shop", raising=False)
    (tmp_path / "config.toml").write_text(CONFIGURATION)
    (tmp_path / "corner_shop.py").write_text(SHOP)
    (tmp_path / "item.json").write_text(json.dumps(SCHEMA))
    return folder


def ask(*arguments: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, ["ask", *arguments], input=stdin, catch_exceptions=False)


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ("item.json", {"name": "tea", "price": 3.5}),
        (json.dumps(SCHEMA), {"name": "tea", "price": 3.5}),
        ("corner_shop:Item", {"name": "tea", "price": 3.5}),
        ("corner_shop:Alias", {"name": "tea"}),
        ("corner_shop:Named", {"name": "tea"}),
    ],
)
def test_answer_of_a_schema_is_printed_as_json(schema, answer):
    result = ask("A drink?", "-p", "ann", "--schema", schema)
    assert (result.exit_code, json.loads(result.stdout)) == (0, answer)
    assert result.stdout.count("\n") == 1
    as_json = ask("A drink?", "-p", "ann", "--schema", schema, "--json")
    assert json.loads(as_json.stdout)["output"] == answer


@pytest.mark.parametrize(
    ("schema", "message", "hint"),
    [
        ("nope.json", "nope.json cannot be read: No such file", "--schema FILE.json"),
        (".", ". cannot be read: Is a directory", "--schema FILE.json"),
        ("{", "'{' is not JSON", "--schema FILE.json"),
        ("list.json", "is not a JSON Schema: expected an object", "--schema FILE.json"),
        ('{"type": "objekt"}', "type: 'objekt' is not valid", "--schema FILE.json"),
        ("corner_shop:Itm", "corner_shop has no type 'Itm'", "Did you mean Item?"),
        ("corner_shop:number", "expected a type, got 5", "--schema MODULE:TYPE"),
        ("corner_shop.py:Item", "is a file, not a module", "--schema corner_shop:Item"),
        ("corner_shp:Item", "no module is called 'corner_shp'", "Did you mean corner_shop?"),
        ("corner_shop:", "is neither a file nor a type", "--schema MODULE:TYPE"),
        ("broken:Item", "the module broken cannot be imported: ZeroDivisionError", 'python -c "import broken"'),
        ("lazy:Item", "lazy:Item cannot be read: RuntimeError: no Item", 'python -c "from lazy import Item"'),
        ("lazy:Gone", "lazy has no type 'Gone'", "--schema FILE.json"),
        ("/dev/zero", "/dev/zero has more than 268,435,456 bytes", "Split it into smaller files"),
    ],
)
def test_wrong_schema_is_an_error_before_anything_is_sent(tmp_path, schema, message, hint):
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "lazy.py").write_text(LAZY)
    result = ask("A drink?", "-p", "ann", "--schema", schema)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert hint in result.stderr
    assert "ann:" not in result.stderr


def test_answer_that_is_not_of_the_schema_is_exit_code_1():
    result = ask("A drink?", "-p", "bob", "--schema", "item.json", "--json")
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["type"], error["partial"]) == (1, "OutputValidationError", "Still Bob.")
    assert 'the answer is in "partial" of the error' in error["hint"]


def test_schema_cannot_be_streamed():
    result = ask("A drink?", "-p", "ann", "--schema", "item.json", "--stream")
    assert result.exit_code == 2
    assert "--schema cannot be combined with --stream" in result.stderr


def questions(path: Path) -> list[str]:
    with Session.open(path, create_llm("scripted", replies=[]), read_only=True) as session:
        return [message.text for message in session.messages if message.role == "user"]


def test_c_continues_the_last_conversation_with_its_model(data):
    assert ask("first", "-p", "bob", "-s", "Be brief.").exit_code == 0
    assert ask("-c", "second", "-p", "scripted/nobody").exit_code == 1
    assert questions(unnamed_path()) == ["first"]
    again = ask("-c", "third", "-p", "bob")
    assert (again.exit_code, again.stdout) == (0, "I am Bob.\n")
    assert "continues the last conversation, after 1 exchange" in again.stderr
    assert questions(unnamed_path()) == ["first", "third"]
    assert ask("anew", "-p", "bob").exit_code == 0
    assert questions(unnamed_path()) == ["anew"]


ANN, BOB = 'model = "scripted/ann"', 'model = "scripted/bob"'


@pytest.mark.parametrize(
    ("tables", "name", "again"),
    [
        ({"default": ANN, "fast": ANN}, None, "as default"),
        ({"fast": ANN}, "fast", "as fast"),
        ({"default": ANN, "fast": BOB}, "fast", "as fast"),
        ({"default": ANN, "fast": ANN}, "fast", "as default"),
        ({"default": 'model = "fast"', "fast": ANN}, None, "as default"),
        ({"keyless": 'model = "openai/gpt-5.4"', "fast": ANN}, "fast", "as fast"),
        ({"default": 'models = ["fast", "openai/gpt-5.4"]', "fast": ANN}, None, "as fast"),
    ],
    ids=str,
)
@pytest.mark.parametrize("command", [["ask", "second"], ["chat"]], ids=["ask", "chat"])
def test_c_asks_the_last_model_with_the_options_of_its_table(tmp_path, monkeypatch, command, tables, name, again):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    lines = [f'[llm.{each}]\n{asks}\noptions.replies = ["as {each}"]' for each, asks in tables.items()]
    without = "(?m)(^models.*|.*gpt.*)\n.*replies.*"  # of those that have no such option
    (tmp_path / "config.toml").write_text(re.sub(without, r"\1", "\n".join(lines)))
    assert ask("first", *([] if name is None else ["-p", name])).exit_code == 0
    result = CliRunner().invoke(app, [*command, "-c"], input="second\n", catch_exceptions=False)
    assert (result.exit_code, result.stdout) == (0, f"{again}\n")


def test_c_asks_a_model_that_no_table_names(tmp_path):
    ask("first", "-p", "bob")
    (tmp_path / "config.toml").write_text("")
    assert "scripted/bob: the script has 0 replies" in ask("-c", "second").stderr


def test_c_continues_what_was_used_last_with_a_name_or_without(data):
    ask("unnamed", "-p", "bob")
    ask("named", "-p", "bob", "--session", "trip")
    assert last_path() == data / "sessions" / "trip.session"
    assert ask("more", "-c", "-p", "ann").exit_code == 0
    assert questions(data / "sessions" / "trip.session") == ["named", "more"]
    assert questions(unnamed_path()) == ["unnamed"]


def test_chat_without_a_name_is_kept_too():
    chat = ["chat", "-p", "bob", "-q"]
    assert CliRunner().invoke(app, chat, input="first\nsecond\n", catch_exceptions=False).exit_code == 0
    assert CliRunner().invoke(app, [*chat, "-c"], input="third\n", catch_exceptions=False).exit_code == 0
    assert questions(unnamed_path()) == ["first", "second", "third"]


def test_nothing_is_kept_if_the_environment_says_so(monkeypatch):
    monkeypatch.setenv(VARIABLE, "off")
    assert ask("first", "-p", "bob").exit_code == 0
    assert not unnamed_path().exists()
    result = ask("-c", "second")
    assert result.exit_code == 2
    assert f"there is no conversation to continue: {VARIABLE} is off" in result.stderr


def test_failed_question_leaves_the_last_conversation():
    ask("first", "-p", "bob")
    assert ask("second", "-p", "scripted/nobody").exit_code != 0
    assert questions(unnamed_path()) == ["first"]


def test_large_files_are_not_copied(tmp_path, monkeypatch):
    (tmp_path / "notes.txt").write_text("Bring two copies.")
    ask("first", "-p", "bob")
    monkeypatch.setattr(last, "_MOST_BYTES", 10)
    result = ask("second", "-p", "bob", "-f", "notes.txt")
    assert (result.exit_code, result.stdout) == (0, "I am Bob.\n")
    assert "`-c` cannot continue this" in result.stderr
    assert not unnamed_path().exists()


def test_folder_that_cannot_be_written_costs_no_answer(data):
    data.write_text("not a folder")
    result = ask("first", "-p", "bob")
    assert (result.exit_code, result.stdout) == (0, "I am Bob.\n")
    assert "warning: `-c` cannot continue this" in result.stderr


def test_session_that_is_open_is_left_as_it_is():
    ask("first", "-p", "bob")
    with Session.open(unnamed_path(), create_llm("scripted", replies=[])):
        assert ask("second", "-p", "bob").stdout == "I am Bob.\n"
        assert ask("-c", "third", "-p", "bob").exit_code == 2
    assert questions(unnamed_path()) == ["first"]


def test_two_conversations_at_once_are_an_error():
    result = ask("?", "-p", "bob", "-c", "--session", "trip")
    assert result.exit_code == 2
    assert "--session and -c are both given" in result.stderr


def test_progress_of_files_is_on_a_terminal_only(monkeypatch, capsys):
    report = MediaProgress("a.pdf", 2, 5, "files")
    with FileProgress(silent=False) as progress:
        progress(report)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with FileProgress(silent=True) as progress:
        progress(report)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with FileProgress(silent=False) as progress:
        progress(report)
        assert list(progress.before("ab")) == ["a", "b"]
    assert "a.pdf: 2 of 5 files" in capsys.readouterr().err
