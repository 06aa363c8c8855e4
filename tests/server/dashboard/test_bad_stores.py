"""The dashboard of a store that is empty, locked, of a later version, damaged, or deleted while it is shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import pytest

from abstractcore import TextPart
from abstractcore.schema import ModelReply
from abstractcore.traces import TraceStore
from abstractcore_server import Settings
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.traces.stores import NOON, a_call, write
from tests.server.serving import serving

KEY = "the-key-of-an-admin"
PATHS = ("summary?since=all", "calls?since=all", f"traces/{'0' * 32}", "live")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    store = TraceStore(tmp_path / "traces.db")
    write(store, a_call(at=NOON))
    store.close()
    return tmp_path / "traces.db"


@contextmanager
def shown(place: Path) -> Generator[httpx2.Client]:
    """Yields a client of the dashboard's data."""
    headers = {"authorization": f"Bearer {KEY}"}
    with (
        serving(Settings(admin_keys=(KEY,)), traces=place) as served,
        httpx2.Client(
            base_url=f"{served.url}/dashboard/api", headers=headers, trust_env=False, timeout=PATIENCE_SECONDS
        ) as client,
    ):
        yield client


def test_empty_store_has_no_sums_and_no_calls(tmp_path: Path):
    store = TraceStore(tmp_path / "empty.db")
    write(store)
    store.close()
    with shown(tmp_path / "empty.db") as client:
        assert client.get("/summary").json()["groups"] == []
        assert client.get("/calls").json() == {"calls": [], "has_more": False}


def to_later_version(place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE traces_version SET version = 99")
        connection.commit()


def to_no_database(place: Path) -> None:
    place.write_bytes(b"no database " * 1000)


@pytest.mark.parametrize(
    ("spoil", "problem"), [(to_later_version, "later version"), (to_no_database, "cannot be read")]
)
@pytest.mark.parametrize("path", PATHS)
def test_store_that_cannot_be_used_is_explained(place: Path, spoil: Callable[[Path], None], problem: str, path: str):
    spoil(place)
    with shown(place) as client:
        response = client.get(f"/{path}")
    assert response.status_code == 503
    assert problem in response.text
    assert str(place) not in response.text


@pytest.mark.process
def test_locked_store_is_refused_and_read_again_when_it_is_free(place: Path):
    with shown(place) as client:
        with closing(sqlite3.connect(place, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            assert client.get("/calls").status_code == 503
        assert len(client.get("/calls?since=all").json()["calls"]) == 1


def test_store_that_is_deleted_and_made_again_is_shown_again(place: Path):
    with shown(place) as client:
        assert client.get("/calls").status_code == 200
        for file in place.parent.iterdir():
            file.unlink()
        assert client.get("/calls").status_code in (404, 503)
        response = client.get("/calls")
        assert response.status_code == 404
        assert "ABSTRACTCORE_TRACES" in response.text
        store = TraceStore(place)
        write(store, a_call(at=NOON, model="another"))
        store.close()
        assert [call["model"] for call in client.get("/calls?since=all").json()["calls"]] == ["another"]


def test_live_connection_ends_with_its_store(place: Path, caplog: pytest.LogCaptureFixture):
    with shown(place) as client, client.stream("GET", "/live") as response:
        lines = response.iter_lines()
        assert next(lines) == ": follows"
        for file in place.parent.iterdir():
            file.unlink()
        assert [line for line in lines if line] == ['data: {"error": "the database of traces cannot be read"}']
    assert "Traceback" not in caplog.text


def test_long_text_is_cut_and_says_so(place: Path):
    store = TraceStore(place)
    long = a_call(at=NOON, reply=ModelReply((TextPart("<b>" + "é" * 5_000_000),), "stop"))
    write(store, long)
    store.close()
    with shown(place) as client:
        response = client.get(f"/traces/{long.trace_id}")
    (part,) = response.json()["nodes"][0]["reply"]
    assert part["text"].endswith("[4800003 more characters]")
    assert len(response.content) < 1_000_000
