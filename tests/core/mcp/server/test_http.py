"""`abstractcore mcp serve --http`: keys, addresses, and clients that misbehave."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from typer.testing import CliRunner

from abstractcore.mcp.server import MCPAccess, listening_socket, url_of
from abstractcore_cli.app import app
from tests.core.mcp.server.served import MODERN, NO_MODEL, PATIENCE_SECONDS, Served, call, request, serving_http

pytestmark = pytest.mark.process

TOOLS = (*NO_MODEL, "--tool", "served_tools")
KEY, OTHER_KEY = "the-key-of-the-server", "another-key-of-the-server"
SECRETS = {"SHOP_API_KEY": "sk-of-the-shop-123", "ABSTRACTCORE_SERVER_KEY": KEY, "OTHER": OTHER_KEY}
KEYS = ("--key-env", "ABSTRACTCORE_SERVER_KEY", "--key-env", "OTHER")
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Served, str]]:
    """A server with two keys."""
    with serving_http(*TOOLS, *KEYS, **SECRETS) as (served, url):
        yield served, url
        served.interrupt()
        assert served.process.wait(PATIENCE_SECONDS) in (130, -signal.SIGINT)
    assert "Traceback" not in served.stderr
    assert not any(secret in served.stderr for secret in SECRETS.values())


def headers(method: str, name: str | None = None, **others: str) -> dict[str, str]:
    """The headers of a request of the revision without sessions."""
    named = {} if name is None else {"Mcp-Name": name}
    return {**HEADERS, "MCP-Protocol-Version": MODERN, "Mcp-Method": method, **named, **others}


def post(url: str, body: bytes, sent: dict[str, str], path: str = "/mcp") -> tuple[int, dict[str, str], bytes]:
    """Sends a request as it is; `Host` may be among the headers."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_SECONDS)
    try:
        connection.request("POST", path, body, sent)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


LISTING = json.dumps(request(1, "tools/list")).encode()


@pytest.mark.smoke
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_sdk_clients_with_keys_call_tools_at_once(served: tuple[Served, str], mode: Any):
    async def use(key: str, city: str) -> Any:
        sent = {"Authorization": f"Bearer {key}"}
        reported: list[float] = []

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            reported.append(done)

        async with (
            httpx2.AsyncClient(headers=sent, timeout=PATIENCE_SECONDS) as http,
            Client(streamable_http_client(served[1], http_client=http), mode=mode) as client,
        ):
            await client.call_tool("count", {"to": 50}, progress_callback=on_progress)
            assert reported[-1] == 49
            return (await client.call_tool("weather", {"city": city})).structured_content

    async def both() -> Any:
        return await asyncio.gather(use(KEY, "Oslo"), use(OTHER_KEY, "Lima"))

    assert [each["city"] for each in asyncio.run(both())] == ["Oslo", "Lima"]


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {KEY}x",
        f"Bearer {KEY[:-1]}",
        f"Basic {KEY}",
        KEY,
        f"Bearer {KEY} {KEY}",
        "Bearer " + "x" * 30_000,
        "Bearer \xe9",
    ],
)
def test_request_without_a_valid_key_is_refused(served: tuple[Served, str], authorization: str | None):
    given = {} if authorization is None else {"Authorization": authorization}
    status, received, body = post(served[1], LISTING, headers("tools/list", **given))
    assert (status, received["www-authenticate"]) == (401, 'Bearer error="invalid_token"')
    assert b"tools" not in body


def test_request_with_two_keys_is_refused(served: tuple[Served, str]):
    connection = http.client.HTTPConnection(urlsplit(served[1]).netloc, timeout=PATIENCE_SECONDS)
    connection.putrequest("POST", "/mcp")
    for name, value in [*headers("tools/list").items(), *[("Authorization", f"Bearer {each}") for each in (KEY, "x")]]:
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(LISTING)))
    connection.endheaders(LISTING)
    assert connection.getresponse().status == 401
    connection.close()


