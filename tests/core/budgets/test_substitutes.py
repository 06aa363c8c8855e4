"""Calls that do not fit into a budget, made by a cheaper model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Budget,
    BudgetExceededError,
    CallRecord,
    InvalidInputError,
    Price,
    Services,
    UnknownProviderError,
    create_llm,
    tool,
)
from abstractcore.budgets import MemoryLedger
from abstractcore.testing import ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS, RESET, ScriptedServer, completion
from tests.core.tools.loops import WAYS, Way, calls

DEAR = Price(input=1_000_000, output=1_000_000)
CHEAP = Price(input=1_000, output=1_000)


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """Whole and streamed answers, sync and async."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def services() -> Iterator[Services]:
    services = Services(environment={}, random=lambda: 0.0)
    yield services
    services.close()


@pytest.fixture
def small(services: Services) -> LLM:
    return create_llm("scripted", model="small", replies=lambda call: "cheap", services=services, price=CHEAP)


def large(services: Services, budgets: Any = (), **options: Any) -> LLM:
    options = {"replies": lambda call: "dear", "max_output_tokens": 20, **options}
    return create_llm("scripted", model="large", services=services, price=DEAR, budgets=[*budgets], **options)


def test_cheaper_model_answers_and_is_reported(way: Way, services: Services, small: LLM):
    budget = Budget(10, per="day", name="team", on_exceeded=small)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, "full"):
        response = way.generate(large(services, [budget]), "hi")
    assert (response.content, response.provider, response.model) == ("cheap", "scripted", "small")
    (warning,) = response.warnings
    assert (warning.code, warning.requested, warning.sent) == ("model_substituted", "scripted/large", "scripted/small")
    assert warning.message == (
        "the call did not fit into the budget 'team': scripted/small answered instead of scripted/large"
    )
    (record,) = records
    assert (record.model, record.provider, record.warnings) == ("small", "scripted", response.warnings)
    assert record.call is not None
    assert record.call.model == "small"
    assert record.cost == response.cost == budget.state().spent > 0
    assert response.cost is not None
    assert response.cost < 1


def test_cheaper_model_has_to_fit_too(way: Way, services: Services, small: LLM):
    llm = large(services, [Budget(0.001, name="team", on_exceeded=small)])
    with pytest.raises(BudgetExceededError) as caught:
        way.generate(llm, "hi")
    assert caught.value.model == "small"
    assert not small.calls


def test_budgets_of_one_name_in_two_ledgers_have_models_of_their_own(way: Way, services: Services, small: LLM):
    other = create_llm("scripted", model="other", replies=lambda call: "?", services=services, price=CHEAP)
    roomy = Budget(1_000, name="team", on_exceeded=other, ledger=MemoryLedger())
    tight = Budget(10, name="team", on_exceeded=small, ledger=MemoryLedger())
    assert way.generate(large(services, [roomy, tight]), "hi").model == "small"
    silent = Budget(10, name="team", ledger=MemoryLedger())
    with pytest.raises(BudgetExceededError):
        way.generate(large(services, [roomy, silent]), "hi")
    assert not other.calls


def test_all_budgets_hold_for_the_cheaper_model(way: Way, services: Services, small: LLM):
    outer = Budget(0.001, name="outer")
    with outer, pytest.raises(BudgetExceededError) as caught:
        way.generate(large(services, [Budget(10, on_exceeded=small)]), "hi")
    assert caught.value.budget == "outer"
    assert outer.state().spent == 0


def test_each_model_has_its_share(services: Services, small: LLM):
    budget = Budget(60, per="day", by="model", on_exceeded=small)
    llm = large(services, [budget])
    models = [llm.generate("hi").model for _ in range(40)]
    assert models == sorted(models)
    assert set(models) == {"large", "small"}
    assert budget.state("scripted/large").spent <= 60
    assert budget.state("scripted/small").spent > 0


