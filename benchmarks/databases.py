"""The cost of a database without its disk: a statement that is compiled once beside SQLAlchemy's, in SQLite."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

from rounds import Row, Setup, best, cpu_seconds, repeated
from sqlalchemy import Column, Connection, Float, Integer, MetaData, String, Table, bindparam, select, update

from abstractcore.database import Database, Schema, Statement
from abstractcore.limits import CallLeases
from abstractcore_server.store import KeyLimits, Keys, Store

_COUNT = 500
_METADATA = MetaData()
_RUNS = Table(
    "runs",
    _METADATA,
    Column("id", String(50), primary_key=True),
    Column("fence", Integer, nullable=False),
    Column("due_at", Float(53)),
)
_FIND = select(_RUNS).where(_RUNS.c.id == bindparam("run"))
_EXTEND = update(_RUNS).where(_RUNS.c.id == bindparam("run")).values(due_at=bindparam("due"))


def statements(setup: Setup) -> list[Row]:
    """A read and a write as compiled statements, as statements made once, and made for each execution."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "runs.db", schema=Schema("runs_version", _METADATA, 1))
        with database.writing() as connection:
            connection.execute(_RUNS.insert().values(id="a", fence=1, due_at=0.0))
            times = best(_batches(connection), setup.rounds)
        rows = [
            Row("a row: compiled once / a statement", times["find"], times["find once"], goal=0.5),
            Row("a row: compiled once / made each time", times["find"], times["find each"]),
            Row("an update: compiled once / a statement", times["extend"], times["extend once"]),
        ]
        return rows + _keys(Path(folder), setup)


def _batches(connection: Connection) -> dict[str, Any]:
    find, extend = Statement(_FIND), Statement(_EXTEND)
    things = {
        "find": lambda: find.first(connection, run="a"),
        "find once": lambda: connection.execute(_FIND, {"run": "a"}).first(),
        "find each": lambda: connection.execute(select(_RUNS).where(_RUNS.c.id == "a")).first(),
        "extend": lambda: extend.run(connection, run="a", due=1.0),
        "extend once": lambda: connection.execute(_EXTEND, {"run": "a", "due": 1.0}),
    }
    return {name: cpu_seconds(repeated(thing, _COUNT), _COUNT) for name, thing in things.items()}


def _keys(folder: Path, setup: Setup) -> list[Row]:
    store = Store(folder / "server.db")
    minutes = itertools.count(0.0, 61.0)
    keys, leases = Keys(store), CallLeases(store, lambda: next(minutes))
    secret, limits = keys.create("a").secret, KeyLimits(parallel=2)

    def call() -> None:
        leases.settle(str(leases.begin("a", limits, 1, 60.0)), 1)

    times = best(
        {
            "find": cpu_seconds(repeated(lambda: keys.find(secret), _COUNT), _COUNT),
            "lease": cpu_seconds(repeated(call, 50), 50),
        },
        setup.rounds,
    )
    store.close()
    return [Row("a key found", times["find"]), Row("a lease begun and settled", times["lease"])]
