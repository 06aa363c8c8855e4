"""`abstractcore serve --workers`: real processes that share keys, limits, counts, stored responses and signals."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from abstractcore import ConfigurationError
from abstractcore_server import ServerSettings, Settings
from abstractcore_server.process import listening_socket
from abstractcore_server.store import KeyLimits, Keys, Store
from abstractcore_server.workers import WorkerProcesses
from tests.chaos_server import HANG, LAST_CHUNK, PATIENCE_SECONDS, ScriptedServer, chunk, completion, delta, stream_head
from tests.postgresql import running_postgresql
from tests.server.test_process import ASK, LAST_PIECE, Process, notified, started, wait_until_refused

pytestmark = pytest.mark.process

WORKERS = 2
LIMIT = 5
PRICE = 0.25
"""What a call of the vendor's model counts, whose price is unknown."""
PATH = "/v1/chat/completions"
WHOLE = {**ASK, "stream": False}


class Served:
    """A server of several processes, the vendor behind it, and its configuration."""

    def __init__(
        self, process: Process, vendor: ScriptedServer, config: Path, secrets: dict[str, str], workers: int
    ) -> None:
        self.process = process
        self.vendor = vendor
        self.config = config
        self.secrets = secrets
        self.workers = workers

    def http(self, key: str = "admin") -> httpx2.Client:
        """Returns a client of one connection, which one of the processes answers."""
        headers = {"authorization": f"Bearer {self.secrets[key]}"}
        return httpx2.Client(
            base_url=self.process.url, headers=headers, trust_env=False, verify=False, timeout=PATIENCE_SECONDS
        )

    def process_of(self, http: httpx2.Client) -> int:
        """Returns the id of the process that answers a client."""
        found = re.search(r'process_info\{process="(\d+)"\}', http.get("/metrics").text)
        assert found
        return int(found[1])

    def clients(self, stack: ExitStack, key: str = "admin") -> dict[int, httpx2.Client]:
        """Returns a client of each process, by the id of the process. Those that are found stand still until all are:
        the system may give any number of connections to the same one.
        """
        found: dict[int, httpx2.Client] = {}
        try:
            while len(found) < self.workers:
                http = stack.enter_context(self.http(key))
                process = self.process_of(http)
                found[process] = http
                os.kill(process, signal.SIGSTOP)
        finally:
            for process in found:
                os.kill(process, signal.SIGCONT)
        return found

    def metric(self, name: str) -> float:
        """Returns the value of a metric without labels."""
        with self.http() as http:
            found = re.search(rf"^abstractcore_{name} (\S+)$", http.get("/metrics").text, re.MULTILINE)
        assert found
        return float(found[1])


def until(holds: Callable[[], bool]) -> None:
    """Returns when a condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "the condition never held"


@pytest.fixture(scope="module")
def vendor() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('data') / 'server.db'}"
    return request.getfixturevalue("postgresql").url


@contextmanager
def serving(
    vendor: ScriptedServer, database: str, folder: Path, down: str = "closed", workers: int = WORKERS
) -> Generator[Served]:
    """Runs a server of several processes during `with`."""
    store = Store(database)
    keys, prefix = Keys(store), folder.name
    limits = {
        "admin": KeyLimits(),
        "requests": KeyLimits(LIMIT),
        "parallel": KeyLimits(parallel=1),
        "few-dollars": KeyLimits(usd_per_day=Decimal("0.5")),
        "dollars": KeyLimits(usd_per_month=Decimal(100)),
    }
    secrets = {each: keys.create(f"{prefix}-{each}", limits=most).secret for each, most in limits.items()}
    store.close()
    config = folder / "server.toml"
    config.write_text(
        f'[server]\ndatabase = "{database}"\ndatabase_down = "{down}"\nunpriced = {PRICE}\n'
        "[limits]\ndrain_seconds = 20\n"
        f'[budgets.{prefix}]\nusd = 1\nper = "day"\nkeys = ["{prefix}-dollars"]\nunpriced = {PRICE}\n'
        f'[providers.openai-compatible]\nbase_url = "{vendor.url}/v1"\noptions.max_retries = 0\n'
    )
    command = ("--config", str(config), "--workers", str(workers))
    with notified() as (name, systemd), started(*command, NOTIFY_SOCKET=name) as process:
        assert systemd.recv(64) == b"READY=1"
        yield Served(process, vendor, config, secrets, workers)
        if process.process.poll() is None:
            process.signal(signal.SIGTERM)
        process.end()


@pytest.fixture(scope="module")
def served(vendor: ScriptedServer, database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for the tests that do not end it."""
    with serving(vendor, database, tmp_path_factory.mktemp("shared")) as server:
        yield server


