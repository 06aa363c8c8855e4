"""The dashboard's data over HTTP: who may read it, sums, lists, traces, files and new calls."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx2
import pytest

from abstractcore import AuthenticationError
from abstractcore.traces import TraceStore
from abstractcore_server import Settings, server_services
from abstractcore_server.dashboard.access import SESSION_PATH, OneTimeAccess
from abstractcore_server.dashboard.opened_store import OpenedTraces
from abstractcore_server.requests import RequestHead
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.traces.stores import NOON, a_call, write
from tests.server.dashboard.sample_traces import LOOP, many_calls, one_loop, sample_sound
from tests.server.serving import Served, serving
from tests.server.test_hostile_requests import PATHS_AS_IDS

KEY = "the-key-of-an-admin"
PNG = (Path(__file__).parents[2] / "media/files/small.png").read_bytes()
UPLOT = {
    "uplot.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uplot.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
"""SHA-256 of the files of uPlot 1.6.32 as npm has them: dist/uPlot.iife.min.js, dist/uPlot.min.css and LICENSE."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces") / "traces.db"


@pytest.fixture(scope="module")
def store(place: Path) -> Iterator[TraceStore]:
    store = TraceStore(place)
    many_calls(store, 120, until=NOON)
    one_loop(store, PNG, sample_sound(), at=NOON)
    yield store
    store.close()


@pytest.fixture(scope="module")
def running(place: Path, store: TraceStore) -> Iterator[Served]:
    with serving(Settings(keys=("a-key-of-a-client",), admin_keys=(KEY,)), traces=place) as served:
        yield served


