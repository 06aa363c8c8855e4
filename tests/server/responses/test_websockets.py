"""`/v1/responses` over WebSocket, with the openai package and websockets as clients.

The format is that of the openai package's types `ResponsesClientEvent` and `ResponsesServerEvent`, and of
https://developers.openai.com/api/docs/guides/websocket-mode.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args
from unittest.mock import Mock

import httpx2
import openai
import pytest
import uvicorn
from openai.resources.responses.responses import ResponsesConnection
from openai.types.responses import ResponsesServerEvent
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from abstractcore import AuthenticationError, CallRecord, OverloadedError, RateLimitError, Usage
from abstractcore.concurrency import AsyncRuntime
from abstractcore.testing import ScriptedReply
from abstractcore_server import Grant, ServerLimits, ServerSettings, Settings, requests
from abstractcore_server.connections import limited_websockets
from abstractcore_server.records import ReceiptFolder
from abstractcore_server.responses.websockets import Socket
from tests.chaos_server import (
    CUT,
    DONE,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    chunk,
    completion,
    delta,
    failure,
    stream_head,
)
from tests.leftovers import wait_until
from tests.server.accounts import Accounts
from tests.server.serving import Served, provider_at, serving

# The openai package uses websockets in a way that its newest version advises against.
pytestmark = pytest.mark.filterwarnings("ignore:connect\\(\\) must be used:DeprecationWarning")

BODY_BYTES = 200_000
QUICK = 0.05
ASK: dict[str, Any] = {"type": "response.create", "model": "scripted", "input": "hi", "store": False}
COMPLETED = "response.completed"
EVENTS: dict[str, Any] = {
    get_args(each.model_fields["type"].annotation)[0]: each for each in get_args(get_args(ResponsesServerEvent)[0])
}
"""The types of events in the openai package."""


class Keyed(Accounts):
    """Lets those in who have a key that the test allows."""

    key: str | None = None
    error: Exception | None = None

    async def admit(self, request: Any) -> Grant:
        """Returns a grant; raises `AuthenticationError` for another key."""
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            raise AuthenticationError("this key is not valid here")
        return await super().admit(request)

    async def begin(self, grant: Grant, call: Any) -> Any:
        """Lets a call in, or raises the error of the test."""
        if self.error is not None:
            raise self.error
        return await super().begin(grant, call)

    def clear(self) -> None:
        """Allows everything."""
        super().clear()
        self.key = self.error = None


@pytest.fixture(scope="module")
def accounts() -> Keyed:
    return Keyed()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def running(accounts: Keyed, folder: Path) -> Iterator[Served]:
    server = ServerSettings(audit_log=str(folder / "audit.jsonl"), receipts=str(folder / "receipts"))
    with serving(Settings(server, ServerLimits(body_bytes=BODY_BYTES)), access=accounts) as served:
        yield served


@pytest.fixture(autouse=True)
def without_what_earlier_tests_allowed(accounts: Keyed) -> None:
    accounts.clear()


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@contextmanager
def connected(served: Served, headers: Mapping[str, str] | None = None) -> Generator[ClientConnection]:
    """A connection, by which compression is offered."""
    url = served.url.replace("http://", "ws://") + "/v1/responses"
    with connect(url, proxy=None, additional_headers=headers) as connection:
        yield connection


def received(connection: ClientConnection) -> dict[str, Any]:
    """The next event, which has a type of the openai package."""
    text: str = connection.recv(PATIENCE_SECONDS, decode=True)
    data = json.loads(text)
    if data["type"] != "keepalive":
        EVENTS[data["type"]].model_validate(data)
    return data


def asked(connection: ClientConnection, **fields: Any) -> list[dict[str, Any]]:
    """The events of a response."""
    connection.send(json.dumps({**ASK, **fields}))
    events = [received(connection)]
    while events[-1]["type"] not in (COMPLETED, "error"):
        events.append(received(connection))
    return events


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(each["delta"] for each in events if each["type"] == "response.output_text.delta")


def failed(connection: ClientConnection, **fields: Any) -> tuple[int, dict[str, Any]]:
    """The status and the error of a request that fails."""
    (event,) = asked(connection, **fields)
    assert event["type"] == "error"
    return event["status"], event["error"]


def texts(served: Served) -> list[str]:
    """The messages of the last call of the model."""
    return [each.text for each in served.calls[-1].messages]


def last_entry(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "audit.jsonl").read_text().splitlines()[-1])


def until_completed(connection: ResponsesConnection) -> list[Any]:
    """The events of a response, as the openai package reads them."""
    events: list[Any] = [connection.recv()]
    while events[-1].type != COMPLETED:
        events.append(connection.recv())
    return events


def test_openai_client_makes_one_response_after_the_other(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.", "You are Ada.")
    with client.responses.connect() as connection:
        connection.response.create(model="scripted", input="I am Ada.", store=False)
        first = until_completed(connection)
        response = first[-1].response
        assert (response.output_text, response.store) == ("Hello Ada.", False)
        connection.response.create(
            model="scripted", input="Who am I?", store=False, previous_response_id=response.id, stream_id="main"
        )
        second = until_completed(connection)
    assert texts(served) == ["I am Ada.", "Hello Ada.", "Who am I?"]
    assert second[-1].response.previous_response_id == response.id
    assert {each.stream_id for each in first} == {None}
    assert {each.stream_id for each in second} == {"main"}
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_async_openai_client_makes_responses(served: Served):
    served.script("Bonjour.")
    asyncio.run(makes_responses(served))


async def makes_responses(served: Served) -> None:
    async with (
        openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none") as client,
        client.responses.connect() as connection,
    ):
        await connection.response.create(model="nobody/model", input="hi")
        error = await connection.recv()
        assert error.type == "error"
        assert (error.status, error.error.code) == (404, "model_not_found")
        await connection.response.create(model="scripted", input="hi")
        events: list[Any] = []
        async for event in connection:
            events.append(event)
            if event.type == COMPLETED:
                break
        response = events[-1].response
        assert response.output_text == "Bonjour."
        assert (await client.responses.retrieve(response.id)).output_text == "Bonjour."


def test_events_are_those_of_a_stream_over_http(served: Served, client: openai.OpenAI):
    served.script(
        ScriptedReply.tool_call("weather", {"city": "Köln"}), ScriptedReply.tool_call("weather", {"city": "Köln"})
    )
    with connected(served) as connection:
        ours = asked(
            connection, input="The weather?", metadata={"a": "b"}, stream_options={"include_obfuscation": False}
        )
    with client.responses.create(
        model="scripted", input="The weather?", metadata={"a": "b"}, store=False, stream=True
    ) as stream:
        theirs = [each.to_dict() for each in stream]
    for events in (ours, theirs):
        for each in events:
            each.pop("response", {})
    assert ours == theirs


def test_response_is_continued_on_another_stream_of_the_connection(served: Served):
    served.script("one", "two", "three")
    with connected(served) as connection:
        first = asked(connection, input="1", stream_id="a")[-1]["response"]["id"]
        asked(connection, input="2", stream_id="b", previous_response_id=first)
        asked(connection, input="3", stream_id="a", previous_response_id=first)
        assert texts(served) == ["1", "one", "3"]
        status, error = failed(connection, previous_response_id=first)  # "a" has a newer one
        assert (status, error["code"], error["param"]) == (400, "previous_response_not_found", "previous_response_id")
    with connected(served) as other:
        assert failed(other, previous_response_id=first)[1]["code"] == "previous_response_not_found"


def test_stored_responses_and_conversations_are_continued(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.", "Ada.", "Ada!")
    stored = client.responses.create(model="scripted", input="I am Ada.")
    conversation = client.conversations.create()
    with connected(served) as connection:
        event = asked(connection, input="Who?", previous_response_id=stored.id, store=True)[-1]
        assert client.responses.retrieve(event["response"]["id"]).output_text == "Ada."
        asked(connection, input="And?", conversation=conversation.id)
    assert len(list(client.conversations.items.list(conversation.id))) == 2


def test_stored_response_that_continues_one_of_the_connection_is_continued_elsewhere(
    served: Served, client: openai.OpenAI
):
    served.script("Hello Ada.", "Ada.", "Ada!")
    with connected(served) as connection:
        first = asked(connection, input="I am Ada.")[-1]["response"]["id"]
        second = asked(connection, input="Who?", previous_response_id=first, store=True)[-1]["response"]["id"]
    client.responses.create(model="scripted", input="And?", previous_response_id=second)
    assert texts(served) == ["I am Ada.", "Hello Ada.", "Who?", "Ada.", "And?"]


def test_warm_up_generates_nothing_and_is_continued(served: Served):
    served.script("Hello.")
    with connected(served) as connection:
        events = asked(connection, input="I am Ada.", generate=False)
        assert [each["type"] for each in events] == ["response.created", "response.in_progress", COMPLETED]
        warm = events[-1]["response"]
        assert (warm["output"], warm["usage"]["total_tokens"]) == ([], 0)
        assert not served.calls
        assert text_of(asked(connection, input=[], previous_response_id=warm["id"], generate=True)) == "Hello."
    assert texts(served) == ["I am Ada."]


def test_warm_up_of_a_wrong_request_is_refused(served: Served):
    with connected(served) as connection:
        wrong: list[Any] = [{"role": "user", "content": [{"type": "nonsense"}]}]
        status, error = failed(connection, input=wrong, generate=False)
        assert (status, error["param"]) == (400, "input[0].content[0].type")
        assert failed(connection, max_output_tokens="x", generate=False)[1]["param"] == "max_output_tokens"


def test_requests_wait_for_each_other(served: Served):
    served.script("one", "two", "three")
    with connected(served) as connection:
        for number in ("1", "2", "3"):
            connection.send(json.dumps({**ASK, "input": number}))
        events: list[dict[str, Any]] = []
        while sum(each["type"] == COMPLETED for each in events) < 3:
            events.append(received(connection))
    assert text_of(events) == "onetwothree"


def test_streams_do_not_wait_for_each_other(served: Served):
    """Requests with one `stream_id` are first in, first out; others are parallel, and may continue what another one has
    made: https://developers.openai.com/api/docs/guides/websocket-mode, and `ResponseCreate.stream_id` of the openai
    package.
    """
    vendor = {**ASK, "model": "openai-compatible/m"}
    gate = served.vendor.gate()
    served.vendor.script(gate, completion("one"))
    with connected(served) as connection:
        connection.send(json.dumps({**vendor, "input": "1", "stream_id": "a"}))
        connection.send(json.dumps({**vendor, "input": "2", "stream_id": "a"}))
        served.vendor.wait_for_requests(1)
        served.script("three", "four")
        third = asked(connection, input="3", stream_id="b")
        assert {each["stream_id"] for each in third} == {"b"}
        fork = asked(connection, input="4", previous_response_id=third[-1]["response"]["id"])
        assert text_of(fork) == "four"
        assert texts(served) == ["3", "three", "4"]
        assert len(served.vendor.requests) == 1  # the second one of its stream waits

        served.vendor.script(completion("two"))
        gate.open()
        events = [received(connection)]
        while sum(each["type"] == COMPLETED for each in events) < 2:
            events.append(received(connection))
    assert {each["stream_id"] for each in events} == {"a"}
    assert text_of(events) == "onetwo"
    sent = [json.loads(request.body)["messages"][-1]["content"] for request in served.vendor.requests]
    assert sent == ["1", "2"]


def test_connection_ends_after_the_responses_of_all_its_streams():
    """What waits behind them is not begun any more."""
    sent: list[Any] = []

    async def answer(scope: Mapping[str, Any], connection: requests.ClientConnection) -> None:
        begun.append(json.loads((await connection.receive())["body"])["input"])
        if len(begun) == 2:
            sockets[0].end(stopping)
            both.set()
        await both.wait()
        await connection.write(b'data: {"type":"response.completed"}\n\n', more=False)

    async def receive() -> Any:
        return messages.pop(0) if messages else await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    async def serve() -> None:
        sockets.append(Socket({"headers": []}, receive, send, ServerLimits(), AsyncRuntime(), answer))
        await sockets[0].serve()

    both = asyncio.Event()
    stopping: Any = SimpleNamespace(code=1001, reason="", error=None)
    sockets: list[Socket] = []
    begun: list[str] = []
    asks = ({**ASK, "input": number, "stream_id": stream} for number, stream in (("1", "a"), ("2", "b"), ("3", "a")))
    messages = [{"type": "websocket.receive", "text": json.dumps(each)} for each in asks]
    asyncio.run(serve())
    *completed, close = sent
    assert begun == ["1", "2"]
    assert {json.loads(each["text"])["stream_id"] for each in completed} == {"a", "b"}
    assert (close["type"], close["code"]) == ("websocket.close", 1001)


GARBAGE: dict[str, tuple[str | bytes, str]] = {
    "binary": (b'{"type":"response.create"}', "binary"),
    "no JSON": ("{", "not JSON"),
    "list": ("[]", "a JSON object"),
    "empty": ("", "not JSON"),
    "deep": ("[" * 10_000, "not JSON"),
    "surrogate": ('{"type":"\\ud800"}', "not JSON"),
    "no type": ("{}", "expected 'response.create', got 'None'"),
    "unknown type": ('{"type":"session.update"}', "session.update"),
    "steering": ('{"type":"response.steer","previous_response_id":"r","input":"x"}', "response.steer"),
    "model": ('{"type":"response.create","model":7,"input":"hi"}', "model"),
    "no input": ('{"type":"response.create","model":"scripted"}', "input"),
    "input": ('{"type":"response.create","model":"scripted","input":[7]}', "expected an object"),
    "background": ('{"type":"response.create","model":"scripted","input":"hi","background":true}', "background"),
    "generate": ('{"type":"response.create","model":"scripted","input":"hi","generate":1}', "true or false"),
    "stream_id": ('{"type":"response.create","model":"scripted","input":"hi","stream_id":"a b"}', "stream_id"),
    "NaN": ('{"type":"response.create","model":"scripted","input":"hi","temperature":NaN}', "not JSON"),
}


@pytest.fixture(scope="module")
def open_connection(running: Served) -> Iterator[ClientConnection]:
    """A connection that several tests use: it stays usable after each error."""
    with connected(running) as connection:
        yield connection


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_an_error_and_the_connection_stays_usable(
    served: Served, open_connection: ClientConnection, name: str, folder: Path
):
    message, words = GARBAGE[name]
    open_connection.send(message)
    event = received(open_connection)
    assert (event["type"], event["status"]) == ("error", 400), event
    assert words in event["error"]["message"]
    assert event["error"]["headers"]["x-request-id"] == last_entry(folder)["trace_id"]
    served.script("fine")
    assert text_of(asked(open_connection)) == "fine"


def test_number_of_streams_is_limited(served: Served):
    with connected(served) as connection:
        for number in range(32):
            asked(connection, stream_id=f"s{number}", generate=False)
        assert failed(connection, stream_id="more")[1]["code"] == "websocket_stream_limit_reached"
        assert asked(connection, stream_id="s0", generate=False)[-1]["stream_id"] == "s0"
        # One stream too many waits behind the messages without a stream.
        served.vendor.script(HANG)
        connection.send(json.dumps({**ASK, "model": "openai-compatible/m"}))
        served.vendor.wait_for_requests(1)
        for number in range(17):
            connection.send(json.dumps({**ASK, "stream_id": f"more{number}"}))
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(PATIENCE_SECONDS)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_broken_text_closes_its_connection_and_is_not_logged(served: Served, caplog: pytest.LogCaptureFixture):
    with connected(served) as connection:
        connection.socket.sendall(b"\x81\x81\0\0\0\0\xff")  # a text message that is not UTF-8
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(PATIENCE_SECONDS)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1007
    assert "UTF-8" not in caplog.text


def test_large_message_closes_its_connection(served: Served):
    with connected(served) as connection, pytest.raises(ConnectionClosed) as closed:
        fragments = ["x" * (BODY_BYTES // 2 + 1)] * 100  # two are enough: the others arrive after the connection closes
        connection.send(iter(fragments))
        connection.recv(PATIENCE_SECONDS)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_compression_is_not_negotiated(served: Served):
    with connected(served) as connection:
        assert connection.response is not None
        assert "sec-websocket-extensions" not in connection.response.headers


def test_many_waiting_messages_close_their_connection(served: Served):
    served.vendor.script(HANG)
    with connected(served) as connection:
        connection.send(json.dumps({**ASK, "model": "openai-compatible/m"}))
        served.vendor.wait_for_requests(1)
        for _ in range(17):
            connection.send(json.dumps(ASK))
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(PATIENCE_SECONDS)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


HANDSHAKES: dict[str, tuple[str, dict[str, str], int]] = {
    "no key": ("/v1/responses", {}, 401),
    "a wrong key": ("/v1/responses", {"Authorization": "Bearer wrong"}, 401),
    "a key in the URL": ("/v1/responses?api_key=right", {"Authorization": "Bearer right"}, 401),
    "another path": ("/v1/realtime", {"Authorization": "Bearer right"}, 404),
    "a path without GET": ("/v1/chat/completions", {"Authorization": "Bearer right"}, 405),
    "another host": ("/v1/responses", {"Authorization": "Bearer right", "Host": "evil.example"}, 403),
    "another origin": ("/v1/responses", {"Authorization": "Bearer right", "Origin": "https://evil.example"}, 403),
    "a hidden origin": ("/v1/responses", {"Authorization": "Bearer right", "Origin": "null"}, 403),
}


@pytest.mark.parametrize("name", HANDSHAKES)
def test_handshake_is_refused_with_a_status(
    served: Served, accounts: Keyed, name: str, folder: Path, caplog: pytest.LogCaptureFixture
):
    accounts.key = "right"
    caplog.set_level(logging.DEBUG)
    path, headers, status = HANDSHAKES[name]
    with pytest.raises(InvalidStatus) as refused, raw_handshake(served, path, headers):
        pass
    response = refused.value.response
    assert response.status_code == status
    assert json.loads(response.body)["error"]["message"]
    assert response.headers["x-request-id"] == last_entry(folder)["trace_id"]
    logged = [each.getMessage() for each in caplog.records if each.threadName == "server"]
    assert not [each for each in logged if "api_key" in each or "Bearer" in each or "ASGI" in each]


@contextmanager
def raw_handshake(served: Served, path: str, headers: dict[str, str]) -> Generator[ClientConnection]:
    """A handshake in which `Host` is that of the test."""
    host, port = served.url.removeprefix("http://").split(":")
    url = f"ws://{headers.get('Host', f'{host}:{port}')}{path}"
    more = {name: value for name, value in headers.items() if name != "Host"}
    with (
        socket.create_connection((host, int(port))) as stream,
        connect(url, sock=stream, additional_headers=more) as connection,
    ):
        yield connection


def test_pages_of_the_server_itself_may_connect(served: Served):
    with connected(served, {"Origin": served.url}) as connection:
        served.script("hello")
        assert text_of(asked(connection)) == "hello"


def test_get_without_a_handshake_is_refused(served: Served, http: httpx2.Client):
    response = http.get("/v1/responses")
    assert (response.status_code, response.headers["upgrade"]) == (426, "websocket")
    broken = http.get("/v1/responses", headers={"connection": "upgrade", "upgrade": "websocket"})
    assert broken.status_code == 426


def test_key_that_is_revoked_between_turns_is_refused(served: Served, accounts: Keyed):
    accounts.key = "right"
    served.script("hello")
    with connected(served, {"Authorization": "Bearer right"}) as connection:
        assert text_of(asked(connection)) == "hello"
        accounts.key = "another"
        assert failed(connection)[0] == 401
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(PATIENCE_SECONDS)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_key_that_a_provider_refuses_is_not_that_of_the_client(served: Served):
    served.vendor.script(failure(401, "no such key"))
    with connected(served) as connection:
        failed(connection, model="openai-compatible/m")
        served.script("hello")
        assert text_of(asked(connection)) == "hello"


def test_limits_of_keys_hold_for_each_response(served: Served, accounts: Keyed):
    accounts.error = RateLimitError("this key's limit of requests per minute is reached: 1", retry_after=7)
    with connected(served) as connection:
        connection.send(json.dumps({**ASK, "stream_id": "a"}))
        event = received(connection)
        assert (event["status"], event["stream_id"]) == (429, "a")
        assert event["headers"]["retry-after"] == event["error"]["headers"]["retry-after"] == "7"
        accounts.error = None
        accounts.grant = Grant(models=("other/*",))
        assert failed(connection)[0] == 403


def test_response_is_counted_recorded_and_audited(served: Served, accounts: Keyed, folder: Path, http: httpx2.Client):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    accounts.grant = Grant("alice", tags={"team": "search"})
    records: list[CallRecord] = []
    with served.application.state.services.records.subscribe(records.append, "full") as subscription:
        with connected(served) as connection:
            opened = last_entry(folder)
            asked(connection)
            entry = last_entry(folder)
        subscription.flush()
    assert (opened["method"], opened["route"], opened["status"], opened["calls"]) == ("GET", "/v1/responses", 101, 0)
    assert (entry["method"], entry["route"], entry["status"], entry["key"]) == ("POST", "/v1/responses", 200, "alice")
    assert (entry["calls"], entry["input_tokens"], entry["output_tokens"]) == (1, 7, 3)
    (record,) = records
    assert (record.trace_id, record.tags) == (entry["trace_id"], {"team": "search"})
    settled = accounts.wait()
    assert (settled.outcome, settled.usage, settled.cost) == ("done", Usage(7, 3), Decimal(0))
    counts = http.get("/metrics").text
    assert 'abstractcore_requests_total{route="/v1/responses",status="200"}' in counts
    assert 'abstractcore_requests_total{route="/v1/responses",status="101"}' in counts


VENDOR_EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"id": "resp_v", "output": [], "status": "in_progress"}},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {"id": "msg_v", "type": "message", "role": "assistant", "content": []},
    },
    {"type": "response.output_text.delta", "item_id": "msg_v", "output_index": 0, "content_index": 0, "delta": "Hi"},
    {
        "type": "response.completed",
        "new": [1, 2.50],
        "response": {
            "id": "resp_v",
            "status": "completed",
            "model": "gpt-5.4",
            "output": [
                {
                    "id": "msg_v",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
                }
            ],
            "usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
        },
    },
]


def vendor_stream() -> list[bytes]:
    """A stream of OpenAI's API."""
    events = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in VENDOR_EVENTS)
    return [stream_head(), chunk(b"".join(events)), LAST_CHUNK]


