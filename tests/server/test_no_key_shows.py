"""No key of a provider, and no key of a client, is in a response, a log or a record, whatever goes wrong."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import httpx2
import pytest

from abstractcore import CallRecord, to_json
from abstractcore.server import Settings
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


@pytest.fixture(scope="module")
def running() -> Generator[Served]:
    with serving(Settings(keys=(CLIENT_KEY,))) as served:
        yield served


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
    for key in (VENDOR_KEY, CLIENT_KEY):
        assert key not in seen
    assert served.vendor.url not in response.text
