"""Thousands of calls of a group whose members fail: each ends exactly once, by the rules of cooldowns."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from abstractcore import (
    AbstractCoreError,
    AccessDeniedError,
    CallRecord,
    ConnectionFailedError,
    FallbackExhaustedError,
    MemberFailure,
    OverloadedError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    Routing,
    ServerError,
    Services,
    StreamInterruptedError,
    UnexpectedResponseError,
    create_llm,
)
from abstractcore.testing import VirtualClock
from tests.core.tools.loops import WAYS, Way

CALLS, MEMBERS, PERCENT = 10_000, 3, 30
FAILURES: tuple[Callable[[], AbstractCoreError], ...] = (
    lambda: ConnectionFailedError("refused"),
    lambda: RequestTimeoutError("no response"),
    lambda: ServerError("status 500"),
    lambda: OverloadedError("busy"),
    lambda: OverloadedError("busy", retry_after=7),
    lambda: RateLimitError("slow down"),
    lambda: RateLimitError("slow down", retry_after=20),
    lambda: QuotaError("no credit left"),
    lambda: AccessDeniedError("not here"),
    lambda: UnexpectedResponseError("a web page"),
)
"""Ten kinds of failures after which another member may answer, and this one may be asked again."""


class Plan:
    """Which attempts fail: of call `n` by member `m`, by a fixed seed."""

    def __init__(self, calls: int) -> None:
        numbers = random.Random(36)
        self.failures = [[self._failure(numbers) for _ in range(MEMBERS)] for _ in range(calls)]

    def _failure(self, numbers: random.Random) -> int | None:
        fails = numbers.randrange(100) < PERCENT
        kind = numbers.randrange(len(FAILURES))
        return kind if fails else None

    @property
    def all_fail(self) -> list[int]:
        return [number for number, each in enumerate(self.failures) if None not in each]

    def answers(self) -> Counter[int]:
        """How often each member answers, if all are asked in order."""
        return Counter(each.index(None) for each in self.failures if None in each)


class Members:
    """Three scripted members that fail as planned: the prompt is the number of the call."""

    def __init__(self, plan: Plan, services: Services) -> None:
        self.asked = Counter[int]()
        self.times: list[list[float]] = [[] for _ in range(MEMBERS)]
        self.llms = [self._member(plan, number, services) for number in range(MEMBERS)]

    def _member(self, plan: Plan, member: int, services: Services) -> Any:
        def reply(call: Any) -> Any:
            number = int(call.messages[-1].text)
            self.asked[member] += 1
            self.times[member].append(services.clock.now())
            kind = plan.failures[number][member]
            return f"{number} by {member}" if kind is None else FAILURES[kind]()

        return create_llm("scripted", f"m{member}", replies=reply, services=services, max_retries=0)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def services(clock: VirtualClock) -> Iterator[Services]:
    services = Services(environment={}, clock=clock, random=lambda: 0.0)
    yield services
    services.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", WAYS)
def test_every_call_ends_once_and_the_expected_ones_with_three_causes(
    name: str, clock: VirtualClock, services: Services
):
    plan = Plan(CALLS)
    members = Members(plan, services)
    llm = create_llm(members.llms, services=services)
    ended = Counter[str]()
    services.records.subscribe(lambda record: ended.update([record.outcome]))
    answered, causes = Counter[int](), dict[int, Sequence[MemberFailure]]()
    with Way.of(name) as way:
        for number in range(CALLS):
            clock.advance(1_000)  # nobody is left alone any more
            try:
                content = way.generate(llm, str(number)).content
            except FallbackExhaustedError as error:
                causes[number] = error.causes
            else:
                member = int(content.rpartition(" ")[2])
                assert content == f"{number} by {member}"
                answered[member] += 1
    exhausted = list(causes)
    for number, failures in causes.items():
        kinds = [kind for kind in plan.failures[number] if kind is not None]
        assert [type(each.error) for each in failures] == [type(FAILURES[kind]()) for kind in kinds]
        assert all(each.is_sent for each in failures)
    assert exhausted == plan.all_fail
    assert answered == plan.answers()
    assert sum(answered.values()) + len(exhausted) == CALLS
    services.records.flush(30)
    assert ended == {"done": sum(answered.values()), "failed": len(exhausted)}
    asked = sum(
        len([each for each in failures if each is not None]) for failures in plan.failures if None not in failures
    )
    asked += sum(failures.index(None) + 1 for failures in plan.failures if None in failures)
    assert sum(members.asked.values()) == asked


def test_the_plan_is_the_share_that_is_expected():
    assert len(Plan(CALLS).all_fail) == 284  # of 10,000 with this seed: 0.3 to the power of 3 would be 270


@pytest.mark.parametrize("name", WAYS)
def test_members_that_failed_get_probes_only(name: str, clock: VirtualClock, services: Services):
    times = {False: list[float](), True: list[float]()}

    def failing(call: Any) -> AbstractCoreError:
        times[True].append(clock.now())
        return ServerError("down")

    def working(call: Any) -> str:
        times[False].append(clock.now())
        return "hello"

    members = [
        create_llm("scripted", f"m{n}", replies=each, services=services, max_retries=0)
        for n, each in enumerate((failing, working))
    ]
    llm = create_llm(members, services=services)
    with Way.of(name) as way:
        for _ in range(400):
            assert way.generate(llm, "0").content == "hello"
            clock.advance(5)
    assert len(times[False]) == 400
    pauses = [later - earlier for earlier, later in zip(times[True], times[True][1:], strict=False)]
    assert pauses == [30, 60, 120, 240, *[300] * 5]


def test_one_call_at_a_time_probes_a_member(clock: VirtualClock, services: Services):
    running = Counter[str]()

    async def slow(call: Any) -> Any:
        running["now"] += 1
        running["most"] = max(running["most"], running["now"])
        await clock.asleep(5)
        running["now"] -= 1
        return ServerError("down")

    members = [
        create_llm("scripted", f"m{n}", replies=each, services=services, max_retries=0)
        for n, each in enumerate((slow, lambda call: "hello"))
    ]
    llm = create_llm(members, services=services)

    async def run() -> None:
        await llm.agenerate("first")
        running.clear()
        clock.advance(31)
        answers = await asyncio.gather(*(llm.agenerate(str(n)) for n in range(50)))
        assert {each.content for each in answers} == {"hello"}

    asyncio.run(run())
    assert running["most"] == 1


def test_calls_that_ran_at_once_count_as_one_failure(clock: VirtualClock, services: Services):
    asked: list[float] = []

    async def slow(call: Any) -> Any:
        asked.append(clock.now())
        await clock.asleep(1)
        return ServerError("down")

    members = [
        create_llm("scripted", f"m{n}", replies=each, services=services, max_retries=0)
        for n, each in enumerate((slow, lambda call: "hello"))
    ]
    llm = create_llm(members, services=services)

    async def run() -> None:
        await asyncio.gather(*(llm.agenerate(str(n)) for n in range(50)))
        assert len(asked) == 50
        clock.advance(31)
        await llm.agenerate("probe")
        assert len(asked) == 51

    asyncio.run(run())


def test_when_all_are_left_alone_one_call_tries_early_but_never_before_a_stated_time(
    clock: VirtualClock, services: Services
):
    replies: list[Any] = [[ServerError("down"), "back"], [RateLimitError("slow", retry_after=100), "back too"]]
    members = [
        create_llm("scripted", f"m{n}", replies=each, services=services, max_retries=0)
        for n, each in enumerate(replies)
    ]
    llm = create_llm(members, services=services)
    with pytest.raises(FallbackExhaustedError):
        llm.generate("0")
    assert llm.generate("1").content == "back"
    only = create_llm([members[1]], services=services)
    with pytest.raises(FallbackExhaustedError) as first:
        create_llm(
            [create_llm("scripted", replies=[RateLimitError("slow", retry_after=9)], services=services, max_retries=0)],
            services=services,
        ).generate("2")
    assert first.value.retry_after == 9
    assert only.generate("3").content == "back too"  # each group has its own memory


def test_clock_that_goes_back_makes_no_cooldown_longer(services: Services, clock: VirtualClock):
    clock.advance(1_000_000)
    first = create_llm("scripted", "one", replies=[ServerError("down"), "back"], services=services, max_retries=0)
    llm = create_llm(
        [first, create_llm("scripted", "two", replies=lambda call: "hello", services=services)], services=services
    )
    llm.generate("0")
    clock._now = 0.0  # pyright: ignore[reportPrivateUsage]
    assert llm.generate("1").content == "hello"
    clock.advance(31)
    assert llm.generate("2").content == "back"


def test_interrupted_stream_before_its_first_delta_lets_the_next_member_answer(services: Services):
    members = [
        create_llm("scripted", "one", replies=[StreamInterruptedError("cut")], services=services, max_retries=0),
        create_llm("scripted", "two", replies=["hello"], services=services),
    ]
    with create_llm(members, services=services).stream("hi") as stream:
        list(stream)
    assert stream.response.content == "hello"


def records_of(services: Services) -> list[CallRecord]:
    records: list[CallRecord] = []
    services.records.subscribe(records.append)
    return records


@pytest.mark.parametrize("name", ["async-whole", "async-streamed"])
def test_late_member_is_overtaken_and_its_cost_is_counted(name: str, clock: VirtualClock, services: Services):
    async def late(call: Any) -> str:
        await clock.asleep(60)
        return "late"

    members = [
        create_llm("scripted", "one", replies=late, services=services),
        create_llm("scripted", "two", replies=lambda call: "quick", services=services),
    ]
    records = records_of(services)
    llm = create_llm(members, services=services, routing=Routing(hedge_after=2))
    with Way.of(name) as way:
        response = way.generate(llm, "hi")
    assert (response.content, response.model) == ("quick", "two")
    assert clock.now() < 60
    assert [(each.number, each.model, each.error is None) for each in response.attempts][-1] == (2, "two", True)
    assert [each.model for each in response.attempts] == ["one", "two"]
    assert "scripted/one was late" in response.warnings[-1].message
    services.records.flush(10)
    assert [each.model for each in records[0].attempts] == ["one", "two"]


def test_quick_member_is_not_overtaken(clock: VirtualClock, services: Services):
    second: list[Any] = []
    members = [
        create_llm("scripted", "one", replies=lambda call: "quick", services=services),
        create_llm("scripted", "two", replies=second, services=services),
    ]
    llm = create_llm(members, services=services, routing=Routing(hedge_after=2))
    assert asyncio.run(llm.agenerate("hi")).content == "quick"


def test_hedging_waits_for_enough_measurements(clock: VirtualClock, services: Services):
    seconds = iter([1.0] * 20 + [50.0])

    async def first(call: Any) -> str:
        await clock.asleep(next(seconds))
        return "first"

    members = [
        create_llm("scripted", "one", replies=first, services=services),
        create_llm("scripted", "two", replies=lambda call: "second", services=services),
    ]
    llm = create_llm(members, services=services, routing=Routing(hedge_after="p95"))

    async def run() -> list[str]:
        return [(await llm.agenerate("hi")).content for _ in range(21)]

    assert asyncio.run(run()) == ["first"] * 20 + ["second"]


@pytest.mark.parametrize("order", ["fastest", "least_busy"])
def test_orders_by_what_is_measured(order: Any, clock: VirtualClock, services: Services):
    async def slow(call: Any) -> str:
        await clock.asleep(10)
        return "slow"

    async def quick(call: Any) -> str:
        await clock.asleep(1)
        return "quick"

    members = [
        create_llm("scripted", "slow", replies=slow, services=services),
        create_llm("scripted", "quick", replies=quick, services=services),
    ]
    llm = create_llm(members, services=services, routing=Routing(order=order))

    async def one_by_one() -> list[str]:
        return [(await llm.agenerate("hi")).content for _ in range(4)]

    async def at_once() -> list[str]:
        return [each.content for each in await asyncio.gather(*(llm.agenerate("hi") for _ in range(4)))]

    if order == "fastest":
        assert asyncio.run(one_by_one()) == ["slow", "quick", "quick", "quick"]
    else:
        assert sorted(asyncio.run(at_once())) == ["quick", "quick", "slow", "slow"]