def test_bytes_of_the_same_api_go_through(served: Served, folder: Path):
    served.vendor.script(*vendor_stream())
    served.vendor.script(*vendor_stream())
    own: dict[str, Any] = {
        "model": "openai-responses/gpt-5.4",
        "input": [{"role": "user", "content": "hi"}],
        "include": ["reasoning.encrypted_content"],  # as Codex asks
    }
    with connected(served) as connection:
        connection.send(json.dumps({**ASK, **own, "new_field": [1e2]}))
        got: list[str] = [connection.recv(PATIENCE_SECONDS, decode=True) for _ in VENDOR_EVENTS]
        own_name, name = '"model": "gpt-5.4"', '"model": "openai-responses/gpt-5.4"'
        assert got == [json.dumps(each).replace(own_name, name) for each in VENDOR_EVENTS]
        sent = json.loads(served.vendor.requests[-1].body)
        assert sent == {**own, "model": "gpt-5.4", "store": False, "new_field": [100.0], "stream": True}
        wait_until(lambda: last_entry(folder)["calls"] == 1)
        entry = last_entry(folder)
        assert entry["receipt"]["calls"][0]["changed"] == ["model"]
        # Continued from what the connection has kept: the vendor has stored nothing.
        asked(connection, **{**own, "input": "more"}, previous_response_id="resp_v")
        continued = json.loads(served.vendor.requests[-1].body)
        assert [each["role"] for each in continued["input"]] == ["user", "assistant", "user"]
        assert "previous_response_id" not in continued
    receipts = ReceiptFolder(folder / "receipts")
    wait_until(lambda: (folder / "receipts" / entry["trace_id"] / "receipt.json").exists())
    reply = "".join(f"{each}\n" for each in got).encode()
    assert all(each.agrees for each in receipts.verify(entry["trace_id"], reply=reply))


