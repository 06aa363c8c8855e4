"""Whatever calls do, budgets count what the records of the calls say, keep their limits, and hold nothing back."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    AbstractCoreError,
    Budget,
    CallRecord,
    ModelCall,
    Price,
    RateLimitError,
    Services,
    StreamInterruptedError,
    create_llm,
)
from abstractcore.testing import ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS

PRICE = Price(input=1_000_000, output=1_000_000)
USERS = "ab"


@pytest.fixture
def services() -> Iterator[Services]:
    services = Services(environment={}, random=lambda: 0.0)
    yield services
    services.close()


class Callers:
    """Makes calls in random ways: whole and streamed, abandoned, cancelled, failing and cut."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def reply(self, call: ModelCall) -> ScriptedReply | AbstractCoreError:
        chance = self._random.random()
        if chance < 0.1:
            return RateLimitError("too often", status=429)
        if chance < 0.2:
            return ScriptedReply(ScriptedReply.text("one two").pieces, then=StreamInterruptedError("cut"))
        return ScriptedReply.text("one " * self._random.randint(1, 5), delay=self._random.random() * 0.003)

    def sync_calls(self, llm: Any) -> None:
        for _ in range(4):
            tags = {"user": self._random.choice(USERS)}
            try:
                if self._random.random() < 0.5:
                    llm.generate("hi", tags=tags)
                    continue
                with llm.stream("hi", tags=tags) as stream:
                    for _ in stream:
                        if self._random.random() < 0.2:
                            break
            except AbstractCoreError:
                continue

    async def async_calls(self, llm: Any) -> None:
        for _ in range(3):
            task = asyncio.create_task(llm.agenerate("hi", tags={"user": self._random.choice(USERS)}))
            if self._random.random() < 0.3:
                for _ in range(self._random.randint(0, 30)):
                    await asyncio.sleep(0)
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def run(self, llm: Any) -> None:
        async def many() -> None:
            await asyncio.gather(*(self.async_calls(llm) for _ in range(12)))

        with ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(self.sync_calls, llm) for _ in range(4)]
            asyncio.run(many())
            for future in futures:
                future.result()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [60, 1000])
def test_budgets_count_what_records_say(services: Services, tmp_path: Path, seed: int, limit: int):
    callers, records = Callers(seed), list[CallRecord]()
    in_memory = Budget(limit, per="day", name="memory", max_wait=20)
    shared = Budget(2 * limit, by="tag:user", name="shared", max_wait=20, ledger=tmp_path / "budgets.db")
    llm = create_llm(
        "scripted",
        replies=callers.reply,
        price=PRICE,
        max_output_tokens=6,
        max_retries=1,
        budgets=[in_memory, shared],
        services=services,
    )
    with services.records.subscribe(records.append):
        callers.run(llm)
        gc.collect()
        assert services.records.flush(PATIENCE_SECONDS)
    spent = sum(((each.cost or 0) + (each.estimated_cost or 0) for each in records), Decimal(0))
    by_user = [shared.state(user) for user in USERS]
    assert in_memory.state().spent == sum(each.spent for each in by_user) == spent <= limit
    assert in_memory.state().reserved == sum(each.reserved for each in by_user) == 0
    shared.ledger.close()  # type: ignore[attr-defined]
