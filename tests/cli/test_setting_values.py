"""`abstractcore config set` and `unset`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from abstractcore_cli.setting_values import with_value

MODEL = ("llm", "default", "model")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "folder" / "config.toml"
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(path))
    return path


def config(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["config", *arguments], catch_exceptions=False)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", '[llm.default]\nmodel = "x"\n'),
        ("# all mine", '# all mine\n\n[llm.default]\nmodel = "x"\n'),
        ('[llm.default]\nmodel = "old" \n# why\n', '[llm.default]\nmodel = "x"\n# why\n'),
        ("[llm.default]", '[llm.default]\nmodel = "x"\n'),
        ("[llm.default]\noptions.seed = 1\n", '[llm.default]\nmodel = "x"\noptions.seed = 1\n'),
        ('[llm]\ndefault.model = "old"\n', '[llm]\ndefault.model = "x"\n'),
        ('[llm.default]\noptions.a = """\nmodel = "y"\n"""\n', None),
        ('llm = { default = { model = "old" } }\n', None),
    ],
)
def test_only_the_line_of_the_value_changes(text, changed):
    found = with_value(text, MODEL, "x")
    assert found == changed
    assert found is None or tomllib.loads(found)["llm"]["default"]["model"] == "x"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ('# mine\n[llm.default]\nmodel = "x"\n', "# mine\n"),
        ('[llm]\ndefault.model = "x"\n', ""),
        ('[llm.a]\nmodel = "a"\n[llm.default]\nmodel = "x"\n', '[llm.a]\nmodel = "a"\n'),
        ('[llm.default]\nmodel = "x"\noptions.seed = 1\n', "[llm.default]\noptions.seed = 1\n"),
        ('llm = { default = { model = "x" } }\n', ""),
        ('llm = { default = { model = "x" }, a = { model = "a" } }\n', None),
    ],
)
def test_removed_value_takes_empty_tables_along(text, changed):
    assert with_value(text, MODEL, None) == changed


@pytest.mark.parametrize("value", ['a "b" \\ ü \x7f', 0.5, 7, True, ["a", "b"]])
def test_value_is_read_as_it_was_set(value):
    text = with_value("", ("llm", "a", "options", "b"), value)
    assert text is not None
    assert tomllib.loads(text)["llm"]["a"]["options"]["b"] == value


def test_default_model_is_set_used_shown_and_unset(file: Path):
    assert config("set", "llm.ann.model", "scripted/ann").exit_code == 0
    assert config("set", "llm.ann.options.replies", '["I am Ann."]').exit_code == 0
    result = config("set", "model", "ann")
    assert (result.exit_code, result.stdout) == (0, "")
    assert 'llm.default.model = "ann"' in result.stderr
    asked = CliRunner().invoke(app, ["ask", "Who?"], catch_exceptions=False)
    assert asked.stdout == "I am Ann.\n"
    found = json.loads(CliRunner().invoke(app, ["config", "show", "--json"]).stdout)["settings"]
    assert ("llm.default.model", "ann") in [(each["name"], each["value"]) for each in found]
    assert json.loads(config("unset", "model", "--json").stdout)["value"] is None
    assert list(tomllib.loads(file.read_text())["llm"]) == ["ann"]
    again = config("unset", "model")
    assert again.exit_code == 2
    assert "model is not set" in again.stderr
    assert [each.name for each in file.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("model", "opnai/gpt-5"), "Did you mean openai"),
        (("modle", "x"), "is not the name of a setting"),
        (("llm.fast.options.temperature", "1"), "llm.fast.model: `model` is required"),
        (("providers.ollama.api_key", "secret-12345"), "api_key"),
        (("llm.default", '{"model": "x"}'), "is not a value of a setting"),
    ],
)
def test_wrong_value_is_not_written(file: Path, arguments, message):
    result = config("set", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "secret-12345" not in result.stderr
    assert not file.exists()


def test_option_that_a_model_has_not_is_not_written(file: Path):
    assert config("set", "llm.fast.model", "ollama/llama").exit_code == 0
    before = file.read_bytes()
    result = config("set", "llm.fast.options.temprature", "1")
    assert (result.exit_code, file.read_bytes()) == (2, before)
    assert "Did you mean temperature?" in result.stderr


def test_model_without_a_key_is_set_with_a_warning(file: Path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = config("set", "model", "openai/gpt-5.4-mini")
    assert result.exit_code == 0
    assert "warning: openai: no API key" in result.stderr
    assert tomllib.loads(file.read_text()) == {"llm": {"default": {"model": "openai/gpt-5.4-mini"}}}