def test_session_belongs_to_the_key_that_opened_it(served: tuple[Served, str]):
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}).encode()
    status, received, _ = post(served[1], body, {**HEADERS, "Authorization": f"Bearer {KEY}"})
    assert status == 200
    session = {**HEADERS, "Mcp-Session-Id": received["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    assert post(served[1], ping, {**session, "Authorization": f"Bearer {KEY}"})[0] == 200
    assert post(served[1], ping, {**session, "Authorization": f"Bearer {OTHER_KEY}"})[0] == 404
    assert post(served[1], ping, session)[0] == 401


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"Host": "evil.example.com"}, 421),
        ({"Host": "localhost.evil.example.com"}, 421),
        ({"Host": "127.0.0.1.evil.example.com:80"}, 421),
        ({"Origin": "http://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example.com"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "localhost"}, 200),
    ],
)
def test_host_and_origin_are_checked(served: tuple[Served, str], given: dict[str, str], status: int):
    sent = headers("tools/list", Authorization=f"Bearer {KEY}", **given)
    assert post(served[1], LISTING, sent)[0] == status


def test_large_request_is_refused_before_it_is_read(served: tuple[Served, str]):
    """Only the headers are sent: the answer does not wait for 100 MB."""
    sent = {**headers("tools/list"), "Authorization": f"Bearer {KEY}", "Content-Length": str(100 * 1024 * 1024)}
    assert post(served[1], b"", sent)[0] == 413


def test_large_request_in_chunks_is_refused(served: tuple[Served, str]):
    connection = http.client.HTTPConnection(urlsplit(served[1]).netloc, timeout=PATIENCE_SECONDS)
    connection.putrequest("POST", "/mcp")
    for name, value in {**headers("tools/list"), "Authorization": f"Bearer {KEY}"}.items():
        connection.putheader(name, value)
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    piece = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
    try:
        for _ in range(40):
            connection.send(piece)
    except OSError:  # the server has answered and closed
        connection.close()
        return
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"garbage", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "no/such/method", "params": {}}', 400),
        (b'{"a":' * 5_000, 400),
        (b"[" + LISTING + b"]", 400),
        (b'{"id": 1' + b"0" * 10_000 + b"}", 400),
    ],
)
@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_garbage_is_refused(served: tuple[Served, str], body: bytes, status: int, era: str):
    sent = headers("tools/list") if era == "modern" else HEADERS
    assert post(served[1], body, {**sent, "Authorization": f"Bearer {KEY}"})[0] == status


def test_other_paths_and_methods_do_not_exist(served: tuple[Served, str]):
    given = {"Authorization": f"Bearer {KEY}"}
    for path in ("/", "/mcp/../secret", "/mcp/x", "//mcp", "/docs", "/openapi.json"):
        assert post(served[1], LISTING, headers("tools/list", **given), path)[0] == 404
    with httpx2.Client(headers=given, timeout=PATIENCE_SECONDS) as client:
        for method in ("PUT", "PATCH", "TRACE", "OPTIONS"):
            assert client.request(method, served[1]).status_code in (404, 405, 406)


def test_closed_connection_cancels_the_tool(served: tuple[Served, str]):
    made = call(1, "wait", token="t")
    sent = headers("tools/call", "wait", Authorization=f"Bearer {KEY}")
    with (
        httpx2.Client(timeout=PATIENCE_SECONDS) as client,
        client.stream("POST", served[1], json=made, headers=sent) as answer,
    ):
        first = next(line for line in answer.iter_lines() if line.startswith("data:"))
        assert json.loads(first[5:])["params"]["message"] == "waiting"
    served[0].error_line("^cancelled$")


def test_credentials_are_removed_from_answers(served: tuple[Served, str]):
    sent = headers("tools/call", "leak", Authorization=f"Bearer {KEY}")
    status, _, body = post(served[1], json.dumps(call(1, "leak", token="t")).encode(), sent)
    assert status == 200
    assert b"[scrubbed]" in body
    assert not any(secret.encode() in body for secret in SECRETS.values())


