"""Several writers, and one that prunes, at the same time: sums stay those of the records, and contents complete."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from abstractcore.schema import Message, ModelCall, TextPart
from abstractcore.traces import TraceStore
from tests.core.traces.stores import a_call, write
from tests.core.traces.test_costs import assert_spend_is_the_sum_of_records

_BATCHES = 10
DAY = 86_400.0
SHARED = Message("system", (TextPart("Be kind."),))


def at_once(*functions: Callable[[], None]) -> list[BaseException]:
    """Calls functions in threads; returns what they raised."""
    raised: list[BaseException] = []

    def run(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=[function]) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def writer(url: str, name: str, at: float) -> Callable[[], None]:
    def write_batches() -> None:
        own = TraceStore(url)
        for batch in range(_BATCHES):
            question = Message("user", (TextPart(f"Question {batch}?"),))  # the same in all writers
            call = ModelCall("small", (SHARED, question), "vendor")
            write(own, *[a_call(call=call, at=at, tags={"writer": name, "batch": str(batch)}) for _ in range(5)])
        own.close()

    return write_batches


def test_writers_of_the_same_contents_do_not_exclude_each_other(store: TraceStore, url: str):
    now = time.time()
    assert at_once(*[writer(url, name, now) for name in "abc"]) == []
    assert len(store.calls(limit=1_000)) == 3 * _BATCHES * 5
    assert_spend_is_the_sum_of_records(store)
    assert len(store.calls(text='"Question 3"', limit=1_000)) == 15


def test_contents_that_a_writer_uses_are_not_removed_by_another_that_prunes(store: TraceStore, url: str):
    now = time.time()
    write(store, *[a_call(call=ModelCall("small", (SHARED,), "vendor"), at=now - 9 * DAY) for _ in range(20)])

    def prune() -> None:
        pruning = TraceStore(url, keep_days=1)
        for _ in range(_BATCHES):
            pruning.prune()
        pruning.close()

    assert at_once(prune, writer(url, "new", now), writer(url, "old", now - 9 * DAY)) == []
    for call in store.calls(limit=1_000, tags={"writer": "new"}):
        record = store.trace(call.trace_id).root.record
        assert record.call.messages[0] == SHARED  # type: ignore[union-attr]
