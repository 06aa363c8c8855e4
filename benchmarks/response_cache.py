"""The cache of responses: answers from memory and from SQLite beside calls over HTTP, and what a miss adds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

import clients
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import ResponseCache, create_llm

_COUNT = 200


def response_cache(setup: Setup) -> list[Row]:
    """Equal calls that a cache answers, and others that it keeps, beside calls without a cache."""
    with tempfile.TemporaryDirectory() as folder:
        times = best(
            {name: cpu_seconds(repeated(way, _COUNT), _COUNT) for name, way in _ways(setup.url, Path(folder)).items()},
            setup.rounds,
        )
    return [
        Row("answer from memory / call", times["hit in memory"], times["call"]),
        Row("answer from SQLite / call", times["hit in SQLite"], times["call"]),
        Row("what a miss adds, in memory", times["miss in memory"] - times["none"]),
        Row("what a miss adds, in SQLite", times["miss in SQLite"] - times["none"]),
        Row("what a miss adds, in SQLite / call", times["miss in SQLite"] - times["none"], times["call"]),
    ]


def _ways(url: str, folder: Path) -> dict[str, Callable[[], object]]:
    memory, database = ResponseCache(), ResponseCache(folder / "hits.db")
    over_http = clients.ours(f"{url}/v1")
    return {
        "call": lambda: over_http.generate(clients.PROMPT),
        "hit in memory": _equal(memory),
        "hit in SQLite": _equal(database),
        "none": _different(None),
        "miss in memory": _different(ResponseCache()),
        "miss in SQLite": _different(ResponseCache(folder / "misses.db")),
    }


def _equal(cache: ResponseCache) -> Callable[[], object]:
    llm = create_llm("scripted", replies=lambda call: "Paris.", middleware=[cache])
    return lambda: llm.generate(clients.PROMPT)


def _different(cache: ResponseCache | None) -> Callable[[], object]:
    middleware = [] if cache is None else [cache]
    llm, numbers = create_llm("scripted", replies=lambda call: "Paris.", middleware=middleware), count()
    return lambda: llm.generate(f"{clients.PROMPT} {next(numbers)}")