@pytest.fixture(scope="module")
def api(running: Served) -> Iterator[httpx2.Client]:
    headers = {"authorization": f"Bearer {KEY}"}
    base = f"{running.url}/dashboard/api"
    with httpx2.Client(base_url=base, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        yield client


def read(api: httpx2.Client, path: str, **parameters: str) -> Any:
    response = api.get(path, params=parameters)
    assert response.status_code == 200, response.text
    assert response.headers["cache-control"] == "no-store"
    return response.json()


@pytest.mark.parametrize("path", ["summary", "calls", "live", f"traces/{LOOP}", f"traces/{LOOP}/files/{'0' * 64}"])
@pytest.mark.parametrize("key", [None, "another-key-of-nobody", "a-key-of-a-client"])
def test_data_needs_the_key_of_an_admin(http: httpx2.Client, path: str, key: str | None):
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    response = http.get(f"/dashboard/api/{path}", headers=headers)
    assert response.status_code == 401
    assert "team" not in response.text


def test_key_of_an_admin_is_none_of_a_client(http: httpx2.Client):
    assert http.get("/v1/models", headers={"authorization": f"Bearer {KEY}"}).status_code == 401


def test_without_admin_keys_nobody_may_read(place: Path, store: TraceStore):
    with serving(traces=place) as served:
        response = httpx2.get(f"{served.url}/dashboard/api/calls", trust_env=False)
    assert response.status_code == 403
    assert "no admin key" in response.text


def test_place_is_that_of_the_environment_of_the_services(place: Path, store: TraceStore):
    settings = Settings(admin_keys=(KEY,))
    services = server_services(settings, environment={"ABSTRACTCORE_TRACES_STORE": str(place)})
    with serving(settings, services=services) as served:
        headers = {"authorization": f"Bearer {KEY}"}
        response = httpx2.get(f"{served.url}/dashboard/api/calls?since=all", headers=headers, trust_env=False)
    assert len(response.json()["calls"]) == 50


def test_place_without_traces_is_explained(tmp_path: Path):
    with serving(Settings(admin_keys=(KEY,)), traces=tmp_path / "none.db") as served:
        headers = {"authorization": f"Bearer {KEY}"}
        response = httpx2.get(f"{served.url}/dashboard/api/calls", headers=headers, trust_env=False)
    assert response.status_code == 404
    assert "no traces are kept here" in response.text
    assert str(tmp_path) not in response.text
    assert not (tmp_path / "none.db").exists()


def test_sums_are_those_of_the_store(api: httpx2.Client, store: TraceStore):
    for by in ("model", "provider", "tag:team"):
        summary = read(api, "summary", since="all", by=by)
        rows = store.costs(by=[by], since=None)
        assert Decimal(summary["totals"]["known"]) == sum(row.costs.known for row in rows)
        assert Decimal(summary["totals"]["estimated"]) == sum(row.costs.estimated for row in rows)
        assert summary["totals"]["unknown"] == sum(row.costs.unknown for row in rows) > 0
        assert sum(sum(group["calls"]) for group in summary["groups"]) == summary["totals"]["calls"] == 122
        of_groups = sum(Decimal(group["known_total"]) for group in summary["groups"])
        assert of_groups == Decimal(summary["totals"]["known"])
    assert summary["tags"] == ["team"]
    assert [group["name"] for group in summary["groups"]] == summary_names(store)


def summary_names(store: TraceStore) -> list[str]:
    """The teams, and the tool run, which has none."""
    rows = sorted(store.costs(by=["tag:team"], since=None), key=lambda row: -row.costs.known)
    return [row.group["tag:team"] or "(without)" for row in rows]


def test_pages_of_calls_have_each_call_once(api: httpx2.Client, store: TraceStore):
    seen: list[str] = []
    more = True
    while more:
        page = read(api, "calls", since="all", skip=str(len(seen)))
        seen += [call["id"] for call in page["calls"]]
        more = page["has_more"]
    assert seen == [call.trace_id for call in store.calls(limit=1_000)]


@pytest.mark.parametrize(("order", "field"), [("dearest", "cost"), ("slowest", "seconds")])
def test_calls_are_ordered(api: httpx2.Client, order: str, field: str):
    calls = read(api, "calls", since="all", order=order)["calls"]
    values = [Decimal(str(call[field] or call["estimated_cost"] or 0)) for call in calls]
    assert values == sorted(values, reverse=True)


def test_calls_are_chosen_by_outcome_words_model_and_tag(api: httpx2.Client):
    def found(**parameters: str) -> list[Any]:
        return read(api, "calls", since="all", **parameters)["calls"]

    assert {call["outcome"] for call in found(failed="1")} == {"failed", "abandoned"}
    assert {call["model"] for call in found(model="gpt-5.4-mini")} == {"gpt-5.4-mini"}
    assert {call["tags"]["team"] for call in found(tag="team=support")} == {"support"}
    assert 0 < len(found(text="parcel")) < 50


@pytest.mark.parametrize(
    "query",
    [
        "since=2d",
        "since=x",
        "order=best",
        "skip=-1",
        "skip=1e9",
        "skip=99999999999",
        "until=nan",
        "tag=team",
        "text=%21",
        "model=%00",
        "tag=team=%00",
    ],
)
def test_invalid_parameters_are_refused(api: httpx2.Client, query: str):
    assert api.get(f"/calls?{query}").status_code == 400


@pytest.mark.parametrize("by", ["outcome", "tag:", "", "hour", "tag:\0"])
def test_invalid_groups_are_refused(api: httpx2.Client, by: str):
    assert api.get("/summary", params={"by": by}).status_code == 400


def test_trace_has_its_records_messages_and_attempts(api: httpx2.Client):
    trace = read(api, f"traces/{LOOP}")
    assert [(node["kind"], node["depth"]) for node in trace["nodes"]] == [
        ("interaction", 0),
        ("call", 1),
        ("tool", 1),
        ("call", 1),
    ]
    assert trace["known"] == "0.0201"
    loop, first, tool, _ = trace["nodes"]
    assert loop["scores"] == [{"name": "good", "value": 1.0, "comment": "checked by hand"}]
    assert [each["error"] for each in first["attempts"]] == ["ServerError: overloaded", None]
    assert first["decisions"][0]["source"] == "receipt.png"
    assert json.loads(tool["arguments"]) == {"from": "USD", "to": "EUR"}
    assert tool["parts"] == [{"type": "text", "text": "0.92"}]


def test_file_is_sent_by_its_hash_as_bytes_without_a_type(api: httpx2.Client):
    response = api.get(f"/traces/{LOOP}/files/{hashlib.sha256(PNG).hexdigest()}")
    assert response.content == PNG
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert api.get(f"/traces/{LOOP}/files/{'0' * 64}").status_code == 404
    assert api.get(f"/traces/{'f' * 32}").status_code == 404


@pytest.mark.parametrize("path", ["traces/{}", "traces/{}/files/{}"])
@pytest.mark.parametrize("hostile", PATHS_AS_IDS)
def test_ids_that_are_paths_are_not_found(api: httpx2.Client, path: str, hostile: str):
    quoted = "".join(f"%{byte:02x}" for byte in hostile.encode())
    for spelling in (quoted, quoted.replace("%2f", "/")):
        response = api.get(path.format(spelling, spelling))
        assert response.status_code in (400, 401, 404), spelling  # 401: clients resolve "..", which leaves the API


def test_new_calls_are_sent_as_they_are_stored(api: httpx2.Client, store: TraceStore):
    with api.stream("GET", "/live") as response:
        lines = response.iter_lines()
        assert next(lines) == ": follows"
        record = a_call(at=NOON + 60, tags={"team": "new"})
        write(store, record)
        sent = next(line for line in lines if line.startswith("data: "))
    assert json.loads(sent.removeprefix("data: "))["id"] == record.trace_id


def test_store_is_read_once_for_all_who_follow_new_calls(place: Path, store: TraceStore, monkeypatch: Any):
    read: list[Any] = []
    calls = TraceStore.calls

    def counted(self: TraceStore, **wanted: Any) -> Any:
        read.append(wanted)
        return calls(self, **wanted)

    async def follow() -> list[Any]:
        return await asyncio.gather(*(opened.latest_calls() for _ in range(50)))

    monkeypatch.setattr(TraceStore, "calls", counted)
    opened = OpenedTraces(place)
    found = asyncio.run(follow())
    assert len(read) == 1
    assert found == [store.calls(order="stored", limit=200)] * 50
    assert asyncio.run(follow()) == found  # in another event loop
    opened.close()


def head(path: str, key: str) -> RequestHead:
    return RequestHead("POST", path, "", {"authorization": f"Bearer {key}"})


async def admitted(access: OneTimeAccess, path: str, key: str) -> bool:
    try:
        await access.admit(head(path, key))
    except AuthenticationError:
        return False
    return True


def test_token_is_valid_once_and_for_nothing_else():
    async def run() -> list[bool]:
        access = OneTimeAccess()
        return [
            await admitted(access, "/dashboard/api/calls", access.token),
            await admitted(access, SESSION_PATH, "x" * 43),
            await admitted(access, SESSION_PATH, access.token),
            await admitted(access, SESSION_PATH, access.token),
        ]

    assert asyncio.run(run()) == [False, False, True, False]


@pytest.mark.parametrize("name", ["routes.py", "x%2Froutes.py", "uplot.LICENSE", "nothing.js"])
def test_only_files_of_the_page_are_served(http: httpx2.Client, name: str):
    assert http.get(f"/dashboard/files/{name}").status_code == 404


def test_page_may_load_nothing_from_elsewhere(http: httpx2.Client):
    for path in ("/dashboard", "/dashboard/files/page.js"):
        response = http.get(path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize("name", UPLOT)
def test_library_of_charts_is_the_one_that_was_published(name: str):
    content = (files("abstractcore_server.dashboard") / "page" / name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == UPLOT[name]
