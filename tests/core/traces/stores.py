"""Stores of tests: a SQLite file and a PostgreSQL; records, and a recorder whose subscribers get them at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from abstractcore.schema import CallRecord, Message, ModelCall, ModelReply, TextPart, TraceRecord, Usage
from abstractcore.telemetry import Recorder
from abstractcore.traces import TraceStore
from abstractcore.traces.rows import encoded
from abstractcore.traces.tables import POSTGRESQL

NOON = 1_800_000_000.0
_numbers = itertools.count()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    return f"sqlite:///{tmp_path}/traces.db" if request.param == "sqlite" else request.getfixturevalue("postgresql").url


@pytest.fixture
def store(url: str) -> Iterator[TraceStore]:
    """An empty store."""
    opened = TraceStore(url)
    yield opened
    remove(opened)


@pytest.fixture
def recorder() -> Recorder:
    """A recorder of no LLM."""
    return Recorder()


def remove(store: TraceStore) -> None:
    """Closes a store, and removes its tables from a PostgreSQL, which other tests use."""
    if store.database.dialect == "postgresql":
        with store.database.writing() as connection:
            POSTGRESQL.schema.tables.drop_all(connection)
            connection.execute(text("DROP TABLE traces_version"))
    store.close()


def a_call(
    question: str = "When does the meeting start?",
    answer: str = "At 9.30.",
    *,
    cost: str | None = "0.0001",
    estimated: str | None = None,
    at: float = NOON,
    **changed: Any,
) -> CallRecord:
    """A record of a call, in full."""
    number = next(_numbers)
    usage = Usage(10, 5)
    call = ModelCall("small", (Message("user", (TextPart(question),)),), "vendor")
    reply = ModelReply((TextPart(answer),), "stop", usage=usage, model="small", provider="vendor")
    fields: dict[str, Any] = {
        "trace_id": f"{number:032x}",
        "parent_id": None,
        "provider": "vendor",
        "model": "small",
        "outcome": "done",
        "streamed": False,
        "started_at": at,
        "seconds": 0.5,
        "seconds_to_first": None,
        "call_digest": f"{number:064x}",
        "reply_digest": None,
        "call": call,
        "reply": reply,
        "attempts": (),
        "usage": usage,
        "cost": None if cost is None else Decimal(cost),
        "estimated_cost": None if estimated is None else Decimal(estimated),
        "media": (),
        "warnings": (),
        "error": None,
    }
    return CallRecord(**{**fields, **changed})


def write(store: TraceStore, *records: TraceRecord) -> None:
    """Writes records as one transaction."""
    store._write([encoded(record, searchable=True) for record in records])  # pyright: ignore[reportPrivateUsage]


def subscriber_of(recorder: Recorder) -> Callable[[TraceRecord], object]:
    """Returns the function that the only subscription of a recorder calls."""
    (subscription,) = recorder._subscriptions.values()  # pyright: ignore[reportPrivateUsage]
    return subscription._subscriber  # pyright: ignore[reportPrivateUsage]
