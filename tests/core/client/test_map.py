"""`llm.map` and `llm.amap`: a call for each item, in order, with errors in their places."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from abstractcore import (
    Budget,
    BudgetExceededError,
    CallInterruptedError,
    ConfigurationError,
    GenerateResponse,
    Interruption,
    InvalidInputError,
    MapResults,
    ModelCall,
    OutputValidationError,
    Price,
    RateLimitError,
    RequestTimeoutError,
    Services,
    ToolChoice,
    UnknownOptionError,
    Usage,
    create_llm,
    subscribe,
    tool,
)
from abstractcore.ports import CallContext, ScriptedReply
from abstractcore.testing import VirtualClock

Run = Callable[..., MapResults[Any]]


def in_loop(llm: Any, items: Any, **options: Any) -> MapResults[Any]:
    return asyncio.run(llm.amap(items, **options))


def in_threads(llm: Any, items: Any, **options: Any) -> MapResults[Any]:
    return llm.map(items, **options)


@pytest.fixture(params=[in_threads, in_loop], ids=["sync", "async"])
def run(request: Any) -> Run:
    return request.param


def asked(call: ModelCall) -> str:
    return call.messages[-1].text


def upper(call: ModelCall) -> str:
    return asked(call).upper()


def scripted(replies: Any = upper, **options: Any) -> Any:
    return create_llm("scripted", replies=replies, **options)


def failing(call: ModelCall) -> str:
    if "bad" in asked(call):
        raise RateLimitError("not now")
    return upper(call)


# Three programs


def test_program_languages_of_texts(run: Run):
    llm = scripted(["German", "French"])
    results = run(llm, ["Guten Tag", "Bonjour"], system_prompt="The language, in one word.", concurrency=1)
    assert dict(zip(["Guten Tag", "Bonjour"], results.contents, strict=True)) == {
        "Guten Tag": "German",
        "Bonjour": "French",
    }
    assert [call.messages[0].text for call in llm.calls] == ["The language, in one word."] * 2


@dataclass
class Receipt:
    """What was paid."""

    total: float


def test_program_receipts_with_one_that_cannot_be_read(run: Run, tmp_path: Any):
    paths = [tmp_path / name for name in ("a.txt", "missing.txt", "b.txt")]
    paths[0].write_text("1.50 euros", "utf-8")
    paths[2].write_text("2.50 euros", "utf-8")

    def read(call: ModelCall) -> str:
        return '{"total": 1.5}' if "1.50" in asked(call) else '{"total": 2.5}'

    items = [("What was paid?", {"media": path}) for path in paths]
    results = run(scripted(read), items, response_model=Receipt)
    assert results.outputs == [Receipt(1.5), None, Receipt(2.5)]
    assert {paths[position].name: error.message for position, error in results.errors.items()} == {
        "missing.txt": f"{paths[1]} does not exist."
    }


def test_program_lines_of_a_large_file_with_tools_and_progress(run: Run):
    @tool
    def length(text: str) -> int:
        """The number of letters."""
        return len(text)

    def counting(call: ModelCall) -> Any:
        last = call.messages[-1]
        if last.role == "tool":
            return last.parts[0].as_text  # type: ignore[union-attr]
        return ScriptedReply.tool_call("length", {"text": last.text})

    seen: list[tuple[int, int | None]] = []
    lines = ("a" * number for number in range(1, 40))
    results = run(
        scripted(counting), lines, tools=[length], run_tools=True, on_progress=lambda *done: seen.append(done)
    )
    assert results.contents == [str(number) for number in range(1, 40)]
    assert seen == [(number, None) for number in range(1, 40)]


# Order, errors, sums


def test_results_have_the_order_of_items_though_the_first_ends_last(run: Run):
    def reply(call: ModelCall) -> ScriptedReply:
        number = int(asked(call))
        return ScriptedReply.text(f"{number}", delay=0.05 - number / 1000 if number < 5 else 0.0)

    assert run(scripted(reply), map(str, range(50))).contents == [str(number) for number in range(50)]


def test_error_is_in_the_place_of_its_item_and_the_others_go_on(run: Run):
    results = run(scripted(failing, max_retries=0), ["a", "bad 1", "b", "bad 2", "c"], concurrency=2)
    assert results.contents == ["A", None, "B", None, "C"]
    assert [*results.errors] == [1, 3]
    assert all(type(each) is RateLimitError for each in results.errors.values())
    assert results[1] is results.errors[1]
    assert len(results) == 5
    assert isinstance(results[-1], GenerateResponse)
    assert list(results)[1:3] == [*results[1:3]]


@pytest.mark.parametrize(
    "item",
    [
        5,
        b"bytes",
        ("a",),
        ("a", {}, {}),
        ("a", 5),
        (5, {}),
        ["a", {}],
        {"prompt": "a"},
        None,
        ("a", {"temprature": 1}),
        ("a", {"temperature": "hot"}),
        ("a", {"options": [1]}),
        ("", {}),
        "",
    ],
    ids=repr,
)
def test_wrong_item_is_an_error_in_its_place(run: Run, item: Any):
    results = run(scripted(), ["a", item, "b"], options={"top_k": 1})
    assert results.contents == ["A", None, "B"]
    assert isinstance(results.errors[1], (InvalidInputError, UnknownOptionError))
    assert str(results.errors[1])


def test_wrong_item_names_its_place():
    (error,) = scripted().map(["a", 5]).errors.values()
    assert str(error).startswith("items[1]: expected a prompt, or a prompt and a mapping of options, got 5")


@pytest.mark.parametrize("items", ["text", b"text", {"a": 1}, 5, None], ids=repr)
def test_what_is_no_list_is_refused_at_once(run: Run, items: Any):
    with pytest.raises(InvalidInputError, match="items: expected a list of prompts"):
        run(scripted(), items)


class Sized:
    """Items that say, or do not say, how many they are, as progress bars and data loaders around a generator do."""

    def __init__(self, length: Any) -> None:
        self.length = length

    def __iter__(self) -> Iterator[str]:
        yield from "ab"

    def __len__(self) -> int:
        return len(self.length) if isinstance(self.length, range) else self.length


@pytest.mark.parametrize(
    ("length", "total"), [(2, 2), (None, None), (-1, None), (range(10**20), None), (0, 0), (1, 1), (9, 9)], ids=repr
)
def test_all_items_are_asked_whatever_length_they_say(run: Run, length: Any, total: int | None):
    seen: list[int | None] = []
    results = run(scripted(), Sized(length), on_progress=lambda done, total: seen.append(total))
    assert (results.contents, seen) == (["A", "B"], [total, total])


@pytest.mark.parametrize("value", [0, -1, 1001, 2.0, True, "2", None], ids=repr)
def test_wrong_concurrency_is_refused_at_once(run: Run, value: Any):
    llm = scripted()
    with pytest.raises(InvalidInputError, match="concurrency: expected a number of calls at once"):
        run(llm, ["a"], concurrency=value)
    assert not llm.calls


def test_wrong_options_of_all_are_refused_before_anything_is_sent(run: Run):
    llm = scripted()
    with pytest.raises(UnknownOptionError, match="temprature"):
        run(llm, ["a"], temprature=1)
    with pytest.raises(InvalidInputError, match="on_progress: expected a sync function"):
        run(llm, ["a"], on_progress=5)
    llm.close()
    with pytest.raises(ConfigurationError, match="closed"):
        run(llm, ["a"])


def test_options_of_an_item_stand_over_those_of_all(run: Run):
    llm = scripted()
    items = [("a", {"temperature": 1.0}), ("b", {"options": {"top_p": 0.5}}), "c"]
    run(llm, items, temperature=0.0, options={"top_k": 4, "top_p": 0.1}, concurrency=1)
    found = [(call.sampling.temperature, call.sampling.top_p, call.sampling.top_k) for call in llm.calls]
    assert found == [(1.0, 0.1, 4), (0.0, 0.5, 4), (0.0, 0.1, 4)]


def test_forced_tool_of_all_may_be_a_tool_of_each_item(run: Run):
    @tool
    def look(at: str) -> str:
        """Looks."""
        return at

    llm = scripted()
    run(llm, [("a", {"tools": [look]})], tool_choice=ToolChoice("tool", "look"))
    (call,) = llm.calls
    assert call.tool_choice == ToolChoice("tool", "look")


def test_usage_and_cost_are_those_of_all_responses_and_of_invalid_answers(run: Run):
    replies = [
        ScriptedReply.text('{"total": 1}', usage=Usage(10, 5)),
        ScriptedReply.text("none", usage=Usage(100, 50)),
    ]
    llm = scripted(replies, price=Price(input=1, output=2), output_retries=0)
    results = run(llm, ["a", "b"], response_model=Receipt, concurrency=1)
    assert isinstance(results[1], OutputValidationError)
    assert (results.usage, results.cost) == (Usage(110, 55), Decimal("0.00022"))
    assert results.costs.known == results.cost


def test_no_items_are_no_results(run: Run):
    results = run(scripted(), [])
    assert (len(results), results.cost, results.usage, results.errors) == (0, 0, Usage(), {})


def test_results_are_copied_and_pickled():
    results = scripted(failing, max_retries=0).map(["a", "bad"])
    for made in (copy.copy(results), copy.deepcopy(results), pickle.loads(pickle.dumps(results))):
        assert (made.contents, made.usage, made.cost) == (results.contents, results.usage, results.cost)
        assert type(made[1]) is RateLimitError
    assert repr(results).startswith("<MapResults: 1 response, 1 error, in ")


# How many at once, and what is read


def test_so_many_threads_as_asked_for_are_at_work():
    together = threading.Barrier(40, timeout=60)

    def reply(call: ModelCall) -> str:
        together.wait()
        return "done"

    assert scripted(reply).map(["a"] * 80, concurrency=40).contents == ["done"] * 80


class Together:
    """Lets calls go on once `count` are under way."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.running = self.most = 0
        self.enough = asyncio.Event()

    async def around_call(self, context: CallContext, next: Callable[[CallContext], Awaitable[Any]]) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        if self.running == self.count:
            self.enough.set()
        await self.enough.wait()
        try:
            return await next(context)
        finally:
            self.running -= 1


