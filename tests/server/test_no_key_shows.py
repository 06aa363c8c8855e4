"""No key, of a provider or a client, is in a response, a log, a record, the counts, the audit log or a receipt,
whatever goes wrong.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from abstractcore import CallRecord, to_json
from abstractcore_server import ServerSettings, Settings
from tests.chaos_server import CUT, Step, answer, chunk, delta, event, failure, stream_head
from tests.server.serving import VENDOR_KEY, Served, serving

CLIENT_KEY = "client-key-0123456789"
ECHO = f"Incorrect API key provided: {VENDOR_KEY}"
FAILURES: dict[str, tuple[Step, ...]] = {
    "401": (failure(401, ECHO),),
    "400": (failure(400, ECHO),),
    "429": (failure(429, ECHO),),
    "500": (answer(f"<html>{ECHO}</html>", 500),),
    "not JSON": (answer(ECHO),),
    "no reply": (answer({"debug": ECHO}),),
    "cut": (CUT,),
    "error in a stream": (stream_head(), chunk(delta("a")), chunk(event({"error": {"message": ECHO}})), CUT),
    "broken event": (stream_head(), chunk(delta("a")), chunk(b"data: {" + ECHO.encode() + b"\n\n"), CUT),
}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "hi"}]},
    "/v1/messages": {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9},
    "/v1/responses": {"input": "hi"},
    "/v2/chat": {"messages": [{"role": "user", "content": "hi"}]},
    "/api/chat": {"messages": [{"role": "user", "content": "hi"}]},
}


PROVIDERS = ("anthropic", "cohere", "google", "ollama", "openai", "openai-compatible", "openai-responses")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server writes."""
    return tmp_path_factory.mktemp("written")


@pytest.fixture(scope="module")
def running(folder: Path) -> Generator[Served]:
    server = ServerSettings(audit_log=str(folder / "audit.jsonl"), receipts=str(folder / "receipts"))
    with serving(Settings(server, keys=(CLIENT_KEY,))) as served:
        yield served


def shows_no_key(seen: str) -> None:
    assert VENDOR_KEY not in seen
    assert CLIENT_KEY not in seen


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("name", FAILURES)
def test_failures_show_no_key(
    served: Served, http: httpx2.Client, caplog: pytest.LogCaptureFixture, name: str, path: str
):
    records: list[CallRecord] = []
    served.vendor.script(*FAILURES[name])
    body = {**BODIES[path], "model": "openai-compatible/m", "stream": "stream" in name or "event" in name}
    with served.application.state.services.records.subscribe(records.append, "full") as subscription:
        response = http.post(path, json=body, headers={"authorization": f"Bearer {CLIENT_KEY}"})
        subscription.flush()
    seen = f"{response.text} {response.headers} {caplog.text} {' '.join(map(to_json, records))}"
    assert records
    shows_no_key(seen)
    assert served.vendor.url not in response.text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_failures_of_each_provider_show_no_key_anywhere(
    served: Served, http: httpx2.Client, caplog: pytest.LogCaptureFixture, folder: Path, provider: str
):
    def crash(record: CallRecord) -> None:
        raise RuntimeError(f"{VENDOR_KEY} in {record}")

    headers = {"x-api-key": CLIENT_KEY}
    seen: list[str] = []
    with served.application.state.services.records.subscribe(crash) as subscription:
        for name in ("401", "400", "429", "500", "not JSON", "no reply", "cut"):
            for path, body in BODIES.items():
                served.vendor.script(*FAILURES[name])
                response = http.post(path, json={**body, "model": f"{provider}/m", "stream": False}, headers=headers)
                assert response.status_code >= 400, name
                seen += [response.text, str(response.headers)]
        if provider.startswith("openai"):
            served.vendor.script(*FAILURES["401"])
            moderated = {"input": "hi", "model": f"{provider}/m"}
            seen.append(http.post("/v1/moderations", json=moderated, headers=headers).text)
        subscription.flush()
    seen += [http.get("/metrics", headers=headers).text, *(record.getMessage() for record in caplog.records)]
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert folder / "audit.jsonl" in written
    seen += [path.read_bytes().decode("latin-1") for path in written]
    shows_no_key(" ".join(seen))
