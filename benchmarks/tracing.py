"""The overhead of a subscriber to call records: in the caller's thread, and in the process including its thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import clients
import wire
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import LLM, CallRecord, Services

_MOST_SECONDS_A_CALL = 40e-6
_ROUNDS = 3


def tracing(setup: Setup) -> list[Row]:
    """A call and a streamed chunk, with an empty subscriber and without."""
    services = Services()
    subscription = services.records.subscribe(_ignore)
    url, count = f"{setup.url}/v1", 60 if setup.quick else 150
    plain, traced = clients.ours(url), clients.ours(url, services)

    def call(llm: LLM) -> None:
        llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM)

    def stream(llm: LLM) -> None:
        with llm.stream(clients.PROMPT, system_prompt=clients.SYSTEM) as chunks:
            for _ in chunks:
                pass

    def traced_calls() -> None:
        repeated(lambda: call(traced), count)()
        subscription.flush()

    def traced_stream() -> None:
        stream(traced)
        subscription.flush()

    calls = best(
        {
            "plain": cpu_seconds(repeated(lambda: call(plain), count), count),
            "traced": cpu_seconds(traced_calls, count),
        },
        _ROUNDS * setup.rounds,
    )
    chunks = best(
        {
            "plain": cpu_seconds(lambda: stream(plain), wire.CHUNKS),
            "traced": cpu_seconds(traced_stream, wire.CHUNKS),
        },
        _ROUNDS * setup.rounds,
    )
    own = best({"plain": _own(lambda: call(plain), count), "traced": _own(lambda: call(traced), count)}, setup.rounds)
    return [
        Row("what tracing adds to a caller", own["traced"] - own["plain"]),
        Row("what it adds to the process", calls["traced"] - calls["plain"], goal=_MOST_SECONDS_A_CALL),
        Row("traced call / call", calls["traced"], calls["plain"]),
        Row("traced chunk / chunk", chunks["traced"], chunks["plain"]),
    ]


def _own(function: Callable[[], object], count: int) -> Callable[[], float]:
    """Returns a batch: the CPU time of this thread per call, for `count` calls of `function`."""

    def batch() -> float:
        start = time.thread_time()
        repeated(function, count)()
        return (time.thread_time() - start) / count

    return batch


def _ignore(record: CallRecord) -> None:
    """Does nothing: the subscriber's own work is not measured."""