def test_so_many_tasks_as_asked_for_are_at_work_and_no_more():
    middleware = Together(40)
    results = in_loop(scripted(middleware=[middleware]), ["a"] * 100, concurrency=40)
    assert (results.contents, middleware.most) == (["A"] * 100, 40)


def test_generator_is_read_no_further_than_what_is_under_way(run: Run):
    ended, furthest = 0, 0

    def items() -> Iterator[str]:
        nonlocal furthest
        for number in range(200):
            furthest = max(furthest, number + 1 - ended)
            yield "a"

    def count(done: int, total: int | None) -> None:
        nonlocal ended
        ended = done

    assert len(run(scripted(), items(), concurrency=5, on_progress=count)) == 200
    assert furthest <= 5


def test_async_generator_is_shared_by_all_tasks():
    async def items() -> AsyncIterator[str]:
        for number in range(100):
            await asyncio.sleep(0)
            yield f"{number}"

    assert in_loop(scripted(), items()).contents == [str(number) for number in range(100)]


def test_sync_map_refuses_an_async_iterator_with_what_to_use():
    async def items() -> AsyncIterator[str]:
        yield "a"

    with pytest.raises(InvalidInputError, match=r"amap"):
        scripted().map(items())


class IteratorError(Exception):
    """The items cannot be read on."""


