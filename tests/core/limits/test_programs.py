"""What users write: three programs with limits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from abstractcore import LimitExceededError, Limits, ModelCall, RateLimitError, Services, create_llm
from abstractcore.testing import ScriptedReply, VirtualClock


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(time_of_day=1_800_000_000.0)


@pytest.fixture
def services(clock: VirtualClock) -> Iterator[Services]:
    services = Services(environment={}, clock=clock)
    yield services
    services.close()


def test_program_asks_a_hundred_questions_under_a_limit(services: Services, clock: VirtualClock):
    begun: list[float] = []

    def reply(call: ModelCall) -> ScriptedReply:
        begun.append(clock.now())
        return ScriptedReply.text("Yes.", delay=1.0)

    llm = create_llm("scripted", replies=reply, services=services, limits=Limits(requests_per_minute=30, parallel=8))

    async def run() -> list[float]:
        answers = await asyncio.gather(*(llm.agenerate(f"Question {i}?", timeout=None) for i in range(100)))
        return [answer.seconds_waited for answer in answers]

    waited = asyncio.run(run())
    assert all(len([each for each in begun if start <= each < start + 60]) <= 30 for start in begun)
    assert clock.now() < 60 * 100 / 30
    assert waited[0] == 0 < waited[-1]


def test_program_lets_a_user_go_before_its_batch(services: Services):
    served: list[str] = []

    def reply(call: ModelCall) -> str:
        served.append(call.messages[-1].text)
        return "Yes."

    batch = create_llm("scripted", replies=reply, services=services, limits=Limits(2, name="priority test"))
    chat = create_llm(
        "scripted", replies=reply, services=services, limits={"requests_per_minute": 2, "name": "priority test"}
    )

    async def run() -> None:
        tasks = [asyncio.create_task(batch.agenerate(f"batch {i}", timeout=None)) for i in range(6)]
        await asyncio.sleep(0)
        await asyncio.gather(*tasks, chat.agenerate("user", timeout=None, priority=1))

    asyncio.run(run())
    assert served.index("user") == 2


def test_program_does_not_wait_longer_than_it_may(services: Services, clock: VirtualClock):
    llm = create_llm("scripted", replies=lambda call: "Yes.", services=services, limits=Limits(requests_per_minute=1))
    llm.generate("first")
    with pytest.raises(RateLimitError) as caught:
        llm.generate("second", timeout=10)
    error = caught.value
    assert isinstance(error, LimitExceededError)
    assert (error.limit, error.retry_after, error.retryable, error.provider) == ("requests", 60.0, False, "scripted")
    assert "it waited 0 s for 1 requests a minute, 60 s more are needed" in error.message
    assert clock.now() == 0
