"""`abstractcore logs`: what was asked and answered."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from abstractcore import ModelReply, Services, ToolCall, create_llm, tool
from abstractcore.traces import TraceStore
from tests.cli.tracing.traces import invoke


@tool
def look() -> str:
    """Looks."""
    return "seen"


@pytest.fixture
def place(tmp_path: Path) -> str:
    """The path of a database with two questions, the first of which was answered after a tool had run."""
    path = str(tmp_path / "traces.db")
    replies = [ModelReply((ToolCall("c", "look"),)), "Rain,\nall day.", "An invoice."]
    with closing(TraceStore(path)) as store:
        services = Services()
        with store.keep_for(services.records, "full"):
            llm = create_llm("scripted/ann", replies=replies, services=services)
            llm.generate("What weather?", tools=[look], run_tools=True)
            llm.generate("What is this?")
            services.close()
        store.flush()
    return path


def test_questions_are_listed_with_their_answers_the_newest_first(place):
    result = invoke("logs", "--store", place)
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[4:] for row in rows] == [["What is this?", "An invoice.", ""], ["What weather?", "Rain, all day.", ""]]
    assert [row[2] for row in rows] == ["scripted/ann"] * 2
    assert "export ABSTRACTCORE_TRACES=full" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["-n", "1"], ["What is this?"]),
        (["list", "-n", "1"], ["What is this?"]),
        (["weather"], ["What weather?"]),
        (["what", "this"], ["What is this?"]),
        (['"what this"'], []),
        (["--model", "scripted/bob"], []),
    ],
)
def test_words_and_options_choose_questions(place, arguments, found):
    result = invoke("logs", *arguments, "--store", place, "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, [each["question"] for each in data["logs"]]) == (0, found)


def test_a_question_is_shown_with_its_tools(place):
    first = json.loads(invoke("logs", "weather", "--store", place, "--json").stdout)["logs"][0]
    result = invoke("logs", "show", first["trace_id"], "--store", place)
    assert result.exit_code == 0
    assert "look()" in result.stdout
    assert "all day." in result.stdout


def test_redacted_texts_are_named_as_such(tmp_path: Path):
    path = str(tmp_path / "traces.db")
    with closing(TraceStore(path)) as store:
        services = Services()
        with store.keep_for(services.records, "redacted"):
            create_llm("scripted/ann", replies=["a"], services=services).generate("Secret?")
            services.close()
        store.flush()
    result = invoke("logs", "--store", path)
    assert "Secret?" not in result.stdout
    assert "ABSTRACTCORE_TRACES=full keeps it" in result.stdout


def test_without_traces_the_error_says_how_to_keep_them(tmp_path: Path):
    result = invoke("logs", "--store", str(tmp_path / "none.db"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no traces are kept" in result.stderr


def test_help_lists_the_commands():
    result = invoke("logs", "--help")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in ("list", "show"))