def test_failure_of_the_items_is_raised_and_ends_the_run(run: Run):
    def items() -> Iterator[str]:
        yield from ["a"] * 20
        raise IteratorError

    llm = scripted()
    with pytest.raises(IteratorError):
        run(llm, items(), concurrency=3)
    assert len(llm.calls) <= 20


class Prompt(str):
    """A text that can be counted while it lives."""

    __slots__ = ("__weakref__",)


def test_items_are_dropped_once_they_are_answered(run: Run):
    living: weakref.WeakSet[Prompt] = weakref.WeakSet()
    most = 0

    def items() -> Iterator[str]:
        for number in range(1_000):
            prompt = Prompt(number)
            living.add(prompt)
            yield prompt

    def count(done: int, total: int | None) -> None:
        nonlocal most
        if done % 100 == 0:
            gc.collect()
            most = max(most, len(living))

    results = run(create_llm("scripted", replies=lambda call: "done"), items(), on_progress=count)
    assert len(results) == 1_000
    assert most < 200


# Progress


def test_progress_is_reported_once_for_each_item_and_never_at_once(run: Run):
    inside, seen = threading.Lock(), []

    def report(done: int, total: int | None) -> None:
        assert inside.acquire(blocking=False)
        seen.append((done, total))
        inside.release()

    run(scripted(failing, max_retries=0), ["a", "bad"] * 30, on_progress=report, concurrency=16)
    assert seen == [(done, 60) for done in range(1, 61)]


def test_progress_that_fails_is_logged_and_not_called_again(run: Run, caplog: Any):
    calls = []

    def report(done: int, total: int | None) -> None:
        calls.append(done)
        raise ValueError("broken bar")

    assert run(scripted(), ["a"] * 9, on_progress=report).contents == ["A"] * 9
    assert len(calls) == 1
    assert [each.message for each in caplog.records] == ["the function on_progress failed: it is not called again"]


async def in_coroutine(done: int, total: int | None) -> None:
    """Progress that nobody would await."""


class AsyncProgress:
    """The same, as an object."""

    async def __call__(self, done: int, total: int | None) -> None: ...


