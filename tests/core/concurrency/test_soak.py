"""Soak test: one LLM in 32 threads and 4 event loops, in every way, without mix-ups or leaks.

ABSTRACTCORE_SOAK_SECONDS says how long, 20 unless given.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from abstractcore import LLM, CallRecord, RequestTimeoutError, ServerError, StreamInterruptedError, TextDelta
from tests.chaos_server import (
    CUT,
    HANG,
    Pause,
    ReceivedRequest,
    Step,
    chunk,
    completion,
    delta,
    failure,
    stream_head,
    streamed,
)
from tests.core.concurrency.test_invoke import wait_until

pytestmark = pytest.mark.exhaustive

SOAK_SECONDS = float(os.environ.get("ABSTRACTCORE_SOAK_SECONDS", "20"))
THREADS = 32
LOOPS = 4
TASKS_OF_A_LOOP = 4
PAUSE_SECONDS = 0.2
"""The server's before every answer: so that this leaves the machine something."""
GIVEN_UP_AFTER_SECONDS = 0.3
DEEDS = ("call", "stream", "leave", "fail", "break", "give_up")
"""The first word of a prompt selects the behaviour of the server and of the caller."""


def serve(request: ReceivedRequest) -> Sequence[Step]:
    """An answer that repeats the prompt."""
    prompt: str = request.json["messages"][-1]["content"]
    half = len(prompt) // 2
    pieces = prompt[:half], prompt[half:]
    rest: dict[str, list[Step]] = {
        "call": [completion(prompt)],
        "stream": [streamed(*pieces)],
        "leave": [stream_head() + chunk(delta(prompt)), HANG],
        "fail": [failure(500, prompt)],
        "break": [stream_head() + chunk(delta(pieces[0])), chunk(delta(pieces[1])), CUT],
        "give_up": [HANG],
    }
    return [Pause(PAUSE_SECONDS), *rest[prompt.split()[0]]]


def do(llm: LLM, deed: str, prompt: str) -> None:
    """One action in sync code."""
    if deed == "call":
        assert llm.generate(prompt).content == prompt
    elif deed == "stream":
        with llm.stream(prompt) as stream:
            assert "".join(stream.text()) == prompt == stream.response.content
    elif deed == "leave":
        with llm.stream(prompt) as stream:
            assert next(delta.text for delta in stream if isinstance(delta, TextDelta)) == prompt
    elif deed == "fail":
        with pytest.raises(ServerError, match=prompt):
            llm.generate(prompt)
    elif deed == "break":
        with pytest.raises(StreamInterruptedError) as caught:
            list(llm.stream(prompt))
        assert caught.value.partial is not None
        assert caught.value.partial.text == prompt
    else:
        with pytest.raises(RequestTimeoutError):
            llm.generate(prompt, timeout=GIVEN_UP_AFTER_SECONDS)


async def ado(llm: LLM, deed: str, prompt: str) -> None:
    """One deed in an event loop."""
    if deed == "call":
        assert (await llm.agenerate(prompt)).content == prompt
    elif deed == "stream":
        async with llm.astream(prompt) as stream:
            assert "".join([text async for text in stream.text()]) == prompt == stream.response.content
    elif deed == "leave":
        async with llm.astream(prompt) as stream:
            while not isinstance(arrived := await anext(stream), TextDelta):
                pass
            assert arrived.text == prompt
    elif deed == "fail":
        with pytest.raises(ServerError, match=prompt):
            await llm.agenerate(prompt)
    elif deed == "break":
        stream = llm.astream(prompt)
        with pytest.raises(StreamInterruptedError) as caught:
            _ = [each async for each in stream]
        assert caught.value.partial is not None
        assert caught.value.partial.text == prompt
    else:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(llm.agenerate(prompt), GIVEN_UP_AFTER_SECONDS)


class Load:
    """What is done, and how often, until time is up or somebody fails."""

    def __init__(self, llm: LLM) -> None:
        self.done: list[str] = []
        self._llm = llm
        self._end = time.monotonic() + SOAK_SECONDS
        self._failed = False

    def in_thread(self, name: str) -> None:
        """Plain code's part."""
        for deed, prompt in self._deeds(name):
            with self._noted(f"sync {deed}"):
                do(self._llm, deed, prompt)

    def in_loop(self, name: str) -> None:
        """The part of an event loop, which leaves no task running."""
        asyncio.run(self._tasks(name))

    async def _tasks(self, name: str) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(TASKS_OF_A_LOOP):
                group.create_task(self._task(f"{name}.{number}"))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def _task(self, name: str) -> None:
        for deed, prompt in self._deeds(name):
            with self._noted(f"async {deed}"):
                await ado(self._llm, deed, prompt)

    def _deeds(self, name: str) -> Iterator[tuple[str, str]]:
        chance = random.Random(name)
        for number in itertools.count():
            if self._failed or time.monotonic() > self._end:
                return
            deed = chance.choice(DEEDS)
            yield deed, f"{deed} {name} {number} {'x' * chance.randrange(200)}".strip()

    @contextmanager
    def _noted(self, name: str) -> Generator[None]:
        try:
            yield
        except BaseException:
            self._failed = True
            raise
        self.done.append(name)


def held() -> tuple[int, int]:
    """How many threads there are, and how many files and sockets are open."""
    gc.collect()
    return threading.active_count(), len(list(Path("/dev/fd").iterdir()))


def prompt_of(record: CallRecord) -> str:
    assert record.call is not None
    return record.call.messages[-1].text


def expected_outcomes(done: Sequence[str]) -> Counter[str]:
    """What the records must say of what was done."""
    ends = {"call": "done", "stream": "done", "leave": "abandoned"}
    outcomes: Counter[str] = Counter()
    for name in done:
        call_style, deed = name.split()
        cancelled = (call_style, deed) == ("async", "give_up")
        outcomes[f"{deed} {'cancelled' if cancelled else ends.get(deed, 'failed')}"] += 1
    return outcomes


def test_soak_many_threads_and_loops_share_one_llm_without_mixups_or_leaks(server, services, connect):
    server.always_by(serve)
    before = held()
    records: list[CallRecord] = []
    load = Load(connect(max_retries=0))
    with services.records.subscribe(records.append, "full"), ThreadPoolExecutor(THREADS + LOOPS) as pool:
        parts = [pool.submit(load.in_thread, f"t{number}") for number in range(THREADS)]
        parts += [pool.submit(load.in_loop, f"l{number}") for number in range(LOOPS)]
        for part in parts:
            part.result()
    assert set(load.done) == {f"{call_style} {deed}" for call_style in ("sync", "async") for deed in DEEDS}
    assert Counter(f"{prompt_of(each).split()[0]} {each.outcome}" for each in records) == expected_outcomes(load.done)
    assert [each for each in records if each.reply is not None and each.reply.text != prompt_of(each)] == []
    services.close()
    server.wait_for(lambda: not server.open, "the end of all connections")
    wait_until(lambda: all(now <= then for now, then in zip(held(), before, strict=True)))
