"""Stored questions found and asked again by a program; what the command prints of it is tested with the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Budget,
    ConfigurationError,
    InvalidInputError,
    ModelStoreError,
    Price,
    create_llm,
)
from abstractcore.traces import RERUN_TAG, TraceStore, estimate_rerun, find_questions, rerun

DEAR, CHEAP = Price(input=200, output=1_000), Price(input=20, output=100)


def scripted(model: str, price: Price, *replies: Any, **options: Any) -> LLM:
    return create_llm("scripted", model=model, replies=[*replies], price=price, **options)


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    """A store with two questions of a dear model."""
    store = TraceStore(tmp_path / "traces.db")
    llm = scripted("dear", DEAR, "At noon.", "In Oslo.")
    with store.keep("full"):
        llm.generate("When do we meet?", tags={"team": "a"})
        llm.generate("Where do we meet?")
    yield store
    store.close()


def test_questions_are_found_by_words_tags_and_ids(asked):
    when, where = find_questions(asked)[::-1]
    assert [each.id for each in find_questions(asked, "meet")] == [where.id, when.id]
    assert [each.id for each in find_questions(asked, tags={"team": "a"})] == [when.id]
    assert [each.id for each in find_questions(asked, when.id)] == [when.id]
    assert find_questions(asked, model="cheap") == []


def test_reruns_are_yielded_one_by_one_and_are_no_questions(asked):
    with asked.keep("full"):
        results = rerun(scripted("cheap", CHEAP, "At  noon.", "In Rome."), find_questions(asked)[::-1])
        assert [result.verdict for result in results] == ["equal", "different"]
    assert len(find_questions(asked)) == 2
    tags = [call.tags[RERUN_TAG] for call in asked.calls(model="cheap")]
    assert tags == [question.id for question in find_questions(asked)]


def test_cost_is_what_the_calls_cost(asked):
    for result in rerun(scripted("cheap", CHEAP, "In Oslo.", "At noon."), find_questions(asked)):
        assert result.cost == result.question.costs.known / 10


def test_budget_that_refuses_a_request_ends_it(asked):
    llm = scripted("cheap", CHEAP, "word " * 250, "Not sent.")
    budget = Budget(usd=0.03)
    with budget:
        first, second = rerun(llm, find_questions(asked))
    assert [first.verdict, second.verdict, second.trace_id] == ["different", "stopped", None]
    assert budget.state().spent == first.cost


def test_unknown_prices_are_an_error_of_a_budget_and_no_estimate(asked):
    llm = create_llm("openai-compatible/m", base_url="http://127.0.0.1:9")
    questions = find_questions(asked)
    assert estimate_rerun(llm, questions) is None
    with Budget(usd=1), pytest.raises(ConfigurationError, match="price"):
        next(rerun(llm, questions))


def test_question_that_was_not_kept_is_refused(asked):
    with asked.keep("redacted"):
        scripted("dear", DEAR, "No.").generate("Is it secret?", tags={"team": "b"})
    with pytest.raises(InvalidInputError, match="only the sizes of its content were kept"):
        next(rerun(scripted("cheap", CHEAP, "No."), find_questions(asked, tags={"team": "b"})))


def test_question_whose_file_is_gone_or_changed_is_refused(asked, tmp_path):
    bill = tmp_path / "bill.txt"
    bill.write_text("42.50")
    with asked.keep("full"):
        scripted("dear", DEAR, "42.50.").generate("What is the total?", media=[str(bill)])
    (question,) = find_questions(asked, "total")
    assert question.missing is None
    bill.write_text("43.50 euros")
    assert question.missing == f"its file has changed, or cannot be read: {bill}"
    bill.unlink()
    assert question.missing == f"its file is gone: {bill}"


def test_weights_that_do_not_exist_end_it_at_the_first_question(asked):
    with asked.keep("full"), pytest.raises(ModelStoreError, match="nowhere"):
        list(rerun(create_llm(model="nowhere/at-all"), find_questions(asked)))
