"""`abstractcore dashboard` as a process: who may read, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from abstractcore.traces import TraceStore
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.traces.stores import NOON, a_call, write

pytestmark = pytest.mark.process
_PROGRAM = "import typer; from abstractcore_server.commands.arguments import dashboard; typer.run(dashboard)"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    store = TraceStore(tmp_path / "traces.db")
    write(store, a_call(at=NOON, tags={"team": "office"}))
    store.close()
    return tmp_path / "traces.db"


@contextmanager
def started(*arguments: str) -> Generator[subprocess.Popen[str]]:
    """Starts the command, whatever was installed when the tree had fewer commands."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ABSTRACTCORE_")}
    command = [sys.executable, "-c", _PROGRAM, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kept) as process:
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def address_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Returns the URL of the server, and the token of the address that was printed."""
    assert process.stdout is not None
    url, _, token = process.stdout.readline().strip().partition("/dashboard#token=")
    return url, token


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_address_opens_once_and_the_signal_ends_the_process(place: Path, number: signal.Signals):
    with started("--store", str(place)) as process:
        url, token = address_of(process)
        assert urlsplit(url).hostname == "127.0.0.1"
        with httpx2.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client:
            assert "<title>AbstractCore dashboard</title>" in client.get("/dashboard").text
            assert client.get("/dashboard/api/calls").status_code == 401
            assert client.get("/v1/models").status_code == 401
            by_token = {"authorization": f"Bearer {token}"}
            assert client.get("/dashboard/api/calls", headers=by_token).status_code == 401
            foreign = {**by_token, "host": "attacker.example"}
            assert client.post("/dashboard/api/session", headers=foreign).status_code == 403
            session = client.post("/dashboard/api/session", headers=by_token)
            assert session.status_code == 200
            assert client.post("/dashboard/api/session", headers=by_token).status_code == 401
            by_key = {"authorization": f"Bearer {session.json()['key']}"}
            calls = client.get("/dashboard/api/calls", params={"since": "all"}, headers=by_key)
            assert [call["tags"] for call in calls.json()["calls"]] == [{"team": "office"}]
            assert client.get("/v1/models", headers=by_key).status_code == 404
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, errors
        assert "valid once" in errors
        assert token not in errors


def test_place_without_traces_is_an_error_with_what_to_do(tmp_path: Path):
    with started("--store", str(tmp_path / "none.db")) as process:
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode != 0
    assert output == ""
    assert "there is no such file" in errors
    assert "Name the file or URL that traces are kept in" in errors
    assert not (tmp_path / "none.db").exists()


def test_port_in_use_is_an_error(place: Path):
    with started("--store", str(place)) as first:
        url, _ = address_of(first)
        with started("--store", str(place), "--port", str(urlsplit(url).port)) as second:
            _, errors = second.communicate(timeout=PATIENCE_SECONDS)
    assert second.returncode != 0
    assert "Traceback" not in errors