@pytest.mark.parametrize("is_async", [False, True])
def test_function_chooses_the_model(way: Way, services: Services, small: LLM, is_async: bool):
    errors: list[BudgetExceededError] = []

    def choose(error: BudgetExceededError) -> LLM | None:
        errors.append(error)
        return small if len(errors) == 1 else None

    async def achoose(error: BudgetExceededError) -> LLM | None:
        return choose(error)

    llm = large(services, [Budget(10, name="team", on_exceeded=achoose if is_async else choose)])
    assert way.generate(llm, "hi").content == "cheap"
    with pytest.raises(BudgetExceededError) as caught:
        way.generate(llm, "hi")
    assert caught.value is errors[1]
    assert errors[0].budget == "team"


def test_name_of_a_model_is_created_with_the_same_services(server: Any, connect: Any, monkeypatch: Any):
    server.script(completion("cheap"))
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "unused")
    budget = Budget(0.01, on_exceeded="nothing/at-all")
    with pytest.raises(UnknownProviderError, match="nothing"):
        connect(price=DEAR, budgets=[budget]).generate("hi")
    cheap = connect(price=Price(0, 0))
    response = connect(price=DEAR, budgets=[Budget(0.01, on_exceeded=cheap)]).generate("hi")
    assert response.content == "cheap"


def test_headers_of_another_provider_are_not_sent(server: Any, connect: Any, services: Services):
    server.script(completion("cheap"))
    other = connect(price=Price(0, 0), headers={"x-own": "kept"})
    large(services, [Budget(10, on_exceeded=other)]).generate("hi", headers={"authorization": "Bearer secret"})
    (request,) = server.requests
    assert request.headers["x-own"] == "kept"
    assert "secret" not in str(request.headers)


def test_function_that_returns_anything_else_is_reported(services: Services):
    llm = large(services, [Budget(10, on_exceeded=lambda error: 3)])
    with pytest.raises(InvalidInputError, match="on_exceeded: expected the name of a model, an LLM or None, got int"):
        llm.generate("hi")


def test_round_of_tools_is_made_by_the_cheaper_model(way: Way, services: Services):
    @tool
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    small = create_llm("scripted", model="small", replies=lambda call: "3", services=services, price=CHEAP)
    first = calls(("add", {"a": 1, "b": 2}))
    first = ScriptedReply(first.pieces, usage=_usage(100))
    llm = large(services, [Budget(250, on_exceeded=small)], replies=[first], max_output_tokens=100)
    response = way.generate(llm, "1 + 2?", tools=[add], run_tools=True)
    assert (response.content, response.model) == ("3", "small")
    assert [step.text for step in small.calls[0].messages[-1].parts[0].content] == ["3"]  # type: ignore[union-attr]


def test_attempts_before_the_cheaper_model_have_their_own_prices(
    way: Way, services: Services, server: ScriptedServer, small: LLM
):
    """A request whose connection breaks is lost; the next one does not fit into what is left."""
    records: list[CallRecord] = []
    budget = Budget(50, per="day", name="team", on_exceeded=small)
    llm = create_llm(
        "openai-compatible/large",
        base_url=f"{server.url}/v1",
        price=DEAR,
        services=services,
        budgets=[budget],
        max_output_tokens=40,
        max_retries=1,
    )
    server.script(RESET)
    with services.records.subscribe(records.append):
        response = way.generate(llm, "hi")
        assert services.records.flush(PATIENCE_SECONDS)
    (record,) = records
    lost, answered = record.attempts
    assert (lost.provider, lost.model) == ("openai-compatible", "large")
    assert (answered.provider, answered.model) == ("scripted", "small")
    assert lost.estimated_cost is not None
    assert lost.estimated_cost >= 6  # dollars for the tokens of the question, and more the longer it took
    assert answered.cost is not None
    assert 0 < answered.cost < 1
    assert response.cost == record.cost == answered.cost == budget.state().known
    assert response.estimated_cost == record.estimated_cost == lost.estimated_cost == budget.state().estimated


def _usage(output: int) -> Any:
    from abstractcore import Usage

    return Usage(100, output)