def test_error_in_a_stream_has_a_status(served: Served):
    gate = served.vendor.gate()
    served.vendor.script(stream_head(), chunk(delta("Bon")), gate, CUT)
    with connected(served) as connection:
        connection.send(json.dumps({**ASK, "model": "openai-compatible/m"}))
        while received(connection)["type"] != "response.output_text.delta":
            pass
        gate.open()
        while (event := received(connection))["type"] != "error":
            pass
        assert event["status"] >= 500
        served.script(OverloadedError("busy"))
        assert failed(connection)[0] == 503


def test_client_that_leaves_cancels_its_response(served: Served, accounts: Keyed):
    served.vendor.script(stream_head(), chunk(delta("12345678")), HANG)
    with connected(served) as connection:
        connection.send(json.dumps({**ASK, "model": "openai-compatible/m", "input": "12345678"}))
        while received(connection)["type"] != "response.output_text.delta":
            pass
        connection.socket.shutdown(socket.SHUT_WR)  # without a close frame
        settled = accounts.wait()
    assert (settled.outcome, settled.estimated) == ("cancelled", True)
    assert (settled.usage.input, settled.usage.output) == (10, 6)


@contextmanager
def limited(**limits: Any) -> Generator[Served]:
    with serving(Settings(limits=ServerLimits(**limits))) as served:
        yield served


