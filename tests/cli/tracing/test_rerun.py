"""`abstractcore traces rerun`: stored questions asked again of another model, without running a tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import abstractcore
from abstractcore import Price, create_llm, tool
from abstractcore.testing import ScriptedReply
from abstractcore.traces import TraceStore
from tests.cli.tracing.traces import invoke

DEAR, CHEAP = Price(input=25, output=100), Price(input=1, output=2)
CAPITAL = {"type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"]}
AS_JSON = '{"capital": "Oslo"}'
ran: list[str] = []


@tool(read_only=True)
def calendar(day: str) -> str:
    """Looks up a day."""
    ran.append(day)
    return f"{day}: at 9.30"


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A database with four questions: with a tool, plain, with a schema, and redacted."""
    ran.clear()
    store = TraceStore(tmp_path / "traces.db")

    def llm(*replies: Any) -> abstractcore.LLM:
        return create_llm("scripted", model="dear", replies=[*replies], price=DEAR)

    with store.keep("full"):
        call = ScriptedReply.tool_call("calendar", {"day": "Monday"})
        llm(call, "At 9.30.").generate("When is the meeting?", tools=[calendar], run_tools=True, tags={"team": "a"})
        llm("It is  blue.").generate("What colour is the sky?", temperature=0.5)
        llm(AS_JSON).generate("The capital of Norway?", response_model=CAPITAL)
    with store.keep("redacted"):
        llm("Secret.").generate("What is it?", tags={"team": "secret"})
    store.close()
    return str(tmp_path / "traces.db")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Scripts the other model."""

    def script(*replies: Any) -> None:
        def create(provider: Any, model: Any, **options: Any) -> abstractcore.LLM:
            return create_llm("scripted", model="cheap", replies=[*replies], price=CHEAP, **options)

        monkeypatch.setattr(abstractcore, "create_llm", create)

    return script


def rows(result: Any) -> list[list[str]]:
    return [line.split("\t") for line in result.stdout.splitlines()]


def rerun(place: str, *arguments: str) -> Any:
    return invoke("traces", "rerun", *arguments, "--model", "scripted/cheap", "--yes", "--store", place)


def test_tools_are_answered_from_the_trace_and_never_run(place, answers):
    answers(ScriptedReply.tool_call("calendar", {"day": "Monday"}), "At 9.30.")
    result = rerun(place, "meeting")
    assert result.exit_code == 0
    assert rows(result)[0][1] == "equal"
    assert ran == ["Monday"]
    first_line, *_, last_line = result.stderr.splitlines()
    assert first_line.startswith("1 question, about 2 calls of scripted/cheap; estimated cost: $")
    assert last_line.startswith("Stored with the tag rerun_of")


def test_call_without_a_stored_result_is_an_error_for_the_model_and_named(place, answers):
    answers(ScriptedReply.tool_call("calendar", {"day": "Friday"}), "I do not know.")
    result = rerun(place, "meeting")
    assert [rows(result)[0][1], rows(result)[0][-1]] == ["different", "1 tool call without a stored result"]
    assert ran == ["Monday"]


def test_answers_that_differ_in_spaces_only_are_equal(place, answers):
    answers("It is blue.")
    assert rows(rerun(place, "sky"))[0][1] == "equal"


@pytest.mark.parametrize(("text", "check"), [(AS_JSON, "valid"), ('{"town": "Oslo"}', "not of its schema")])
def test_schema_of_the_call_is_checked(place, answers, text, check):
    answers(text)
    assert rows(rerun(place, "Norway"))[0][-1] == check


def test_verification_of_the_call_is_made_again(place, answers, tmp_path):
    store = TraceStore(place)
    (tmp_path / "bill.txt").write_text("Total: 42.50 euros")
    with store.keep("full"):
        llm = create_llm("scripted", model="dear", replies=["The total is 42.50 euros."], price=DEAR)
        llm.generate("What is the total?", media=[str(tmp_path / "bill.txt")], verify=True)
    store.close()
    answers("The total is 43.50 euros.")
    assert rows(rerun(place, "total"))[0][-1] == "0 agreed, 1 doubtful (was 1 agreed, 0 doubtful)"


def test_question_is_named_by_the_beginning_of_an_id(place, answers):
    store = TraceStore.existing(place)
    (call,) = store.calls(text="sky")
    store.close()
    answers("It is blue.")
    assert rerun(place, call.trace_id[:12]).stdout.startswith(call.trace_id)


def test_value_that_no_question_has_names_those_that_are_stored(place, answers):
    answers()
    assert rerun(place, "--tag", "taem=a").stderr.splitlines()[1] == "No call matches; stored tags: team"


def test_redacted_traces_say_what_is_missing(place, answers):
    answers()
    result = rerun(place, "--tag", "team=secret")
    assert result.exit_code == 2
    assert ": only the sizes of its content were kept" in result.stderr
    assert "none of these questions can be asked again" in result.stderr


def test_reruns_are_stored_with_their_tag_and_not_asked_again(place, answers):
    answers("It is green.")
    before = json.loads(invoke("traces", "search", "sky", "--json", "--store", place).stdout)["calls"][0]
    rerun(place, "sky")
    tag = f"rerun_of={before['trace_id']}"
    stored = json.loads(invoke("traces", "list", "--tag", tag, "--json", "--store", place).stdout)["calls"]
    assert [call["model"] for call in stored] == ["cheap"]
    answers("It is green.")
    assert len(rows(rerun(place, "sky"))) == 1


def test_limit_of_dollars_ends_it_before_the_next_request(place, answers):
    answers("word " * 1000, "No more.")
    result = rerun(place, "--max-usd", "0.001", "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["stopped"], data["exit_code"]) == (1, True, 1)
    assert [row["answer"] for row in data["reruns"]] == ["different"]
    assert len(data["left_out"]) == 1


def test_limit_of_dollars_needs_known_prices(place):
    model = ["--provider", "openai-compatible/m", "--base-url", "http://127.0.0.1:9"]
    result = invoke("traces", "rerun", "sky", *model, "--max-usd", "1", "--yes", "--store", place)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the prices of openai-compatible/m are unknown" in result.stderr


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "much"])
def test_limit_that_is_no_amount_is_a_usage_error(place, answers, amount):
    answers()
    assert f"expected dollars above 0, got '{amount}'" in rerun(place, "sky", f"--max-usd={amount}").stderr


def test_nothing_is_sent_without_consent(place, answers):
    answers()
    result = invoke("traces", "rerun", "sky", "--model", "scripted/cheap", "--store", place)
    assert (result.exit_code, "nothing was sent" in result.stderr) == (2, True)


def test_interrupted_rerun_shows_what_was_asked(place, answers, monkeypatch):
    answers("At 9.30.", "It is blue.")
    run, asked = abstractcore.LLM.run, []

    def interrupted(self: Any, call: Any) -> Any:
        asked.append(call)
        if len(asked) > 1:
            raise KeyboardInterrupt
        return run(self, call)

    monkeypatch.setattr(abstractcore.LLM, "run", interrupted)
    result = rerun(place)
    assert (result.exit_code, len(rows(result))) == (130, 1)


def test_failed_question_is_a_row_and_others_go_on(place, answers):
    answers(abstractcore.BadRequestError("too long"), "At 9.30.", "x")
    result = rerun(place)
    assert result.exit_code == 1
    assert [row[1] for row in rows(result)] == ["failed", "different", "different"]


def test_unknown_question_and_no_model_are_usage_errors(place, answers):
    answers()
    assert "no stored question matches" in rerun(place, "unicorn").stderr
    assert "no model is named" in invoke("traces", "rerun", "sky", "--store", place).stderr


def test_provider_with_a_typo_is_named_before_anything_is_asked(place):
    result = invoke("traces", "rerun", "sky", "--model", "opnai/x", "--yes", "--store", place)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == ["error: no provider is called 'opnai'.", "Did you mean openai?"]


def test_question_whose_file_is_gone_is_left_out(place, answers, tmp_path):
    store = TraceStore(place)
    (tmp_path / "bill.txt").write_text("Total: 42.50 euros")
    with store.keep("full"):
        create_llm("scripted", model="dear", replies=["42.50"]).generate("Total?", media=[str(tmp_path / "bill.txt")])
    store.close()
    (tmp_path / "bill.txt").unlink()
    answers()
    result = rerun(place, "Total")
    assert (result.exit_code, f": its file is gone: {tmp_path / 'bill.txt'}" in result.stderr) == (2, True)
