"""What budgets count: each request that a provider may charge for, once, whatever it is for and however it ends."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    BadRequestError,
    Billing,
    Budget,
    BudgetExceededError,
    CallRecord,
    ConfigurationError,
    ConnectionFailedError,
    ModelReply,
    OutputValidationError,
    Price,
    RequestTimeoutError,
    ServerError,
    Services,
    StreamInterruptedError,
    TextPart,
    Usage,
    create_llm,
    tool,
)
from abstractcore.budgets import MemoryLedger
from abstractcore.ports import Conversion, Fallback
from abstractcore.registry import Registry
from abstractcore.telemetry import attempt_tokens
from abstractcore.testing import AsyncCalls, CallStyle, ScriptedReply, VirtualClock
from tests.chaos_server import (
    CUT,
    HANG,
    RESET,
    chunk,
    completion,
    delta,
    failure,
    stream_head,
    streamed,
)
from tests.core.engine.test_operations import VECTORS, Vendor, operate
from tests.core.tools.loops import WAYS, Way, calls
from tests.media_doubles import PICTURE, Handler, registry

PRICE = Price(input=1_000_000, output=1_000_000)
"""A dollar for each token."""


@pytest.fixture
def services() -> Iterator[Services]:
    """With the real time, which the states of budgets are of."""
    services = Services(environment={}, random=lambda: 0.0)
    yield services
    services.close()


@pytest.fixture
def budget() -> Budget:
    return Budget(10_000)


@pytest.fixture
def records(services: Services) -> Iterator[list[CallRecord]]:
    records: list[CallRecord] = []
    with services.records.subscribe(records.append):
        yield records


def spent(records: list[CallRecord], services: Services) -> Decimal:
    assert services.records.flush(10)
    return sum(((each.cost or 0) + (each.estimated_cost or 0) for each in records), Decimal(0))


def settled(budget: Budget) -> Decimal:
    """Returns what was spent, of a budget in which nothing is reserved any more."""
    state = budget.state()
    assert state.reserved == 0
    return state.spent


def test_whole_and_streamed_answers_count_their_cost(call_style: CallStyle, server, connect, budget: Budget):
    server.script(completion())
    server.script(streamed("he", "llo"))
    llm = connect(price=PRICE, budgets=[budget])
    cost = call_style.generate(llm, "hi").cost
    with call_style.stream(llm, "hi") as stream:
        for _ in stream:
            pass
    assert stream.response.cost is not None
    assert settled(budget) == cost + stream.response.cost > 0


def test_stream_reserves_until_its_end(server, connect, budget: Budget):
    server.script(streamed("he", "llo"))
    with connect(price=PRICE, budgets=[budget]).stream("hi") as stream:
        next(stream)
        assert budget.state().reserved > 0
        assert budget.state().spent == 0
        list(stream)
        assert budget.state().reserved == 0


def unfinished(*texts: str) -> bytes:
    return stream_head() + b"".join(chunk(delta(text)) for text in texts)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of an async stream that is dropped
@pytest.mark.parametrize("way", ["closed", "dropped"])
def test_abandoned_stream_counts_what_arrived(
    call_style: CallStyle, server, connect, services: Services, budget: Budget, records, way: str
):
    server.script(unfinished("one two three four five six seven", " eight"), HANG)
    llm = connect(price=PRICE, budgets=[budget], max_output_tokens=1000)
    stream = call_style.stream(llm, "hi")
    next(stream)
    assert budget.state().reserved >= 1000
    if way == "closed":
        stream.close()
    else:
        del stream
        gc.collect()
    assert 7 <= settled(budget) == spent(records, services) < 40


def test_cut_stream_counts_what_arrived(
    call_style: CallStyle, server, connect, services: Services, budget: Budget, records
):
    server.script(unfinished("one two three four five six seven", " eight"), CUT)
    stream = call_style.stream(connect(price=PRICE, budgets=[budget], max_output_tokens=1000), "hi")
    with pytest.raises(StreamInterruptedError):
        list(stream)
    assert 7 <= settled(budget) == spent(records, services) < 40


def test_refused_requests_count_nothing(call_style: CallStyle, server, connect, budget: Budget):
    for response in (failure(400), failure(503), failure(429), completion()):
        server.script(response)
    llm = connect(price=PRICE, budgets=[budget])
    with pytest.raises(BadRequestError):
        call_style.generate(llm, "hi")
    assert settled(budget) == 0
    response = call_style.generate(llm, "hi")
    assert len(response.attempts) == 3
    assert settled(budget) == response.cost


def test_request_that_nobody_reads_counts_nothing(call_style: CallStyle, services: Services, budget: Budget):
    llm = create_llm(
        "openai-compatible",
        model="m",
        base_url="http://127.0.0.1:1/v1",
        max_retries=0,
        services=services,
        price=PRICE,
        budgets=[budget],
    )
    with pytest.raises(ConnectionFailedError):
        call_style.generate(llm, "hi")
    assert settled(budget) == 0


def test_request_without_an_answer_counts_its_estimate(
    call_style: CallStyle, server, connect, services: Services, budget: Budget, records
):
    server.script(HANG)
    llm = connect(price=PRICE, budgets=[budget], max_output_tokens=10, timeout=0.2, max_retries=0)
    with pytest.raises(RequestTimeoutError):
        call_style.generate(llm, "hi")
    assert settled(budget) == spent(records, services) > 5


def test_broken_connection_counts_its_estimate(
    call_style: CallStyle, server, connect, services: Services, budget: Budget, records
):
    server.script(RESET)
    llm = connect(price=PRICE, budgets=[budget], max_output_tokens=10, max_retries=0)
    with pytest.raises(ConnectionFailedError):
        call_style.generate(llm, "hi")
    assert settled(budget) == spent(records, services) > 5


def test_answer_that_cannot_be_read_counts_its_estimate(
    call_style: CallStyle, server, connect, services: Services, budget: Budget, records
):
    server.script(stream_head().replace(b"text/event-stream", b"application/json") + chunk(b"{}"), CUT)
    llm = connect(price=PRICE, budgets=[budget], max_output_tokens=10, max_retries=0)
    with pytest.raises((ServerError, ConnectionFailedError)):
        call_style.generate(llm, "hi")
    assert settled(budget) == spent(records, services) > 5


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """Whole and streamed answers, sync and async."""
    with Way.of(request.param) as way:
        yield way


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


ADD = calls(("add", {"a": 1, "b": 2}))


def test_each_round_of_tools_is_counted(way: Way, services: Services, budget: Budget, records):
    llm = create_llm("scripted", replies=[ADD, "3"], services=services, price=PRICE, budgets=[budget])
    response = way.generate(llm, "1 + 2?", tools=[add], run_tools=True)
    assert settled(budget) == response.cost == spent(records, services)
    assert len(records) == 2


@pytest.mark.parametrize("in_database", [False, True])
def test_declared_price_of_a_tool_is_counted(way: Way, services: Services, tmp_path: Path, in_database: bool):
    @tool(price=7)
    def search(query: str) -> str:
        """Searches."""
        return query

    budget = Budget(1000, ledger=tmp_path / "budgets.db" if in_database else None)
    replies = [calls(("search", {"query": "a"}), ("search", {"query": "b"})), "found"]
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE, budgets=[budget])
    response = way.generate(llm, "Search.", tools=[search], run_tools=True)
    assert settled(budget) == response.cost > 14


def test_round_that_does_not_fit_ends_the_loop_with_its_state(way: Way, services: Services):
    first = replace(ADD, usage=Usage(10, 100))
    llm = create_llm("scripted", replies=[first, "3"], services=services, price=PRICE, max_output_tokens=200)
    with Budget(300), pytest.raises(BudgetExceededError) as caught:
        way.generate(llm, "1 + 2?", tools=[add], run_tools=True)
    assert caught.value.loop is not None
    assert [step.outcome for step in caught.value.loop.steps] == ["done"]
    assert len(llm.calls) == 1


def test_corrections_and_thrown_away_answers_are_counted(way: Way, services: Services, budget: Budget, records):
    llm = create_llm("scripted", replies=["no number", "no"], services=services, price=PRICE, budgets=[budget])
    with pytest.raises(OutputValidationError):
        way.generate(llm, "A number?", response_model=int)
    assert settled(budget) == spent(records, services) > 0
    assert len(records) == 2


class Pictures(Handler):
    """Pictures that a vision model describes."""

    def convert(self, part: Any, context: Any) -> Conversion:
        caption = context.caption([part], "What does it show?")
        return Conversion(caption.text, "caption", caption.usage, model=caption.model)


@pytest.fixture
def seeing() -> Iterator[Services]:
    caption = Fallback("caption", frozenset({"text"}), needs="vision_model")
    services = Services(
        registry=registry(Pictures("pictures", "image", b"PICTURE", "image/png", (caption,))), environment={}
    )
    yield services
    services.close()


def test_caption_by_another_model_is_counted_once(call_style: CallStyle, seeing: Services, budget: Budget):
    eye = create_llm("scripted", model="eye", replies=["A barn."], accepts=["image"], services=seeing, price=PRICE)
    llm = create_llm("scripted", replies=["Red."], vision_model=eye, services=seeing, price=PRICE, budgets=[budget])
    response = call_style.generate(llm, "Which colour?", media=[PICTURE])
    assert len(eye.calls) == 1
    assert settled(budget) == response.cost > 0


def test_caption_that_does_not_fit_is_not_made(call_style: CallStyle, seeing: Services):
    eye = create_llm("scripted", model="eye", replies=["A barn."], accepts=["image"], services=seeing, price=PRICE)
    llm = create_llm("scripted", replies=["Red."], vision_model=eye, services=seeing, price=PRICE, budgets=[Budget(9)])
    with pytest.raises(BudgetExceededError):
        call_style.generate(llm, "Which colour?", media=[PICTURE])
    assert (len(eye.calls), len(llm.calls)) == (0, 0)


def test_model_without_a_price_is_refused_by_default(call_style: CallStyle, connect):
    with pytest.raises(ConfigurationError, match="'team' cannot limit this call: no price is known") as caught:
        call_style.generate(connect(budgets=[Budget(5, name="team")]), "hi")
    assert "unpriced" in (caught.value.hint or "")


def test_budget_that_refuses_leaves_nothing_reserved_in_others(call_style: CallStyle, connect):
    allowing = Budget(5, unpriced=1)
    with pytest.raises(ConfigurationError):
        call_style.generate(connect(budgets=[allowing, Budget(5, name="team")]), "hi")
    assert settled(allowing) == 0


def test_ledger_that_fails_leaves_nothing_reserved_in_others(call_style: CallStyle, services: Services, budget: Budget):
    class Failing(MemoryLedger):
        def reserve(self, *arguments: Any) -> Any:
            raise ZeroDivisionError

    llm = create_llm(
        "scripted", services=services, price=PRICE, replies=[], budgets=[budget, Budget(5, ledger=Failing())]
    )
    with pytest.raises(ZeroDivisionError):
        call_style.generate(llm, "hi")
    assert settled(budget) == 0


def test_model_without_a_price_is_allowed_and_reported(call_style: CallStyle, server, connect):
    server.script(completion())
    budget = Budget(5, unpriced="allow")
    (warning,) = call_style.generate(connect(budgets=[budget]), "hi").warnings
    assert (warning.code, settled(budget)) == ("unpriced_call", 0)
    assert "does not limit this call: no price is known" in warning.message


def test_model_without_a_price_counts_what_the_budget_says(call_style: CallStyle, server, connect):
    server.script(completion())
    server.script(completion())
    budget = Budget(5, unpriced=2)
    llm = connect(budgets=[budget])
    call_style.generate(llm, "hi")
    call_style.generate(llm, "hi")
    with pytest.raises(BudgetExceededError):
        call_style.generate(llm, "hi")
    assert settled(budget) == 4


def test_cost_that_the_vendor_reports_counts_in_any_case(call_style: CallStyle, services: Services, budget: Budget):
    reply = ScriptedReply.text("one", usage=Usage(1, 1, billing=Billing(cost=Decimal("0.5"))))
    llm = create_llm("scripted", replies=[reply], services=services, budgets=[budget])
    assert call_style.generate(llm, "hi").cost == settled(budget) == Decimal("0.5")


def test_free_model_passes_a_budget_that_is_spent(services: Services):
    with Budget(100) as budget:
        dear = create_llm("scripted", replies=["one " * 110], services=services, price=PRICE, max_output_tokens=50)
        dear.generate("hi")
        assert settled(budget) > 100
        free = create_llm("scripted", replies=["one"], services=services, price=Price(0, 0))
        assert free.generate("hi").content == "one"


def test_output_that_is_usual_is_learned(services: Services):
    budget = Budget(1000)
    llm = create_llm("scripted", replies=lambda call: "one two", services=services, price=PRICE, budgets=[budget])
    llm.generate("hi " * 40)
    with pytest.raises(BudgetExceededError) as caught:
        for _ in range(100):
            llm.generate("hi " * 40)
    assert caught.value.needed is not None
    assert caught.value.needed < 60


def test_call_that_on_warning_ends_is_counted_in_all_budgets(call_style: CallStyle, services: Services):
    def stop(state: Any) -> None:
        raise SystemExit(3)

    budgets = [Budget(100, warn_at=0.01, on_warning=stop, name="first"), Budget(100, name="second")]
    llm = create_llm(
        "scripted", replies=["one two"], services=services, price=PRICE, max_output_tokens=3, budgets=budgets
    )
    with pytest.raises(SystemExit):
        call_style.generate(llm, "hi")
    assert [(each.state().spent, each.state().reserved) for each in budgets] == [(3, 0), (3, 0)]


def test_price_of_another_llm_with_the_same_model_is_not_that_of_an_unpriced_one(services: Services):
    """As with two servers behind `openai-compatible/m`."""
    priced = create_llm(
        "scripted", model="m", replies=["one two"], services=services, price=PRICE, budgets=[Budget(1000)]
    )
    assert priced.generate("hi").cost
    unpriced = {"rates": {"character": "1"}}
    llm = create_llm("scripted", model="m", replies=["one"], services=services, price=unpriced, budgets=[Budget(1000)])
    with pytest.raises(ConfigurationError, match="cannot limit this call"):
        llm.generate("hi")
    budget = Budget(1000, unpriced="allow")
    llm = create_llm("scripted", model="m", replies=["one"], services=services, price=unpriced, budgets=[budget])
    (warning,) = llm.generate("hi").warnings
    assert (warning.code, settled(budget)) == ("unpriced_call", 0)


def test_call_waits_for_what_others_have_reserved():
    clock = VirtualClock()
    services = Services(environment={}, clock=clock)
    llm = create_llm("scripted", replies=lambda call: "one", services=services, price=PRICE, max_output_tokens=50)
    with Budget(100, max_wait=3), llm.stream("hi") as stream:
        next(stream)
        with pytest.raises(BudgetExceededError) as caught:
            llm.generate("hi")
        assert caught.value.spent == 0
        assert caught.value.reserved is not None
        assert caught.value.reserved >= 50
        assert "reserved $58.00 for calls that are running" in str(caught.value)
        assert 2.8 < clock.now() <= 3
        list(stream)
        llm.generate("hi")
    services.close()


def test_answer_of_a_middleware_costs_nothing(call_style: CallStyle, services: Services, budget: Budget):
    class Cached:
        async def around_attempt(self, attempt: Any, next: Any) -> ModelReply:
            return ModelReply((TextPart("kept"),), "stop", usage=Usage(100, 100))

    llm = create_llm("scripted", replies=[], services=services, price=PRICE, budgets=[budget], middleware=[Cached()])
    assert call_style.generate(llm, "hi").content == "kept"
    assert settled(budget) == 0


def test_counting_tokens_is_free(services: Services):
    llm = create_llm("scripted", replies=[], services=services, price=PRICE, budgets=[Budget(0.000001)])
    assert llm.count_tokens("hi") > 0


def test_embedding_is_counted(call_style: CallStyle, server, services: Services, budget: Budget):
    services._registry = Registry()
    services._registry.add_provider(Vendor(f"{server.url}/v1"))
    server.script(VECTORS)
    llm = create_llm("vendor", services=services, budgets=[budget])
    result = operate(call_style, llm, "embed", arguments={"texts": ["hi there"]})
    assert settled(budget) == result.cost == Decimal("0.00001")
    llm = create_llm("vendor", services=services, budgets=[Budget(Decimal("0.000001"))])
    with pytest.raises(BudgetExceededError):
        operate(call_style, llm, "embed", arguments={"texts": ["hi there"] * 300})


def test_estimate_of_a_long_call_is_made_beside_the_event_loop(services: Services, monkeypatch: pytest.MonkeyPatch):
    threads: set[str] = set()
    original = attempt_tokens.estimated_tokens

    def noting(*arguments: Any) -> Any:
        threads.add(threading.current_thread().name)
        return original(*arguments)

    monkeypatch.setattr(attempt_tokens, "estimated_tokens", noting)
    llm = create_llm("scripted", replies=["one"] * 2, services=services, price=PRICE, budgets=[Budget(1_000_000)])
    with AsyncCalls() as calls:
        calls.generate(llm, "hi")
        assert threads == {threading.current_thread().name}
        calls.generate(llm, "many words " * 30_000)
    assert len(threads) == 2
