"""`abstractcore media`: the plan for files as a table and as JSON, without a key."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from tests.media.parts import EXAMPLES, FILES

PDF, CLIP = str(FILES / "two_pages.pdf"), str(EXAMPLES / "talk.mp4")


def run(*arguments: str):
    return CliRunner().invoke(app, ["media", *arguments])


@pytest.mark.process
def test_table_has_a_line_for_each_file():
    result = run(PDF, CLIP, "--provider", "google/gemini-2.5-flash")
    lines = [line.split("\t")[:5] for line in result.stdout.splitlines()]
    assert lines == [
        ["two_pages.pdf", "application/pdf", "2 pages", "native", "516"],
        ["talk.mp4", "video/mp4", "320 x 180, 7.0 s", "native", "2,065"],
    ]
    assert result.exit_code == 0
    assert re.search(
        r"^about 2,\d{3} tokens of input, \$0\.0\d+ to \$\d\.\d+ with the answer$", result.stderr, re.MULTILINE
    )


@pytest.mark.process
def test_model_may_name_its_provider():
    line = run(PDF, "--model", "google/gemini-2.5-flash").stdout.split("\t")
    assert line[3:5] == ["native", "516"]


@pytest.mark.process
def test_model_without_a_provider_that_is_not_on_this_machine_is_a_warning():
    assert "--provider PROVIDER/gpt-6-luna" in run(PDF, "--model", "gpt-6-luna").stderr
    for known in ("google/gemini-2.5-flash", "qwen2.5-coder-1.5b", "own.gguf", "hf:owner/name/file.gguf"):
        assert "PROVIDER/" not in run(PDF, "--model", known).stderr


@pytest.mark.process
def test_json_has_the_plan():
    result = run(CLIP, "--provider", "anthropic", "--model", "claude-haiku-4-5", "--json")
    plan = json.loads(result.stdout)
    (decision,) = plan["media"]
    assert (decision["route"], decision["facts"]["seconds"]) == ("fallback", 7.0)
    assert plan["estimated_input_tokens"] > 20
    assert 0 < float(plan["estimated_cost"]["low"]) < float(plan["estimated_cost"]["high"])


@pytest.mark.parametrize("arguments", [["no-such-file.pdf"], [PDF, "--provider", "no-such-provider"]])
def test_call_that_would_be_refused_has_exit_code_2(arguments: list[str]):
    assert run(*arguments).exit_code == 2
    result = run(*arguments, "--json")
    assert (result.exit_code, json.loads(result.stdout)["exit_code"]) == (2, 2)


@pytest.mark.process
def test_a_file_that_cannot_be_used_does_not_end_the_list(tmp_path: Path):
    (tmp_path / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c\0\x04" + b"x" * 20)
    (tmp_path / "note.txt").write_text("hello")
    result = run(str(tmp_path / "a.7z"), str(tmp_path / "note.txt"), "--provider", "google/gemini-2.5-flash")
    assert result.stdout.split("\t")[0] == "note.txt"
    assert "a.7z is a 7z archive" in result.stderr
    assert result.exit_code == 2


@pytest.mark.process
def test_a_file_that_cannot_be_used_does_not_end_the_list_in_json(tmp_path: Path):
    (tmp_path / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c\0\x04" + b"x" * 20)
    (tmp_path / "b.docx").write_bytes(b"PK\x03\x04" + b"x" * 200)
    (tmp_path / "note.txt").write_text("hello")
    files = [str(tmp_path / name) for name in ("a.7z", "b.docx", "note.txt")]
    result = run(*files, "--provider", "google/gemini-2.5-flash", "--json")
    shown = json.loads(result.stdout)
    assert [each["source"] for each in shown["media"]] == ["note.txt"]
    assert [each["source"] for each in shown["errors"]] == ["a.7z", "b.docx"]
    assert (result.exit_code, shown["exit_code"]) == (2, 2)


@pytest.mark.process
def test_list_of_files_that_cannot_be_used_at_all_has_their_errors(tmp_path: Path):
    for name in ("a.docx", "b.docx"):
        (tmp_path / name).write_bytes(b"PK\x03\x04" + b"x" * 200)
    result = run(*(str(tmp_path / name) for name in ("a.docx", "b.docx")), "--model", "google/gemini-2.5-flash")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a.docx" in result.stderr
    assert "b.docx" in result.stderr


@pytest.fixture
def page_with_losses(tmp_path: Path) -> str:
    page = tmp_path / "page.html"
    page.write_text("<p>Shown</p><canvas>drawn</canvas><p hidden>not shown</p>")
    return str(page)


@pytest.mark.process
def test_losses_of_a_conversion_are_shown_and_nothing_is_sent(page_with_losses: str):
    arguments = [page_with_losses, "--provider", "openai/gpt-5.4-mini"]
    (line,) = run(*arguments).stdout.splitlines()
    assert "hidden" in line.split("\t")[5]
    (decision,) = json.loads(run(*arguments, "--json").stdout)["media"]
    assert [loss["count"] for loss in decision["lost"]] == [1, 1]
    assert "sent" not in decision


@pytest.mark.process
def test_guessed_encoding_is_a_warning_of_the_command(tmp_path: Path):
    (tmp_path / "prices.csv").write_bytes("Größe;Maß\n1;2\n".encode("cp1252"))
    result = run(str(tmp_path / "prices.csv"), "--provider", "openai/gpt-5.4-mini")
    assert "warning: prices.csv" in result.stderr


@pytest.mark.process
def test_conversion_that_needs_a_model_is_named_as_not_run():
    result = run(CLIP, "--provider", "anthropic", "--model", "claude-haiku-4-5", "--json")
    assert json.loads(result.stdout)["not_run"] == [
        {"source": "talk.mp4", "reason": "frames+transcript needs a model, or minutes"}
    ]
    (line,) = run(CLIP, "--provider", "anthropic", "--model", "claude-haiku-4-5").stdout.splitlines()
    assert line.split("\t")[5] == "not known: frames+transcript needs a model, or minutes"
