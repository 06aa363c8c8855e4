"""A program whose threads make calls without end: `python calling_program.py TRACES BUDGET RATE`.

It keeps their traces, and prints how many of them are flushed.
"""

from __future__ import annotations

import sys
import threading
import time

from abstractcore import Budget, Price, create_llm
from abstractcore.traces import TraceStore

THREADS = 4


def main() -> None:
    place, ledger, rate = sys.argv[1], sys.argv[2], float(sys.argv[3])
    budget = Budget(1_000, name="shared", ledger=ledger)
    llm = create_llm(
        "scripted", model="small", replies=lambda call: "Yes.", price=Price(input=1, output=1), budgets=[budget]
    )
    store = TraceStore(place)
    keeping = store.keep("full")
    calls = [0] * THREADS

    def call(thread: int) -> None:
        begun = time.monotonic()
        while True:
            llm.generate(f"Question {thread}.{calls[thread]}?", timeout=5, tags={"team": f"team-{thread}"})
            calls[thread] += 1
            time.sleep(max(0.0, begun + calls[thread] * THREADS / rate - time.monotonic()))

    for thread in range(THREADS):
        threading.Thread(target=call, args=(thread,), daemon=True).start()
    while True:
        ended = sum(calls)  # each of them has been reported to the store
        assert keeping.flush()
        sys.stdout.write(f"{ended}\n")
        sys.stdout.flush()
        time.sleep(0.02)


main()
