"""A program that writes calls without end: `python writing_program.py PLACE`. It prints a line for each batch."""

from __future__ import annotations

import itertools
import sys

from abstractcore.traces import TraceStore
from tests.core.traces.stores import a_call, write


def main() -> None:
    store = TraceStore(sys.argv[1])
    for batch in itertools.count():
        calls = [
            a_call(
                f"Question {batch}.{number}?",
                cost=None if number == 7 else "0.000001",
                trace_id=f"{batch}-{number}",
                tags={"team": f"team-{batch % 3}"},
            )
            for number in range(20)
        ]
        write(store, *calls)
        sys.stdout.write(f"{batch}\n")
        sys.stdout.flush()


main()