@pytest.fixture
def ending(vendor: ScriptedServer, tmp_path: Path) -> Iterator[Served]:
    """A server for a test that ends it."""
    with serving(vendor, f"sqlite:///{tmp_path}/server.db", tmp_path) as server:
        yield server


def test_limits_hold_over_all_processes(served: Served):
    with ExitStack() as stack:
        clients = list(served.clients(stack, "requests").values())
        for _ in range(LIMIT):
            served.vendor.script(completion("hi"))
        answers = [clients[each % WORKERS].post(PATH, json=WHOLE) for each in range(LIMIT + WORKERS)]
    assert [answer.status_code for answer in answers] == [200] * LIMIT + [429] * WORKERS
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers[LIMIT:])


@pytest.mark.parametrize(("key", "most"), [("few-dollars", 2), ("dollars", 4)])
def test_budgets_hold_over_all_processes_and_calls_at_once(served: Served, key: str, most: int):
    for _ in range(most):
        served.vendor.script(completion("hi"))
    with ExitStack() as stack, ThreadPoolExecutor(8) as threads:
        clients = list(served.clients(stack, key).values())
        asked = [threads.submit(clients[each % WORKERS].post, PATH, json=WHOLE) for each in range(8)]
        answers = [each.result() for each in asked]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert len(answers) - len(refused) == most
    assert {answer.status_code for answer in refused} == {429}
    assert all(answer.json()["error"]["code"] == "insufficient_quota" for answer in refused)
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)


def test_counts_of_all_processes_are_shown_as_one(served: Served):
    with ExitStack() as stack:
        clients = served.clients(stack).values()
        for http in clients:
            assert http.get("/nothing").status_code == 404
        expected = f'requests_total{{route="other",status="404"}} {WORKERS}'
        for http in clients:
            until(lambda http=http: f"abstractcore_{expected}" in http.get("/metrics").text)


def test_response_that_one_process_stores_is_found_by_the_others(served: Served):
    with ExitStack() as stack:
        first, second = served.clients(stack).values()
        served.vendor.script(completion("stored"))
        stored = first.post("/v1/responses", json={"model": ASK["model"], "input": "hi"}).json()
        assert second.get(f"/v1/responses/{stored['id']}").json()["output"] == stored["output"]


def test_response_in_the_background_is_followed_and_cancelled_by_another_process(served: Served):
    with ExitStack() as stack:
        first, second = served.clients(stack).values()
        gate = served.vendor.gate()
        served.vendor.script(stream_head(), chunk(delta("Bon")), gate, LAST_PIECE, LAST_CHUNK)
        with _followed(second, _in_background(first)) as events:
            seen = [next(events)]
            while seen[-1]["type"] != "response.output_text.delta":
                seen.append(next(events))
            gate.open()
            seen += events
        assert [event["sequence_number"] for event in seen] == list(range(len(seen)))
        assert seen[-1]["response"]["output"][0]["content"][0]["text"] == "Bonjour"
        asked = len(served.vendor.requests)
        served.vendor.script(stream_head(), chunk(delta("Bon")), HANG)
        id = _in_background(first)
        served.vendor.wait_for_requests(asked + 1)  # else a kept connection may never be used, and stays open
        with _followed(first, id) as events:
            assert second.post(f"/v1/responses/{id}/cancel").json()["status"] == "cancelled"
            assert list(events)[-1]["response"]["status"] == "cancelled"
        served.vendor.wait_for(lambda: served.vendor.requests[-1].connection.closed_at is not None)