def test_connections_are_limited_in_number(served: Served):
    with limited(websockets=1) as served, connected(served) as idle, connected(served) as busy:
        with pytest.raises(ConnectionClosed) as closed:
            idle.recv(PATIENCE_SECONDS)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013
        served.vendor.script(HANG)
        busy.send(json.dumps({**ASK, "model": "openai-compatible/m"}))
        served.vendor.wait_for_requests(1)
        with pytest.raises(InvalidStatus) as refused, connected(served):
            pass
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["retry-after"] == "1"
        assert json.loads(refused.value.response.body)["error"]["code"] == "rate_limit_exceeded"


def test_slow_message_ends_its_connection():
    with limited(body_seconds=QUICK) as served, connected(served) as connection:
        connection.socket.sendall(b"\x81\xfe\x40\x00maskdata")  # four bytes of a text message of 16 kB
        with pytest.raises(ConnectionClosed):
            connection.recv(PATIENCE_SECONDS)


class Timers:
    """An event loop that keeps the timers for messages."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.found: list[asyncio.TimerHandle] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def call_later(self, seconds: float, work: Any, *arguments: Any) -> asyncio.TimerHandle:
        timer = self._loop.call_later(seconds, work, *arguments)
        if seconds == PATIENCE_SECONDS:
            self.found.append(timer)
        return timer


def test_each_message_has_its_own_time():
    """The data that ends a message begins the next one."""

    async def accept(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        is_open.set()
        await asyncio.Future()

    async def timers_of_messages() -> list[bool]:
        timers, transport = Timers(), Mock()
        transport.is_closing.return_value = False
        transport.get_extra_info.return_value = None
        config = uvicorn.Config(accept, log_config=None)
        config.load()
        protocol: Any = limited_websockets(
            ServerLimits(head_seconds=2 * PATIENCE_SECONDS, body_seconds=PATIENCE_SECONDS)
        )
        protocol = protocol(config, ServerState(), {}, timers)
        protocol.connection_made(transport)
        protocol.data_received(
            b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        await is_open.wait()
        message = b"\x81\x82\0\0\0\0{}"
        protocol.data_received(message[:4])
        protocol.data_received(message[4:] + message[:4])
        return [timer.cancelled() for timer in timers.found]

    is_open = asyncio.Event()
    assert asyncio.run(timers_of_messages()) == [True, False]


def test_old_connection_ends_after_its_response():
    sent: list[Any] = []

    async def answer(scope: Mapping[str, Any], connection: requests.ClientConnection) -> None:
        await is_old.wait()
        await connection.write(b'data: {"type":"response.completed"}\n\n', more=False)

    async def receive() -> Any:
        return messages.pop() if messages else await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    class Ageing(Socket):
        def end(self, end: Any) -> None:
            super().end(end)
            is_old.set()

    async def serve() -> None:
        await Ageing(
            {"headers": []}, receive, send, ServerLimits(websocket_seconds=QUICK), AsyncRuntime(), answer
        ).serve()

    is_old = asyncio.Event()
    messages = [{"type": "websocket.receive", "text": json.dumps(ASK)}]
    asyncio.run(serve())
    completed, error, close = sent
    assert json.loads(completed["text"]) == {"type": COMPLETED}
    assert json.loads(error["text"])["error"]["code"] == "websocket_connection_limit_reached"
    assert (close["type"], close["code"]) == ("websocket.close", 1000)


def test_call_goes_on_without_its_client_if_the_provider_says_so():
    accounts = Accounts()
    with serving(access=accounts) as served:
        at_vendor = provider_at(served.vendor, "/v1", on_disconnect="drain")
        state = served.application.state
        providers = {**state.settings.providers, "openai-compatible": at_vendor}
        served.application.reload(replace(state.settings, providers=providers))
        gate = served.vendor.gate()
        served.vendor.script(stream_head(), chunk(delta("Bon")), gate, chunk(delta("jour", "stop") + DONE), LAST_CHUNK)
        with connected(served) as connection:
            connection.send(json.dumps({**ASK, "model": "openai-compatible/m"}))
            while received(connection)["type"] != "response.output_text.delta":
                pass
        wait_until(lambda: served.application.state.drains.running == 1)
        gate.open()
        assert accounts.wait().outcome == "done"
