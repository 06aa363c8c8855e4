"""Calls that wait: in order, by priority, within their time, and until they are cancelled."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from abstractcore import (
    CallInterruptedError,
    CallRecord,
    Interruption,
    LimitExceededError,
    Limits,
    ModelCall,
    RateLimitError,
    ServerError,
    Services,
    Usage,
    create_llm,
)
from abstractcore.limits.counting import LimitReached
from abstractcore.limits.line import WaitingCall, WaitingLine
from abstractcore.testing import CallStyle, ScriptedReply, VirtualClock
from tests.chaos_server import PATIENCE_SECONDS
from tests.forks import in_fork


class Model:
    """A scripted model that notes when each call begins, and for whom. A call takes `seconds`."""

    def __init__(self, services: Services, limits: Any, seconds: float = 0.0, **options: Any) -> None:
        self.begun: list[float] = []
        self.served: list[str] = []
        self._seconds = seconds
        self._clock = services.clock
        self.llm: Any = create_llm("scripted", replies=self._reply, services=services, limits=limits, **options)

    def _reply(self, call: ModelCall) -> ScriptedReply:
        self.begun.append(self._clock.now())
        self.served.append(call.messages[-1].text)
        return ScriptedReply.text("one two three", delay=self._seconds)

    def most_in_a_minute(self) -> int:
        return max(sum(start <= each < start + 60 for each in self.begun) for start in self.begun)


def test_calls_of_any_age_keep_their_order(services: Services):
    model = Model(services, Limits(requests_per_minute=3), seconds=7.0)

    async def run() -> None:
        await asyncio.gather(*(model.llm.agenerate(str(i), timeout=None) for i in range(40)))

    asyncio.run(run())
    assert model.served == [str(i) for i in range(40)]


@pytest.mark.parametrize("seconds", [0.1, 5.0, 50.0])
def test_limit_is_kept_in_any_minute_and_used(services: Services, clock: VirtualClock, seconds: float):
    model = Model(services, Limits(requests_per_minute=20), seconds)

    async def run() -> None:
        await asyncio.gather(*(model.llm.agenerate(str(i), timeout=None) for i in range(400)))

    asyncio.run(run())
    assert model.most_in_a_minute() == 20
    minutes = (model.begun[-1] - model.begun[0]) / 60 + 1
    assert 400 / minutes >= 0.95 * 20


def test_limit_of_tokens_is_kept_in_any_minute_and_used(services: Services, clock: VirtualClock):
    """The provider counts as many tokens as are estimated."""
    usage = Usage(create_llm("scripted", replies=["a"], services=services).plan("100").estimated_input_tokens, 3)

    def reply(call: ModelCall) -> ScriptedReply:
        return ScriptedReply.text("one two three", delay=3.0, usage=usage)

    limits = Limits(tokens_per_minute=400)
    llm: Any = create_llm("scripted", replies=reply, services=services, limits=limits, max_output_tokens=3)
    used: list[tuple[float, int]] = []

    async def call(i: int) -> None:
        answer = await llm.agenerate(str(i), timeout=None)
        used.append((clock.now() - 3.0, (answer.usage.input or 0) + (answer.usage.output or 0)))

    async def run() -> None:
        await asyncio.gather(*(call(i) for i in range(100, 700)))

    asyncio.run(run())
    most = max(sum(tokens for at, tokens in used if start <= at < start + 60) for start, _ in used)
    assert most <= 400
    minutes = int(used[-1][0] // 60)
    assert sum(tokens for at, tokens in used if at < 60 * minutes) / minutes >= 0.95 * 400


def test_higher_priority_goes_first_and_nobody_starves(services: Services, clock: VirtualClock):
    """New calls of a higher priority arrive all the time: one that waits is let in after a minute for each 1."""
    model = Model(services, Limits(requests_per_minute=6, parallel=1), seconds=1.0)

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(model.llm.agenerate("first", timeout=None))
            for i in range(10):
                group.create_task(model.llm.agenerate(f"early {i}", timeout=None, priority=1))
            await asyncio.sleep(0)
            group.create_task(model.llm.agenerate("low", timeout=None, priority=-1))
            for i in range(60):
                group.create_task(model.llm.agenerate(f"high {i}", timeout=None, priority=1))
                await clock.asleep(5.0)

    asyncio.run(run())
    before = model.served[: model.served.index("low")]
    assert before == ["first", *(f"early {i}" for i in range(10)), *(f"high {i}" for i in range(24))]
    assert len(model.served) == 72


def test_call_fails_when_its_time_is_over(call_style: CallStyle, services: Services, clock: VirtualClock):
    model = Model(services, Limits(requests_per_minute=1))
    call_style.generate(model.llm, "one")
    with pytest.raises(LimitExceededError, match="60 s more are needed"):
        call_style.generate(model.llm, "two", timeout=59)
    assert clock.now() == 0
    call_style.generate(model.llm, "three", timeout=61)
    assert (model.served, clock.now()) == (["one", "three"], 60)


def test_call_behind_others_waits_until_its_time_is_over(services: Services, clock: VirtualClock):
    model = Model(services, Limits(requests_per_minute=1))

    async def run() -> list[Any]:
        await model.llm.agenerate("one")
        return await asyncio.gather(
            model.llm.agenerate("two", timeout=100), model.llm.agenerate("three", timeout=90), return_exceptions=True
        )

    two, three = asyncio.run(run())
    assert two.seconds_waited == 60
    assert isinstance(three, LimitExceededError)
    assert three.limit in ("requests", "turn")
    assert clock.now() <= 90


def test_error_is_not_retried_and_refused_call_is_recorded_with_its_wait(services: Services):
    records: list[CallRecord] = []
    model = Model(services, Limits(parallel=1, name="recorded"), seconds=30.0)

    async def run() -> None:
        await asyncio.gather(model.llm.agenerate("one"), model.llm.agenerate("two", timeout=10), return_exceptions=True)

    with services.records.subscribe(records.append):
        asyncio.run(run())
        assert services.records.flush(PATIENCE_SECONDS)
    failed = next(record for record in records if record.outcome == "failed")
    assert (failed.seconds_waited, failed.attempts) == (10.0, ())
    assert failed.error is not None
    assert "'recorded' leave no room" in failed.error.message
    assert "it waited 10 s for 1 calls at once" in failed.error.message


def test_wait_is_in_the_record_and_the_response(call_style: CallStyle, services: Services):
    records: list[CallRecord] = []
    model = Model(services, Limits(requests_per_minute=1))
    with services.records.subscribe(records.append):
        answers = [call_style.generate(model.llm, "hi") for _ in range(2)]
        assert services.records.flush(PATIENCE_SECONDS)
    assert [answer.seconds_waited for answer in answers] == [0.0, 60.0]
    assert [record.seconds_waited for record in records] == [0.0, 60.0]
    assert [record.attempts[0].seconds_waited for record in records] == [0.0, 60.0]


def test_cancelled_call_leaves_its_place(services: Services, clock: VirtualClock):
    limits = Limits(parallel=1)
    model = Model(services, limits, seconds=5.0)

    async def run() -> None:
        tasks = [asyncio.create_task(model.llm.agenerate(str(i))) for i in range(4)]
        for _ in range(3):
            await asyncio.sleep(0)
        assert limits.state().waiting == 3
        tasks[1].cancel()
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(run())
    assert model.served == ["0", "2", "3"]
    assert (limits.state().running, limits.state().waiting) == (0, 0)


def test_interruption_ends_a_wait(call_style: CallStyle):
    services = Services(environment={})
    limits = Limits(requests_per_minute=1)
    model = Model(services, limits)
    call_style.generate(model.llm, "one")
    interruption = Interruption()
    timer = threading.Timer(0.05, interruption.set)
    timer.start()
    with pytest.raises(CallInterruptedError):
        call_style.generate(model.llm, "two", interruption=interruption)
    timer.join()
    assert limits.state().waiting == 0
    services.close()


def test_request_that_was_not_sent_counts_nothing_and_one_that_failed_counts(services: Services):
    class Refusing:
        async def around_attempt(self, attempt: Any, next: Any) -> Any:
            raise ServerError("no")

    limits = Limits(requests_per_minute=5, tokens_per_minute=10_000)
    llm = create_llm("scripted", replies=["a"], services=services, limits=limits, middleware=[Refusing()])
    with pytest.raises(ServerError):
        llm.generate("hi", timeout=10)
    assert (limits.state().requests, limits.state().tokens) == (0, 0)
    llm = create_llm("scripted", replies=[RateLimitError("slow")], services=services, limits=limits, max_retries=0)
    with pytest.raises(RateLimitError, match="slow"):
        llm.generate("hi")
    assert (limits.state().requests, limits.state().tokens, limits.state().running) == (1, 0, 0)


def test_stream_runs_until_its_end_and_counts_what_it_used(call_style: CallStyle, services: Services):
    limits = Limits(tokens_per_minute=10_000, parallel=3)
    model = Model(services, limits)
    with call_style.stream(model.llm, "hi") as stream:
        next(iter(stream))
        assert limits.state().running == 1
        assert limits.state().tokens > 100
        for _ in stream:
            pass
    usage = stream.response.usage
    assert (limits.state().running, limits.state().tokens) == (0, (usage.input or 0) + (usage.output or 0))
    with call_style.stream(model.llm, "hi") as stream:
        next(iter(stream))
    assert limits.state().running == 0


def test_retry_waits_again(services: Services, clock: VirtualClock):
    llm = create_llm(
        "scripted", replies=[ServerError("no"), "yes"], services=services, limits=Limits(requests_per_minute=1)
    )
    answer = llm.generate("hi")
    assert clock.now() >= 60
    assert [attempt.seconds_waited > 0 for attempt in answer.attempts] == [False, True]


def test_pause_that_the_provider_asks_for_holds_for_all_calls(services: Services, clock: VirtualClock):
    model = Model(services, Limits(requests_per_minute=100, name="paused"))
    refusing = create_llm(
        "scripted",
        replies=[RateLimitError("slow", retry_after=20.0)],
        services=services,
        limits=Limits(requests_per_minute=100, name="paused"),
        max_retries=0,
    )
    with pytest.raises(RateLimitError):
        refusing.generate("hi")
    with pytest.raises(LimitExceededError, match="for the pause that the provider asked for"):
        model.llm.generate("hi", timeout=10)
    assert model.llm.generate("hi").seconds_waited == 20.0


def test_limits_with_a_name_are_those_of_all_llms_in_the_process(services: Services):
    for _ in range(2):
        create_llm("scripted", replies=["a"], services=services, limits=Limits(2, name="of all")).generate("hi")
    assert Limits(2, name="of all").queue("").state(Limits(2)).requests == 2
    alone = Limits(2)
    create_llm("scripted", replies=["a"], services=services, limits=alone).generate("hi")
    assert alone.state().requests == 1


def test_counting_of_tokens_waits_for_nothing(services: Services):
    model = Model(services, Limits(requests_per_minute=1))
    model.llm.generate("hi")
    assert model.llm.count_tokens("hi") > 0


def test_tasks_and_threads_share_limits_on_the_real_clock():
    services = Services(environment={})
    limits = Limits(parallel=5, requests_per_minute=100_000)
    running, most, lock = [0], [0], threading.Lock()

    class Counting:
        async def around_attempt(self, attempt: Any, next: Any) -> Any:
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            try:
                return await next(attempt)
            finally:
                with lock:
                    running[0] -= 1

    llm: Any = create_llm(
        "scripted",
        replies=lambda call: ScriptedReply.text("ok", delay=0.001),
        services=services,
        limits=limits,
        middleware=[Counting()],
    )

    def in_thread() -> None:
        for _ in range(8):
            llm.generate("hi", timeout=PATIENCE_SECONDS)

    async def run() -> None:
        await asyncio.gather(*(llm.agenerate("hi", timeout=PATIENCE_SECONDS) for _ in range(64 * 3)))

    threads = [threading.Thread(target=in_thread) for _ in range(8)]
    for thread in threads:
        thread.start()
    asyncio.run(run())
    for thread in threads:
        thread.join()
    assert 1 < most[0] <= 5
    assert (limits.state().running, limits.state().waiting, limits.state().requests) == (0, 0, 64 * 3 + 64)
    services.close()


@pytest.mark.parametrize("is_closed", [False, True])
def test_call_of_an_event_loop_that_does_not_run_lets_others_pass(is_closed: bool):
    """Of one that is blocked, or was closed with its tasks."""
    services = Services(environment={})
    limits = Limits(parallel=1)
    llm: Any = create_llm("scripted", replies=lambda call: "ok", services=services, limits=limits, timeout=100)
    loop = asyncio.new_event_loop()
    with llm.stream("holds the place") as stream:
        next(iter(stream))
        first = loop.create_task(llm.agenerate("first in the line"))
        loop.run_until_complete(asyncio.sleep(0))
        assert limits.state().waiting == 1
    if is_closed:
        loop.close()
    assert llm.generate("passes", timeout=PATIENCE_SECONDS).content == "ok"
    if is_closed:
        first.get_coro().close()  # type: ignore[union-attr]
        first._log_destroy_pending = False  # type: ignore[attr-defined]
    else:
        assert loop.run_until_complete(first).content == "ok"
        loop.close()
    assert (limits.state().running, limits.state().waiting) == (0, 0)
    services.close()


def test_call_that_was_passed_keeps_its_rank():
    line, calls = (
        WaitingLine(),
        [WaitingCall(rank, lambda now: LimitReached("turn", 0, 1.0), lambda: 0.0) for rank in (1.0, 2.0, 3.0)],
    )
    for call in calls:
        line.join(call)
    calls[0].wake()
    for _ in range(2):
        line._look()  # pyright: ignore[reportPrivateUsage] - as the alarm does, without its seconds
    assert line.first() is calls[1]
    assert calls[1].turn.done()
    line.renewed_turn(calls[0])
    assert line.first() is calls[0]
    for call in calls:
        line.remove(call)
    assert (line.first(), line.waiting) == (None, 0)


@pytest.mark.process
def test_forked_process_does_not_wait_for_calls_of_its_parent(services: Services):
    limits = Limits(parallel=1)
    model = Model(services, limits)

    def child() -> None:
        assert model.llm.generate("two", timeout=5).content

    with model.llm.stream("one") as stream:
        next(iter(stream))
        in_fork(child)
    assert limits.state().running == 0
