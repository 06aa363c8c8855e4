"""Limits: what a call has to do when nobody waits, in memory and in SQLite, beside a call without limits."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import Limits, create_llm
from abstractcore.concurrency import drive
from abstractcore.limits import flush
from abstractcore.ports import CallContext

_COUNT = 300
_MOST_IN_MEMORY, _MOST_IN_SQLITE = 5e-6, 300e-6
_PROMPT = "What is the capital of France? Answer in one word."
_MANY = 2**31 - 1


def limits(setup: Setup) -> list[Row]:
    """A place that is taken and given back, and a call with limits beside one without."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Limits(_MANY, _MANY, _MANY)
        shared = Limits(_MANY, _MANY, _MANY, name="benchmark", store=Path(folder) / "limits.db")
        plain, limited, counting = _llm(None), _llm(Limits(_MANY, parallel=_MANY)), _llm(memory)
        context = _context()
        times = best(
            {
                "memory": cpu_seconds(repeated(_taken(memory), _COUNT), _COUNT),
                "sqlite": cpu_seconds(repeated(_taken_in_database(shared, context), _COUNT), _COUNT),
                "plain": cpu_seconds(repeated(lambda: plain.generate(_PROMPT), _COUNT), _COUNT),
                "limited": cpu_seconds(repeated(lambda: limited.generate(_PROMPT), _COUNT), _COUNT),
                "counting": cpu_seconds(repeated(lambda: counting.generate(_PROMPT), _COUNT), _COUNT),
            },
            setup.rounds,
        )
        flush()
    return [
        Row("a limiter when nobody waits, in memory", times["memory"], goal=_MOST_IN_MEMORY),
        Row("a limiter when nobody waits, in SQLite", times["sqlite"], goal=_MOST_IN_SQLITE),
        Row("what limits of requests add to a call", times["limited"] - times["plain"]),
        Row("what limits of tokens add to a call", times["counting"] - times["plain"]),
        Row("call with limits / call", times["limited"], times["plain"]),
    ]


def _llm(given: Limits | None) -> Any:
    return create_llm("scripted", replies=lambda call: "Paris.", max_output_tokens=100, limits=given)


def _taken(given: Limits) -> Callable[[], None]:
    """Returns a function that takes a place and gives it back."""
    queue, seconds = given.queue(""), itertools.count()

    def take() -> None:
        now = float(next(seconds))
        call = queue.begin_at_once(given, 100, now, now + 600.0)
        assert call is not None
        queue.settle(call, 90, now)

    return take


def _taken_in_database(given: Limits, context: CallContext) -> Callable[[], None]:
    """Returns a function that does so in a database; what it used is written later, in a thread."""
    queue = given.queue("")
    of_call = replace(context, deadline=None)

    def take() -> None:
        call = drive(queue.begin(given, 100, 60.0, 0, of_call))
        queue.drop(call)

    return take


def _context() -> CallContext:
    """Returns the context of a call."""
    seen: list[CallContext] = []

    class Watching:
        async def around_attempt(self, attempt: Any, next: Any) -> Any:
            seen.append(attempt.context)
            return await next(attempt)

    create_llm("scripted", replies=["Paris."], middleware=[Watching()]).generate(_PROMPT)
    return seen[0]
