"""Streams: as they come, with heartbeats between events, errors in the client's dialect, and clients that leave."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Generator, Iterator
from decimal import Decimal
from typing import Any

import httpx2
import openai
import pytest

from abstractcore import OverloadedError, StreamInterruptedError, Usage
from abstractcore.testing import ScriptedReply
from abstractcore_server import ModelSettings, ServerLimits, Settings
from tests.chaos_server import CUT, DONE, HANG, LAST_CHUNK, USAGE, chunk, delta, failure, stream_head, streamed
from tests.leftovers import wait_until
from tests.server.accounts import Accounts
from tests.server.serving import Served, provider_at, serving

QUICK = 0.05
MODEL = "openai-compatible/m"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "12345678"}], "stream": True}
PATHS = {
    "/v1/chat/completions": ASK,
    "/v1/completions": {"prompt": "12345678", "stream": True},
    "/v1/responses": {"input": "12345678", "stream": True},
    "/v1/messages": {**ASK, "max_tokens": 100},
    "/v1beta/models/{model}:streamGenerateContent?alt=sse": {"contents": [{"parts": [{"text": "12345678"}]}]},
    "/v1beta/models/{model}:streamGenerateContent": {"contents": [{"parts": [{"text": "12345678"}]}]},
    "/v2/chat": ASK,
    "/api/chat": ASK,
    "/api/generate": {"prompt": "12345678"},
}


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(accounts: Accounts) -> Generator[Served]:
    limits = ServerLimits(heartbeat_seconds=QUICK, drain_seconds=QUICK, drains=1)
    models = {name: ModelSettings((MODEL, "scripted")) for name in ("either", "either of two")}
    with serving(Settings(limits=limits, models=models), access=accounts) as served:
        yield served


@pytest.fixture(autouse=True)
def without_earlier_settlements(accounts: Accounts) -> None:
    accounts.clear()


def begun(http: httpx2.Client, path: str, model: str = MODEL) -> Any:
    """A stream that begins."""
    body = PATHS[path] if "{model}" in path else {**PATHS[path], "model": model}
    return http.stream("POST", path.replace("{model}", model), json=body)


def texts(data: bytes) -> list[str]:
    """The texts of an answer's chunks in OpenAI's format."""
    events = [line[6:] for line in data.decode().splitlines() if line.startswith("data: {")]
    deltas = (choice["delta"] for event in events for choice in json.loads(event)["choices"])
    return [delta["content"] for delta in deltas if delta.get("content")]


def test_each_chunk_is_sent_before_the_next_one_arrives(served: Served, http: httpx2.Client):
    gate = served.vendor.gate()
    first, last = chunk(delta("Bon")), chunk(delta(finish_reason="stop") + DONE)
    served.vendor.script(stream_head(), first, gate, chunk(delta("jour")), gate, last, LAST_CHUNK)
    with begun(http, "/v1/chat/completions") as response:
        pieces: Iterator[bytes] = response.iter_bytes()
        seen = b""
        while texts(seen) != ["Bon"]:
            seen += next(pieces)
        gate.open()
        while texts(seen) != ["Bon", "jour"]:
            seen += next(pieces)
        gate.open()
        assert (seen + b"".join(pieces)).endswith(b"data: [DONE]\n\n")


def test_a_chunk_of_the_vendor_is_one_chunk_for_the_client(served: Served, http: httpx2.Client):
    served.vendor.script(
        stream_head(), chunk(delta("a") + delta("b")), chunk(delta(finish_reason="stop") + DONE), LAST_CHUNK
    )
    with begun(http, "/v1/chat/completions") as response:
        pieces = [piece for piece in response.iter_raw() if b"data: {" in piece]
    assert any(texts(piece) == ["a", "b"] for piece in pieces)


@pytest.mark.parametrize("path", PATHS)
def test_a_quiet_stream_has_heartbeats_that_are_no_content(served: Served, http: httpx2.Client, path: str):
    gate = served.vendor.gate()
    last = chunk(delta("jour") + delta(finish_reason="stop") + DONE)
    served.vendor.script(stream_head(), gate, chunk(delta("Bon")), gate, last, LAST_CHUNK)
    with begun(http, path) as response:
        pieces = response.iter_raw()
        early = next(pieces)  # before the first event of the vendor
        gate.open()
        seen = early
        while b"Bon" not in seen:
            seen += next(pieces)
        late = next(pieces)
        gate.open()
        body = seen + late + b"".join(pieces)
    assert early
    assert b"jour" not in seen + late
    assert b"jour" in body
    assert body.count(b"Bon") == body.replace(early, b"").replace(late, b"").count(b"Bon")


def test_heartbeats_make_no_events_for_openai(served: Served):
    gate = served.vendor.gate()
    served.vendor.script(stream_head(), gate, chunk(delta("Bon") + delta(finish_reason="stop") + DONE), LAST_CHUNK)
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        raw = client.chat.completions.with_raw_response.create(
            model=MODEL, messages=[{"role": "user", "content": "hi"}], stream=True
        )  # the head comes with the first heartbeat
        gate.open()
        chunks = list(raw.parse())
    assert [text for each in chunks if (text := each.choices[0].delta.content)] == ["Bon"]
    assert all(each.object == "chat.completion.chunk" for each in chunks)


ERRORS = {
    "/v1/chat/completions": b'data: {"error":{"message":',
    "/v1/completions": b'data: {"error":{"message":',
    "/v1/responses": b'event: error\ndata: {"type":"error"',
    "/v1/messages": b'event: error\ndata: {"type":"error"',
    "/v1beta/models/{model}:streamGenerateContent?alt=sse": b'data: {"error":{"code":',
    "/v1beta/models/{model}:streamGenerateContent": b',\n{"error":{"code":',
    "/v2/chat": b'"finish_reason":"ERROR"',
    "/api/chat": b'{"error":',
    "/api/generate": b'{"error":',
}


@pytest.mark.parametrize("path", PATHS)
def test_error_in_a_stream_has_the_shape_of_the_client(served: Served, http: httpx2.Client, path: str):
    reply = ScriptedReply.chunks(["Bon", "jour"], then=StreamInterruptedError("the wire was cut"))
    served.script(reply)
    with begun(http, path, "scripted") as response:
        body = response.read()
    assert response.status_code == 200
    assert ERRORS[path] in body
    assert b"the wire was cut" in body
    assert b"Traceback" not in body
    assert b"[DONE]" not in body


@pytest.mark.parametrize("path", PATHS)
def test_error_before_a_stream_has_its_status(served: Served, http: httpx2.Client, path: str):
    served.script(OverloadedError("busy", retry_after=9))
    with begun(http, path, "scripted") as response:
        response.read()
    assert response.status_code in (503, 529)
    assert response.headers["retry-after"] == "9"
    assert response.headers["content-type"] == "application/json"


def test_stream_that_the_vendor_cuts_is_an_error_of_the_client(served: Served):
    served.vendor.script(stream_head(), chunk(delta("Bon")), CUT)
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        stream = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}], stream=True)
        with pytest.raises(openai.APIError, match="interrupted"):
            list(stream)


def closed(served: Served) -> None:
    """Waits until the connection of the last request to the vendor is closed; fails unless that is promptly."""
    left, connection = time.monotonic(), served.vendor.requests[-1].connection
    served.vendor.assert_closed_promptly(left, connection.number)


def test_a_stream_whose_vendor_leaves_the_body_open_ends_all_the_same(served: Served, http: httpx2.Client):
    served.vendor.script(stream_head(), chunk(delta("Bon") + delta(finish_reason="stop") + DONE), HANG)
    with begun(http, "/v1/chat/completions") as response:
        assert texts(response.read()) == ["Bon"]


def test_a_client_that_leaves_closes_the_connection_to_the_vendor(
    served: Served, http: httpx2.Client, accounts: Accounts
):
    served.vendor.script(stream_head(), chunk(delta("12345678")), HANG)
    with begun(http, "/v1/chat/completions") as response:
        pieces, seen = response.iter_raw(), b""
        while texts(seen) != ["12345678"]:
            seen += next(pieces)
    closed(served)
    settled = accounts.wait()
    assert settled.outcome == "cancelled"
    assert settled.estimated
    assert (settled.usage.input, settled.usage.output) == (10, 6)


def test_a_client_that_leaves_before_the_answer_closes_it_too(served: Served, accounts: Accounts):
    served.vendor.script(HANG)
    body = json.dumps({**ASK, "stream": False, "model": MODEL}).encode()
    host, port = served.url.removeprefix("http://").split(":")
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + body)
        served.vendor.wait_for_requests(1)
    closed(served)
    settled = accounts.wait()
    assert (settled.outcome, settled.estimated, settled.usage.input) == ("cancelled", True, 10)


def test_complete_calls_are_settled_as_reported(served: Served, http: httpx2.Client, accounts: Accounts):
    served.script(ScriptedReply.text("hello", usage=Usage(7, 3)))
    with begun(http, "/v1/chat/completions", "scripted") as response:
        response.read()
    settled = accounts.wait()
    assert (settled.outcome, settled.estimated, settled.cost) == ("done", False, Decimal(0))
    assert (settled.usage.input, settled.usage.output) == (7, 3)


def test_failed_calls_cost_nothing(served: Served, http: httpx2.Client, accounts: Accounts):
    served.script(OverloadedError("busy"))
    with begun(http, "/v1/chat/completions", "scripted") as response:
        response.read()
    settled = accounts.wait()
    assert (settled.outcome, settled.cost, settled.usage) == ("failed", Decimal(0), Usage(0, 0))


def test_the_next_model_of_a_group_answers_if_one_fails(served: Served, http: httpx2.Client):
    served.vendor.script(failure(503))
    served.script("hello")
    with begun(http, "/v1/chat/completions", "either") as response:
        assert texts(response.read()) == ["hello"]


def test_no_other_model_answers_once_a_stream_has_begun(served: Served, http: httpx2.Client):
    served.vendor.script(stream_head(), chunk(delta("Bon")), CUT)
    with begun(http, "/v1/chat/completions", "either of two") as response:
        body = response.read()
    assert texts(body.partition(b'data: {"error"')[0]) == ["Bon"]
    assert b'data: {"error"' in body


def test_usage_of_a_stream_is_sent_if_it_was_asked_for(served: Served, http: httpx2.Client):
    for options in ({"include_usage": True}, {}):
        served.vendor.script(streamed("Bon"))
        body = {**ASK, "model": MODEL, "stream_options": options}
        with http.stream("POST", "/v1/chat/completions", json=body) as response:
            data = response.read()
        assert (b'"total_tokens":5' in data.replace(b" ", b"")) is bool(options)


@pytest.fixture(scope="module")
def draining() -> Generator[tuple[Served, Accounts]]:
    accounts = Accounts()
    limits = ServerLimits(drain_seconds=30, drains=1)
    with serving(Settings(limits=limits), access=accounts) as served:
        drained = provider_at(served.vendor, "/v1", on_disconnect="drain")
        settings = served.application.state.settings
        served.application.reload(
            Settings(limits=limits, providers={**settings.providers, "openai-compatible": drained})
        )
        yield served, accounts


def test_a_call_may_go_on_without_its_client(draining: tuple[Served, Accounts]):
    served, accounts = draining
    gate = served.vendor.gate()
    last = chunk(delta("jour") + delta(finish_reason="stop") + USAGE + DONE)
    served.vendor.script(stream_head(), chunk(delta("Bon")), gate, last, LAST_CHUNK)
    with httpx2.Client(base_url=served.url, trust_env=False) as http, begun(http, "/v1/chat/completions") as response:
        assert next(response.iter_raw())
    wait_until(lambda: served.application.state.drains.running == 1)
    gate.open()
    settled = accounts.wait()
    assert (settled.outcome, settled.usage.input, settled.usage.output) == ("done", 3, 2)
    wait_until(lambda: served.application.state.drains.running == 0)
