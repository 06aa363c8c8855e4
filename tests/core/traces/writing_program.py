"""A program that writes calls without end: `python writing_program.py PLACE`. It prints a line for each batch."""

from __future__ import annotations

import itertools
import sys

from abstractcore.traces import TraceStore
from tests.core.traces.stores import a_call, write


def main() -> None:
    store = TraceStore(sys.argv[1])
    for batch in itertools.count():
        team = {"team": f"team-{batch % 3}"}
        calls = [
            a_call(f"Question {batch}.{number}?", cost=None if number == 7 else "0.000001", tags=team)
            for number in range(20)
        ]
        write(
            store, *(call.__class__(**{**fields_of(call), "trace_id": f"{batch}-{i}"}) for i, call in enumerate(calls))
        )
        sys.stdout.write(f"{batch}\n")
        sys.stdout.flush()


def fields_of(call: object) -> dict[str, object]:
    return {name: getattr(call, name) for name in type(call).__dataclass_fields__}  # type: ignore[attr-defined]


main()