@pytest.mark.parametrize("function", [in_coroutine, partial(in_coroutine), AsyncProgress(), partial(AsyncProgress())])
@pytest.mark.parametrize("option", ["on_progress", "on_media_progress"])
def test_async_progress_is_refused_at_once(run: Run, option: str, function: Any):
    with pytest.raises(InvalidInputError, match=f"{option}: expected a sync function"):
        run(scripted(), ["a"], **{option: function})


# The end


def test_item_that_hangs_ends_at_its_timeout_and_the_others_are_answered(run: Run):
    def reply(call: ModelCall) -> ScriptedReply:
        return ScriptedReply.text("late", delay=1e6 if asked(call) == "slow" else 0.0)

    services = Services(environment={}, clock=VirtualClock())
    results = run(scripted(reply, services=services), ["a", "slow", "b"], timeout=5, concurrency=1)
    assert [type(each) for each in results] == [GenerateResponse, RequestTimeoutError, GenerateResponse]
    services.close()


def test_budget_that_is_spent_midway_refuses_the_rest_in_place(run: Run):
    budget = Budget(0.001)
    reply = ScriptedReply.text("done", usage=Usage(100, 0))
    llm = scripted(lambda call: reply, price=Price(input=1, output=1), budgets=[budget], max_output_tokens=1)
    results = run(llm, ["a"] * 30, concurrency=2)
    spent = [isinstance(each, GenerateResponse) for each in results]
    assert 0 < sum(spent) < 30
    assert all(type(each) is BudgetExceededError for each in results.errors.values())


def test_group_answers_items_by_its_next_member(run: Run):
    class Down:
        async def around_call(self, context: Any, next: Any) -> Any:
            raise RateLimitError("not now")

    llm = create_llm([scripted(middleware=[Down()], max_retries=0), scripted()])
    assert run(llm, ["a", "b", "c"], concurrency=2).contents == ["A", "B", "C"]


def test_interruption_ends_all_and_leaves_errors_in_place(run: Run):
    interruption = Interruption()

    def report(done: int, total: int | None) -> None:
        if done == 3:
            interruption.set()

    llm = scripted()
    results = run(llm, ["a"] * 50, interruption=interruption, on_progress=report, concurrency=1)
    assert results.contents == ["A"] * 3 + [None] * 47
    assert all(type(each) is CallInterruptedError for each in results.errors.values())
    assert len(llm.calls) == 3


def test_interruption_reads_no_more_of_a_generator(run: Run):
    interruption = Interruption()

    def items() -> Iterator[str]:
        for number in range(1_000_000):
            if number == 10:
                interruption.set()
            yield "a"

    assert 10 <= len(run(scripted(), items(), interruption=interruption, concurrency=4)) <= 15


def test_cancelling_the_task_ends_all_calls():
    class Waits:
        begun = cancelled = 0

        async def around_call(self, context: Any, next: Any) -> Any:
            Waits.begun += 1
            if Waits.begun == 4:
                everything.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                Waits.cancelled += 1
                raise

    async def cancel() -> None:
        task = asyncio.create_task(llm.amap(["a"] * 20, concurrency=4))
        await everything.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    everything = asyncio.Event()
    llm = scripted(middleware=[Waits()])
    asyncio.run(cancel())
    assert (Waits.begun, Waits.cancelled) == (4, 4)


def test_other_tasks_go_on_though_all_answers_are_there_at_once():
    """So endless items, whose calls never wait, end with the task."""
    interruption = Interruption()

    async def both() -> int:
        asyncio.get_running_loop().call_soon(interruption.set)
        return len(await llm.amap((next(texts) for _ in range(1_000)), interruption=interruption, concurrency=1))

    llm, texts = scripted(), iter(["a"] * 1_000)
    assert asyncio.run(both()) < 10


def test_two_threads_may_map_with_one_model():
    llm, found = scripted(), {}

    def use(name: str) -> None:
        found[name] = llm.map([f"{name}{number}" for number in range(100)]).contents

    threads = [threading.Thread(target=use, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [f"{name}{number}".upper() for number in range(100)] for name in "ab"}


def test_calls_of_a_run_have_a_common_parent(run: Run):
    found: list[Any] = []
    subscription = subscribe(found.append, records="all")
    try:
        run(scripted(), ["a", "b"])
        subscription.flush()
    finally:
        subscription.close()
    (whole,) = [each for each in found if getattr(each, "kind", None) == "batches"]
    calls = [each for each in found if each is not whole]
    assert (whole.calls, [each.parent_id for each in calls]) == (2, [whole.trace_id] * 2)
