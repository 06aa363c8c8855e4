"""Durable runs: effects beside the same commits by sqlite3 alone, dead workers, answers, and runs that wait."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import resource
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from rounds import Row, Setup, best

from abstractcore.concurrency import SyncRuntime, drive
from abstractcore.ports import Interruption
from abstractruntime import Effect, FunctionEffect, FunctionProgram, Item, Limits, Run, Runtime, Step, Wait
from tests.postgresql import programs, running_postgresql

_EFFECTS = 400
"""So many commits make SQLite move its log into the file at least once: every batch has that cost."""
_PAYLOAD = {"prompt": "a" * 200}
_TEXT = "".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(31))
"""Two kilobytes, which zlib makes as small as English text."""
_NO_LIMITS = Limits(steps=None)


def _working(state: Any, item: Item) -> Step:
    left = item.payload if item.kind == "start" else state["left"] - 1
    if left == 0:
        return Step.complete("done", state={"left": 0})
    return Step.do({"left": left}, Effect("work", _PAYLOAD))


def _waiting(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.wait({"kept": item.payload}, Wait("go", asked="Go on?"))
    return Step.complete(item.payload)


WORKING = FunctionProgram("working", _working)
WAITING = FunctionProgram("waiting", _waiting)


class _Killed(BaseException):
    pass


def _work(context: Any, payload: Any) -> int:
    return 1


def _die(context: Any, payload: Any) -> int:
    raise _Killed


def _opened(place: str, work: Callable[..., Any] = _work, **options: Any) -> Runtime:
    effects = {"work": FunctionEffect(work, "repeat")}
    return Runtime(place, programs=[WORKING, WAITING], effects=effects, **options)


def runs(setup: Setup) -> list[Row]:
    """Everything about runs that has a figure."""
    with tempfile.TemporaryDirectory() as folder:
        rows = _effects(Path(folder), setup)
        rows += [*_answers(f"sqlite:///{folder}/answers.db", "SQLite")]
        rows += [_taken_over(f"sqlite:///{folder}/dead.db", "SQLite", 5.0, setup)]
        rows += _parked(Path(folder), setup)
    if programs() is not None:
        with running_postgresql() as server:
            rows += _workers(server.url, setup)
            rows += [*_answers(server.url, "PostgreSQL"), _taken_over(server.url, "PostgreSQL", 8.0, setup)]
    return rows


# Effects


def _effects(folder: Path, setup: Setup) -> list[Row]:
    batches: dict[str, Callable[[], float]] = {}
    synchronous: tuple[Literal["normal", "full"], ...] = ("normal", "full")
    opened = {each: _opened(f"sqlite:///{folder}/{each}.db", synchronous=each) for each in synchronous}
    for name, runtime in opened.items():
        batches[name] = _batch(runtime)
        batches[f"sqlite3 {name}"] = _bare(folder / f"bare-{name}.db", name, runtime)
    times = best(batches, setup.rounds)
    rows: list[Row] = []
    for (name, runtime), most in zip(opened.items(), (1 / 1000, 1 / 400), strict=True):
        runtime.close()
        rows.append(
            Row(f"an effect, SQLite {name.upper()} / the same by sqlite3", times[name], times[f"sqlite3 {name}"], 2.5)
        )
        rows.append(Row(f"an effect, SQLite {name.upper()}", times[name], goal=most))
    return rows


def _batch(runtime: Runtime) -> Callable[[], float]:
    def batch() -> float:
        runtime.start(WORKING, _EFFECTS, limits=_NO_LIMITS)
        begun = time.perf_counter()
        runtime.work()
        return (time.perf_counter() - begun) / _EFFECTS

    return batch


def _bare(file: Path, synchronous: str, runtime: Runtime) -> Callable[[], float]:
    """Returns a batch of the same commits: the same columns of as many rows and bytes, in the same tables, without
    anything around them.
    """
    run = runtime.start(WORKING, 3, id="sample")
    runtime.work()
    with runtime.database.reading() as connection:
        tables = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").scalars().all()
        record = tuple(connection.exec_driver_sql(
            "SELECT * FROM abstractruntime_ledger WHERE run = 'sample' AND seq = 3"
        ).one())  # fmt: skip
        row = connection.exec_driver_sql("SELECT * FROM abstractruntime_runs WHERE id = 'sample'").mappings().one()
    assert run.output == "done"
    bare = sqlite3.connect(file, isolation_level=None)
    for pragma in ("journal_mode = WAL", f"synchronous = {synchronous}", "foreign_keys = ON"):
        bare.execute(f"PRAGMA {pragma}")
    for table in tables:
        bare.execute(table)
    bare.execute(f"INSERT INTO abstractruntime_runs VALUES ({', '.join('?' * len(row))})", [*row.values()])
    inflight = b"i" * 330
    numbers = itertools.count(1)
    changed = ("state", "inflight", "seq", "head", "spent", "updated")
    update = (
        f"UPDATE abstractruntime_runs SET {', '.join(f'{name} = ?' for name in changed)} "
        "WHERE id = 'sample' AND fence = ? AND seq <= ?"
    )
    insert = f"INSERT INTO abstractruntime_ledger VALUES ({', '.join('?' * len(record))})"

    def batch() -> float:
        begun = time.perf_counter()
        for _ in range(_EFFECTS):
            number = next(numbers)
            now = time.time()
            bare.execute("BEGIN IMMEDIATE")
            bare.execute(
                update,
                (row["state"], inflight, number, row["head"], row["spent"], now, row["fence"], number),
            )
            bare.execute(insert, ("sample", number, *record[2:]))
            bare.execute("COMMIT")
        return (time.perf_counter() - begun) / _EFFECTS

    return batch


def _workers(url: str, setup: Setup) -> list[Row]:
    """Effects of PostgreSQL, by 1 to 8 processes that work on runs of their own."""
    rows: list[Row] = []
    counts = (1, 4) if setup.quick else (1, 2, 4, 8)
    effects = 50
    with _opened(url) as runtime:
        for count in counts:
            ready, go = get_context("spawn").Semaphore(0), get_context("spawn").Event()
            processes = [get_context("spawn").Process(target=_process, args=(url, ready, go)) for _ in range(count)]
            started = [runtime.start(WORKING, effects, limits=_NO_LIMITS) for _ in range(count * 4)]
            for process in processes:
                process.start()
            for _ in processes:
                ready.acquire()
            begun = time.perf_counter()
            go.set()
            for process in processes:
                process.join()
            seconds = time.perf_counter() - begun
            assert all(run.status == "completed" for run in started)
            rows.append(Row(f"an effect, PostgreSQL, {count} workers", seconds / (len(started) * effects)))
    return rows


def _process(url: str, ready: Any, go: Any) -> None:
    with _opened(url) as runtime:
        runtime.store.due_programs()
        ready.release()
        go.wait()
        asyncio.run(runtime.worker().run(until="idle", concurrency=4))


# Answers


def _answers(place: str, name: str) -> Generator[Row]:
    """From an answer to the end of its run: with a hint in the process, and by polling in another one."""
    with _opened(place) as runtime, _hinted(runtime):
        yield Row(f"answer to completed, {name}, hint", _latency(runtime), goal=0.015)
    with _opened(place) as runtime, _polled(place):
        yield Row(f"answer to completed, {name}, polling", _latency(runtime), goal=0.1)


def _latency(runtime: Runtime, count: int = 40) -> float:
    """Returns the median."""
    started = [runtime.start(WAITING) for _ in range(count)]
    for run in started:
        _await(run, "waiting")
    times: list[float] = []
    for number, run in enumerate(started):
        (wait,) = run.waits
        time.sleep(0.05 * number / count)  # anywhere between two polls
        begun = time.perf_counter()
        wait.answer(1)
        _await(run, "completed")
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _await(run: Run, status: str) -> None:
    while run.status != status:
        time.sleep(0.001)


@contextmanager
def _hinted(runtime: Runtime) -> Generator[None]:
    stop = Interruption()
    thread = threading.Thread(target=lambda: asyncio.run(runtime.worker().run(stop=stop)))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def _polled(place: str) -> Generator[int]:
    """Runs a worker in another process, until it is ready; yields its id."""
    ready = get_context("spawn").Event()
    process = get_context("spawn").Process(target=_poll, args=(place, ready))
    process.start()
    assert process.pid is not None
    try:
        ready.wait()
        yield process.pid
    finally:
        process.terminate()
        process.join()


def _poll(place: str, ready: Any) -> None:
    with _opened(place) as runtime:
        asyncio.run(runtime.worker().run(report=lambda metrics: ready.set()))


# A dead worker


def _taken_over(place: str, name: str, most: float, setup: Setup) -> Row:
    """All runs of a worker that died in an effect of each, until one worker has completed them."""
    count = 200 if setup.quick else 1000
    with _opened(place, _die) as dead:
        for _ in range(count):
            dead.start(WORKING, 1)
        engine, runtime = dead.worker().engine(), SyncRuntime()
        for lease in dead.store.claim(["working@1"], "dead", count):
            try:
                drive(engine.advance(lease, runtime))
            except _Killed:
                continue
        with dead.database.writing() as connection:
            connection.exec_driver_sql("UPDATE abstractruntime_runs SET due_at = 1 WHERE owner = 'dead'")
    with _opened(place) as taker:
        begun = time.perf_counter()
        taken = asyncio.run(taker.worker().run(until="idle"))
        seconds = time.perf_counter() - begun
    assert taken == count
    return Row(f"{count:,} runs of a dead worker, {name}", seconds, goal=most)


# Waiting runs


def _parked(folder: Path, setup: Setup) -> list[Row]:
    """Runs that wait, with 2 kB of input and 2 kB of state."""
    count = 1000 if setup.quick else 10_000
    file = folder / "parked.db"
    with _opened(f"sqlite:///{file}") as runtime:
        memory, threads = _memory(), threading.active_count()
        begun = time.perf_counter()
        for number in range(count):
            runtime.start(WAITING, [number, _TEXT])
        asyncio.run(runtime.worker().run(until="idle"))
        parked = time.perf_counter() - begun
        rows = [
            Row(f"{count:,} runs: started and parked", parked),
            Row(f"{count:,} waiting runs: threads", max(0, threading.active_count() - threads), goal=0, is_count=True),
            Row(f"{count:,} waiting runs: MB of memory", _memory() - memory, goal=20, is_count=True),
        ]
    size = sum(each.stat().st_size for each in folder.glob("parked.db*")) / 1e6
    rows.append(Row(f"{count:,} waiting runs: MB on disk", size, goal=60, is_count=True))
    with _polled(f"sqlite:///{file}") as process:
        time.sleep(1)
        before = _cpu(process)
        time.sleep(10)
        share = (_cpu(process) - before) / 10
    rows.append(Row(f"{count:,} waiting runs: a second of polling", share, goal=0.02))
    return rows


def _memory() -> float:
    """Returns the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
