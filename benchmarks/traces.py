"""What keeping traces costs: a call with a store beside one with an empty subscriber, rows a second, and sums."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import clients
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import LLM, CallRecord, Services, create_llm
from abstractcore.schema import Capture, Message, TextPart, TraceRecord
from abstractcore.traces import TraceStore
from abstractcore.traces.rows import encoded
from abstractcore.traces.spending import KnownSums, SpendChanges
from tests.postgresql import programs, running_postgresql

_CALLS = 1_000_000
_DAYS, _MODELS, _TEAMS = 30, 5, 20
_BATCH = 1_000
_ROUNDS = 2
_GATHERED = 20
"""So many calls take less time than the threads of a subscriber let records gather."""
_CAPTURES: dict[Capture, float] = {"off": 1.3, "full": 1.6}


def traces(setup: Setup) -> list[Row]:
    """A store beside an empty subscriber, its rows in both databases, its bytes, and sums over a million calls."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [*_calls(Path(folder), setup), *_rows(Path(folder), setup), *_sums(Path(folder), setup)]
    if programs() is None:
        return rows
    with running_postgresql() as server:
        seconds = _written(TraceStore(server.url), 2 if setup.quick else 10, time.perf_counter)
    return [*rows, Row("a row with its texts, PostgreSQL, time", seconds, goal=1 / 5_000)]


def _calls(folder: Path, setup: Setup) -> list[Row]:
    url, count = f"{setup.url}/v1", 100 if setup.quick else 300
    rows: list[Row] = []
    for capture, goal in _CAPTURES.items():
        plain, empty, kept = (Services() for _ in range(3))
        subscription = empty.records.subscribe(_ignore, capture, records="all")
        store = TraceStore(folder / f"{capture}.db")
        keeping = store.keep_for(kept.records, capture)
        llms = {"plain": clients.ours(url, plain), "empty": clients.ours(url, empty), "kept": clients.ours(url, kept)}
        flushes: dict[str, Callable[[], object]] = {"empty": subscription.flush, "kept": keeping.flush}
        whole = best(
            {name: cpu_seconds(_flushed(llm, count, flushes.get(name)), count) for name, llm in llms.items()},
            _ROUNDS * setup.rounds,
        )
        own = best({name: _own(llm, count) for name, llm in llms.items()}, _ROUNDS * setup.rounds)
        alone = best(
            {name: _own_alone(llm, count, flushes.get(name)) for name, llm in llms.items()}, _ROUNDS * setup.rounds
        )
        rows += [
            Row(f"caller's thread, {capture}: what an empty subscriber adds", own["empty"] - own["plain"]),
            Row(f"caller's thread, {capture}: what a store adds", own["kept"] - own["plain"], goal=15e-6),
            Row(f"the same, {capture}, while its threads wait: an empty subscriber", alone["empty"] - alone["plain"]),
            Row(f"the same, {capture}, while its threads wait: a store", alone["kept"] - alone["plain"], goal=15e-6),
            Row(f"a call, {capture}: a store / an empty subscriber", whole["kept"], whole["empty"], goal=goal),
            Row(f"process, {capture}: what an empty subscriber adds", whole["empty"] - whole["plain"]),
            Row(f"process, {capture}: what a store adds", whole["kept"] - whole["plain"]),
        ]
        store.close()
        subscription.close()
    return rows


def _flushed(llm: LLM, count: int, flush: Callable[[], object] | None) -> Callable[[], None]:
    def calls() -> None:
        repeated(lambda: llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM), count)()
        if flush is not None:
            flush()

    return calls


def _own(llm: LLM, count: int) -> Callable[[], float]:
    """Returns a batch: the CPU time of this thread for a call."""

    def batch() -> float:
        start = time.thread_time()
        repeated(lambda: llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM), count)()
        return (time.thread_time() - start) / count

    return batch


def _own_alone(llm: LLM, count: int, flush: Callable[[], object] | None) -> Callable[[], float]:
    """Returns a batch as `_own`, without what threads of the store slow down on the cores that they share: their work
    is done between groups of calls, each of which ends before they begin.
    """

    def batch() -> float:
        seconds = 0.0
        for _ in range(count // _GATHERED):
            start = time.thread_time()
            repeated(lambda: llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM), _GATHERED)()
            seconds += time.thread_time() - start
            if flush is not None:
                flush()
        return seconds / (count // _GATHERED * _GATHERED)

    return batch


def _rows(folder: Path, setup: Setup) -> list[Row]:
    store = TraceStore(folder / "rows.db")
    batches = 5 if setup.quick else 30
    seconds = _written(store, batches, time.process_time)
    store.close()
    size = sum(path.stat().st_size for path in folder.glob("rows.db*"))
    return [
        Row("a row with its texts, SQLite, CPU time", seconds, goal=1 / 10_000),
        Row("bytes of a text trace", size / (batches * _BATCH), goal=1_000, is_count=True),
    ]


def _written(store: TraceStore, batches: int, clock: Callable[[], float]) -> float:
    """Returns the seconds for a record of the best batch: a question and an answer of its own, and a system message
    that all share.
    """
    record, numbers = _record(), itertools.count()
    rows = [[_another(record, next(numbers)) for _ in range(_BATCH)] for _ in range(batches)]
    times: list[float] = []
    for some in rows:
        start = clock()
        store._write([encoded(each, searchable=True) for each in some])  # pyright: ignore[reportPrivateUsage]
        times.append((clock() - start) / _BATCH)
    store.close()
    return min(times)


def _another(record: CallRecord, number: int) -> CallRecord:
    assert record.call is not None
    assert record.reply is not None
    question = Message("user", (TextPart(f"How many of the {number} boxes of tea are in the warehouse of Bremen?"),))
    call = record.call.with_(messages=(Message("system", (TextPart(clients.SYSTEM),)), question))
    reply = replace(record.reply, parts=(TextPart(f"Of the {number} boxes, {number // 3} are there today."),))
    return replace(record, trace_id=f"{number:032x}", call=call, reply=reply, started_at=record.started_at + number)


def _record() -> CallRecord:
    services, seen = Services(), list[CallRecord]()
    with services.records.subscribe(seen.append, "full"):
        create_llm("scripted", replies=["Yes."], services=services).generate("Is it so?", tags={"team": "office"})
    return seen[0]


def _sums(folder: Path, setup: Setup) -> list[Row]:
    """Costs by model and day, of the sums that a million calls leave."""
    store = TraceStore(folder / "sums.db")
    record = encoded(_record(), searchable=False).values
    hours = _DAYS * 24
    with store.database.writing() as connection:
        changes = SpendChanges(KnownSums())
        for number in range(100_000 if setup.quick else _CALLS):
            values = {**record, "model": f"model-{number % _MODELS}", "started_at": number % hours * 3_600.0}
            values["tags"] = f'{{"team":"team-{number // hours % _TEAMS}"}}'
            changes.add(SimpleNamespace(**values))
        changes.write(connection)

    def by_model() -> object:
        return store.costs(by=["model", "day"], since=0)

    def by_team() -> object:
        return store.costs(by=["model", "day", "tag:team"], since=0)

    times = best({"model": _seconds(by_model), "team": _seconds(by_team)}, setup.rounds)
    store.close()
    return [
        Row("costs of a million calls by model and day", times["model"], goal=0.02),
        Row("the same by team too", times["team"]),
    ]


def _seconds(function: Callable[[], object]) -> Callable[[], float]:
    def batch() -> float:
        start = time.perf_counter()
        function()
        return time.perf_counter() - start

    return batch


def _ignore(record: TraceRecord) -> None:
    """Does nothing: what a store adds is measured."""