def test_response_in_the_background_of_a_killed_process_has_failed(served: Served):
    with ExitStack() as stack:
        (killed, its_client), (_, other) = served.clients(stack).items()
        served.vendor.script(stream_head(), chunk(delta("Bon")), HANG)
        id = _in_background(its_client)
        with _followed(other, id) as events:
            os.kill(killed, signal.SIGKILL)
            last = list(events)[-1]["response"]
        assert (last["status"], last["error"]["code"]) == ("failed", "server_error")
        assert other.get(f"/v1/responses/{id}").json() == last
    until(lambda: served.metric("workers") == WORKERS)


def _in_background(http: httpx2.Client) -> str:
    """Begins a response, and leaves it when its first event has come; returns its id."""
    body = {"model": ASK["model"], "input": "hi", "background": True, "stream": True}
    with http.stream("POST", "/v1/responses", json=body) as response:
        return next(_events(response))["response"]["id"]


@contextmanager
def _followed(http: httpx2.Client, id: str) -> Generator[Iterator[dict[str, Any]]]:
    with http.stream("GET", f"/v1/responses/{id}?stream=true") as response:
        yield _events(response)


def _events(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    return (json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: "))


def test_parts_of_an_upload_may_go_to_any_process(served: Served):
    with ExitStack() as stack:
        first, second = served.clients(stack).values()
        facts = {"bytes": 4, "filename": "a.txt", "mime_type": "text/plain", "purpose": "user_data"}
        path = f"/v1/uploads/{first.post('/v1/uploads', json=facts).json()['id']}"
        parts = [http.post(f"{path}/parts", files={"data": b"ab"}).json()["id"] for http in (first, second)]
        completed = second.post(f"{path}/complete", json={"part_ids": parts}).json()
        assert first.get(f"/v1/files/{completed['file']['id']}/content").content == b"abab"


def test_killed_process_is_counted_and_replaced_and_its_leases_are_freed(served: Served):
    deaths = served.metric("worker_deaths_total")
    with ExitStack() as stack:
        clients = served.clients(stack, "parallel")
        (killed, its_client), (_, other) = clients.items()
        gate = served.vendor.gate()
        served.vendor.script(stream_head(), chunk(delta("Bon")), gate, LAST_PIECE, LAST_CHUNK)
        with its_client.stream("POST", PATH, json=ASK) as response:
            pieces = response.iter_bytes()
            assert next(pieces)
            assert other.post(PATH, json=WHOLE).status_code == 429
            os.kill(killed, signal.SIGKILL)
            with pytest.raises(httpx2.TransportError):
                list(pieces)
        gate.open()
        served.process.wait_for_line(f"process {killed} has died (exit code -9), and is replaced")
        served.vendor.script(completion("free again"))
        until(lambda: other.post(PATH, json=WHOLE).status_code == 200)
    assert served.metric("worker_deaths_total") == deaths + 1
    until(lambda: served.metric("workers") == WORKERS)


def test_sighup_reloads_all_processes_without_cutting_a_stream(served: Served):
    with ExitStack() as stack:
        first, second = served.clients(stack).values()
        gate = served.vendor.gate()
        served.vendor.script(stream_head(), chunk(delta("Bon")), gate, LAST_PIECE, LAST_CHUNK)
        renamed = {**WHOLE, "model": "fast"}
        with first.stream("POST", PATH, json=ASK) as response, served.http() as again:
            pieces = response.iter_bytes()
            seen = next(pieces)
            served.config.write_text(served.config.read_text() + '[models.fast]\nmodels = "openai-compatible/m"\n')
            served.process.signal(signal.SIGHUP)
            for _ in range(WORKERS):
                served.process.wait_for_line("the configuration was reloaded")
            served.vendor.script(completion("second"))
            served.vendor.script(completion("third"))
            assert [each.post(PATH, json=renamed).status_code for each in (second, again)] == [200, 200]
            gate.open()
            assert b"jour" in seen + b"".join(pieces)
        served.config.write_text("[server]\nprot = 1\n")
        served.process.signal(signal.SIGHUP)
        served.process.wait_for_line("was not reloaded")
        served.vendor.script(completion("still"))
        assert second.post(PATH, json=renamed).status_code == 200


def test_sigterm_lets_the_streams_of_all_processes_end(ending: Served):
    gate = ending.vendor.gate()
    with ExitStack() as stack:
        streams = _streams(ending, stack, gate)
        ending.process.signal(signal.SIGTERM)
        wait_until_refused(ending.process.url)
        for _ in streams:
            gate.open()
        assert all(b"jour" in b"".join(pieces) for pieces in streams)
    assert ending.process.end() == 0


def test_second_sigterm_ends_all_processes_at_once(ending: Served):
    with ExitStack() as stack:
        streams = _streams(ending, stack, HANG)
        ending.process.signal(signal.SIGTERM)
        wait_until_refused(ending.process.url)
        ending.process.signal(signal.SIGTERM)
        for pieces in streams:
            with pytest.raises(httpx2.TransportError):
                list(pieces)
    assert ending.process.end() == 0


def test_database_that_is_down_is_closed_or_open_in_all_processes(vendor: ScriptedServer, tmp_path: Path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "open").mkdir()
    with (
        running_postgresql() as postgresql,
        serving(vendor, postgresql.url, tmp_path / "closed") as closed,
        serving(vendor, postgresql.url, tmp_path / "open", "open") as opened,
        ExitStack() as stack,
    ):
        refusing = closed.clients(stack, "requests").values()
        answering = opened.clients(stack, "requests")
        postgresql.stop()
        for http in refusing:
            refused = http.post(PATH, json=WHOLE)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert http.get("/health").status_code == 200
        for http in [*answering.values()] * LIMIT:  # beyond the limit of the key, which nothing counts now
            vendor.script(completion("hi"))
            assert http.post(PATH, json=WHOLE).status_code == 200
            assert http.post("/v1/conversations", json={}).status_code == 503
        with opened.http("parallel") as unseen:
            assert unseen.post(PATH, json=WHOLE).status_code == 503

        (killed, _), (_, other) = answering.items()
        os.kill(killed, signal.SIGKILL)
        opened.process.wait_for_line("server.database: it cannot be used")
        vendor.script(completion("alone"))
        assert other.post(PATH, json=WHOLE).status_code == 200
        postgresql.start()
        until(lambda: other.post("/v1/conversations", json={}).status_code == 200)
        until(lambda: opened.metric("workers") == WORKERS)
        assert [http.post("/v1/conversations", json={}).status_code for http in refusing] == [200] * WORKERS


def test_processes_end_when_the_one_that_watches_them_was_killed(ending: Served):
    ending.process.signal(signal.SIGKILL)
    ending.process.end()
    wait_until_refused(ending.process.url)


def _streams(served: Served, stack: ExitStack, pause: Any) -> list[Iterator[bytes]]:
    """Returns a stream of each process that has begun, and goes on after `pause`."""
    streams: list[Iterator[bytes]] = []
    for http in served.clients(stack).values():
        served.vendor.script(stream_head(), chunk(delta("Bon")), pause, LAST_PIECE, LAST_CHUNK)
        pieces = stack.enter_context(http.stream("POST", PATH, json=ASK)).iter_bytes()
        assert next(pieces)
        streams.append(pieces)
    return streams


def test_server_whose_workers_cannot_start_ends_with_an_error():
    settings = Settings(ServerSettings(port=0, workers=WORKERS))
    with (
        listening_socket(settings.server, is_open=True) as listening,
        pytest.raises(ConfigurationError, match="no worker could start"),
    ):
        WorkerProcesses(settings, listening, sys.exit, lambda: settings).run()  # each worker ends with an error