def test_server_without_a_key_serves_this_machine_only():
    with serving_http(*TOOLS) as (served, url):
        assert post(url, LISTING, headers("tools/list"))[0] == 200
        assert post(url, LISTING, headers("tools/list", Host="rebound.example.com"))[0] == 421
        assert "every program on this machine" in served.stderr
        # Connections that send no request, or half of one, keep nobody else out.
        address = (urlsplit(url).hostname or "", urlsplit(url).port or 0)
        idle = [socket.create_connection(address, PATIENCE_SECONDS) for _ in range(300)]
        for each in idle[::2]:
            each.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
        assert post(url, LISTING, headers("tools/list"))[0] == 200
        for each in idle:
            each.close()


def refused(*arguments: str, monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    """Returns what the command says when it does not serve."""
    monkeypatch.delenv("ABSTRACTCORE_SERVER_KEY", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(app, ["mcp", "serve", *arguments], catch_exceptions=False)
    assert result.exit_code == 2
    return result.stderr


@pytest.mark.parametrize(
    ("arguments", "key", "message", "hint"),
    [
        (["--http", "0.0.0.0:0"], "", "can be reached from other machines, and no key is set", "--key-env NAME"),
        (["--http", "[::]:0"], "", "can be reached from other machines, and no key is set", "--key-env NAME"),
        (["--http", "0.0.0.0:0"], KEY, "stands for all addresses of this machine", "--allow-host NAME"),
        (["--http", "0.0.0.0:0"], "short", "a key needs at least 16 characters", "secrets.token_urlsafe"),
        (["--http", "0.0.0.0:0"], "the key has spaces in it", "a key needs at least 16 characters", "secrets"),
        (["--http", "0.0.0.0:0", "--key-env", "UNSET"], "", "UNSET is not set", "export UNSET=..."),
        (["--http", "8000"], "", "'8000' is not an address", "--http 127.0.0.1:8000"),
        (["--http", "localhost:http"], "", "is not an address", "--http 127.0.0.1:8000"),
        (["--http", "localhost:70000"], "", "is not an address", "--http 127.0.0.1:8000"),
        (["--http", "no.such.host.invalid:8000"], "", "cannot listen at no.such.host.invalid:8000", "another address"),
        (["--allow-host", "x"], "", "--allow-host: it is for HTTP only", "--http HOST:PORT"),
        (["--key-env", "X"], "", "--key-env: it is for HTTP only", "--http HOST:PORT"),
        (["--files", "/no/such/folder"], "", "'/no/such/folder' is not a folder", ""),
        ([*NO_MODEL], "", "nothing is offered", "--tool MODULE:FUNCTION"),
        (["--tool", "no_such_module"], "", "no module and no tool source is called 'no_such_module'", ""),
    ],
)
def test_command_that_cannot_serve_says_what_to_change(
    arguments: list[str], key: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch
):
    if "--http" not in arguments:
        monkeypatch.setattr("abstractcore.mcp.server.claim_standard_streams", lambda: None)
    variables = {"ABSTRACTCORE_SERVER_KEY": key} if key else {}
    shown = refused(*arguments, monkeypatch=monkeypatch, **variables)
    assert message in shown
    assert hint in shown
    assert not key or key not in shown


def test_command_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "pip install mcp (part of the extra 'mcp'" in refused(monkeypatch=monkeypatch)


@pytest.mark.parametrize("address", ["localhost:0", "[::1]:0"])
def test_other_names_of_this_machine_need_no_key(address: str):
    host = address.rpartition(":")[0].strip("[]")
    with listening_socket(host, 0, MCPAccess()) as listening:
        assert url_of(listening).startswith(("http://127.0.0.1:", "http://[::1]:"))


def test_address_in_use_is_an_error(monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = refused("--http", f"127.0.0.1:{port}", monkeypatch=monkeypatch)
    assert f"cannot listen at 127.0.0.1:{port}" in shown
