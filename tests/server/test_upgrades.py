"""Requests that offer another protocol (`Upgrade`, RFC 9110, 7.8): one request has one response, whatever it offers and
however its body arrives, with pycurl and http.client as clients, directly and behind a real nginx.
"""

from __future__ import annotations

import http.client
import io
import itertools
import json
import socket
import ssl
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pycurl
import pytest
import trustme

from abstractcore_server import ServerSettings, Settings
from abstractcore_server.access.admission import FixedKeys
from tests.chaos_server import PATIENCE_SECONDS
from tests.leftovers import wait_until
from tests.server.serving import Served, serving
from tests.server.test_deployment import NAME, nginx

KEY = "a-key-of-one-client-only"
HANDSHAKE = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
KEYED = HANDSHAKE + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
OFFERS = {
    "none": "",
    "h2c": "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk\r\n",
    "unknown": "Connection: upgrade\r\nUpgrade: anything/1\r\n",
    "whole handshake": KEYED,
    "several": KEYED.replace("websocket\r", "h2c, websocket\r"),
}
"""The headers of offers. After those that name WebSocket connections, a connection that has none is closed."""
PASSED_ON = "proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;"
TRANSPORTS: dict[str, dict[str, str] | None] = {
    "direct": None,
    "nginx of the deployment": {},
    "nginx that passes on every Upgrade": {'proxy_set_header Connection "";': PASSED_ON},
}
"""The changes to the file of nginx; None without nginx."""
Opened = Callable[[], socket.socket]


class Received(io.BytesIO):
    """Responses after each other, of which `http.client` reads one at a time."""

    def close(self) -> None:
        """Leaves the rest to be read."""

    def makefile(self, mode: str) -> Received:
        return self


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    with serving(Settings(ServerSettings(hosts=(NAME,))), access=FixedKeys([KEY])) as served:
        yield served


@contextmanager
def transport(served: Served, name: str) -> Generator[Opened]:
    """What opens connections to the server."""
    host, port = served.url.removeprefix("http://").split(":")
    changes = TRANSPORTS[name]
    if changes is None:
        yield lambda: socket.create_connection((host, int(port)), PATIENCE_SECONDS)
        return
    authority = trustme.CA()
    with nginx(served.url, authority, changes) as path:
        context = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())

        def opened() -> socket.socket:
            plain = socket.socket(socket.AF_UNIX)
            plain.settimeout(PATIENCE_SECONDS)
            plain.connect(str(path))
            return context.wrap_socket(plain, server_hostname=NAME)

        yield opened


def received(client: socket.socket) -> bytes:
    """What comes before the server closes the connection."""
    seen = b""
    with suppress(ConnectionResetError):
        while piece := client.recv(65536):
            seen += piece
    return seen


def responses(seen: bytes) -> list[tuple[int, str]]:
    """The status and body of each response."""
    stream: Any = Received(seen)
    found: list[tuple[int, str]] = []
    while stream.tell() < len(seen):
        response = http.client.HTTPResponse(stream)
        response.begin()
        found.append((response.status, response.read().decode()))
    return found


def head(method: str, target: str, *headers: str, key: str = f"Authorization: Bearer {KEY}\r\n") -> bytes:
    return f"{method} {target} HTTP/1.1\r\nHost: {NAME}\r\n{key}{''.join(headers)}\r\n".encode()


def chat(text: str) -> bytes:
    return json.dumps({"model": "scripted", "messages": [{"role": "user", "content": text}]}).encode()


HIDDEN = head("POST", "/v1/chat/completions", f"Content-Length: {len(chat('hidden'))}\r\n") + chat("hidden")
LAST = head("GET", "/v1/models/scripted", "Connection: close\r\n")
REQUESTS: dict[str, tuple[str, str, bytes, int]] = {
    "a chat": ("POST", "/v1/chat/completions", chat("mine"), 200),
    "a request in a body": ("POST", "/v1/chat/completions", HIDDEN, 400),
    "a request in a body that is not read": ("GET", "/v1/models/scripted", HIDDEN, 200),
    "a request in the body of a handshake": ("GET", "/v1/responses", HIDDEN, 426),
}
"""Method, path, body and status."""
ARRIVALS = ("at once", "late", "in pieces")
CASES = list(itertools.product(REQUESTS, OFFERS, (False, True), ARRIVALS))


def framed(body: bytes, *, chunked: bool) -> tuple[str, bytes]:
    """The header of a body, and its bytes."""
    if not chunked:
        return f"Content-Length: {len(body)}\r\n", body
    half = len(body) // 2
    pieces = (body[:half], body[half:], b"")
    return "Transfer-Encoding: chunked\r\n", b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in pieces)


def exchanged(served: Served, client: socket.socket, arrival: str, pieces: tuple[bytes, bytes, bytes]) -> bytes:
    """Sends head and body of a request, and one after it; returns the responses."""
    first, body, after = pieces
    if arrival == "at once":
        client.sendall(b"".join(pieces))
        return received(client)
    counts = served.application.state.metrics.counts
    assert wait_until(lambda: counts.running == 0)
    client.sendall(first)
    seen = b""
    if first.startswith(b"POST"):
        assert wait_until(lambda: counts.running == 1), "the request has not begun before its body"
    else:
        seen = client.recv(65536)
    size = len(body) if arrival == "late" else 7
    with suppress(OSError):  # the server may have closed the connection after its response
        for at in range(0, len(body), size):
            client.sendall(body[at : at + size])
        client.sendall(after)
    return seen + received(client)


@pytest.mark.process
@pytest.mark.parametrize("name", TRANSPORTS)
def test_one_request_has_one_response_whatever_it_offers(served: Served, name: str):
    walked = 0
    with transport(served, name) as opened:
        for case in CASES:
            request, offer, chunked, arrival = case
            method, path, body, status = REQUESTS[request]
            header, sent = framed(body, chunked=chunked)
            served.begin_test()
            if status == 200 and method == "POST":
                served.script(lambda call: f"echo of {call.messages[-1].text}")
            with opened() as client:
                first = head(method, path, OFFERS[offer], header)
                found = responses(exchanged(served, client, arrival, (first, sent, LAST)))
            assert found[0][0] == status, (case, found)
            assert ("echo of mine" in found[0][1]) == (len(served.calls) == 1) == (request == "a chat"), (case, found)
            may_be_closed = (
                "websocket" in OFFERS[offer] or method == "GET"
            )  # nginx does, after a response before the body
            assert len(found) == 2 or (may_be_closed and len(found) == 1), (case, found)
            assert all('"id":"scripted"' in text.replace(" ", "") for _, text in found[1:]), (case, found)
            walked += 1
    assert walked == 4 * 5 * 2 * 3


@pytest.mark.process
@pytest.mark.parametrize("name", [name for name, changes in TRANSPORTS.items() if changes is not None])
def test_client_without_a_key_reaches_no_request_of_another_one(served: Served, name: str):
    """Both use the same connection between nginx and the server."""
    swallowing = head("GET", "/v1/models/scripted", "X-Swallowed: ", key="")[:-2]
    with transport(served, name) as opened:
        for (offer, headers), path in itertools.product(OFFERS.items(), ("/v1/models/scripted", "/v1/responses")):
            served.begin_test()
            with opened() as attacker, opened() as victim:
                length = f"Content-Length: {len(swallowing)}\r\n"
                attacker.sendall(head("GET", path, headers, length, "Connection: close\r\n", key="") + swallowing)
                assert [status for status, _ in responses(received(attacker))] == [401], (offer, path)
                served.script("for the victim")
                body = chat("hi")
                header = f"Content-Length: {len(body)}\r\nConnection: close\r\n"
                victim.sendall(head("POST", "/v1/chat/completions", header) + body)
                ((status, text),) = responses(received(victim))
            assert status == 200, (offer, path, text)
            assert "for the victim" in text, (offer, path)


def test_curl_that_offers_http2_is_answered_over_http1(served: Served):
    """libcurl sends `Connection: Upgrade, HTTP2-Settings` with a body, as Java's HttpClient does."""
    served.script("one", "two")
    answers: list[str] = []
    sent: list[bytes] = []
    client = pycurl.Curl()
    client.setopt(pycurl.URL, f"{served.url}/v1/chat/completions")
    client.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2)
    client.setopt(pycurl.HTTPHEADER, ["Content-Type: application/json", f"Authorization: Bearer {KEY}"])
    client.setopt(pycurl.PROXY, "")
    client.setopt(pycurl.VERBOSE, True)
    client.setopt(pycurl.DEBUGFUNCTION, lambda kind, data: sent.append(data) if kind == 2 else None)
    for _ in range(2):
        buffer = io.BytesIO()
        client.setopt(pycurl.POSTFIELDS, chat("hi").decode())
        client.setopt(pycurl.WRITEFUNCTION, buffer.write)
        client.perform()
        answers.append(json.loads(buffer.getvalue())["choices"][0]["message"]["content"])
    assert client.getinfo(pycurl.NUM_CONNECTS) == 0  # the second one used the connection of the first
    client.close()
    assert answers == ["one", "two"]
    assert b"Upgrade: h2c" in b"".join(sent)


def test_only_a_whole_handshake_is_upgraded(served: Served):
    path = "/v1/responses"
    doubtful: dict[str, bytes] = {
        "another method": head("POST", path, KEYED, "Content-Length: 0\r\n"),
        "another path": head("GET", "/v1/models/scripted", KEYED),
        "a body": head("GET", path, KEYED, "Content-Length: 2\r\n") + b"{}",
        "an empty body in chunks": head("GET", path, KEYED, "Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n",
        "no key": head("GET", path, HANDSHAKE),
        "a short key": head("GET", path, HANDSHAKE, "Sec-WebSocket-Key: c2hvcnQ=\r\n"),
        "a key that is not Base64": head("GET", path, HANDSHAKE, "Sec-WebSocket-Key: ????????????????????????\r\n"),
        "two keys": head("GET", path, KEYED, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
        "another version": head("GET", path, KEYED.replace("13", "8")),
        "no version": head("GET", path, KEYED.replace("Sec-WebSocket-Version: 13\r\n", "")),
        "another protocol too": head("GET", path, KEYED.replace("websocket\r", "websocket, h2c\r")),
        "HTTP/1.0": head("GET", path, KEYED).replace(b"HTTP/1.1", b"HTTP/1.0"),
        "data behind it": head("GET", path, KEYED) + b"\x81\x80",
        "a request before it": head("GET", "/v1/models/scripted") + head("GET", path, KEYED),
    }
    with transport(served, "direct") as opened:
        for name, sent in doubtful.items():
            with opened() as client:
                client.sendall(sent)
                statuses = [status for status, _ in responses(received(client))]
            assert 101 not in statuses, name
            assert statuses[-1] in (200, 400, 426), (name, statuses)
        for whole in (
            head("GET", path, KEYED),
            head("GET", f"{path}?x=1", KEYED, "Content-Length: 0\r\n"),
            head("GET", f"http://{NAME}{path}", KEYED),
            head("GET", path, KEYED.replace("Upgrade\r", "keep-alive, upgrade\r").replace("websocket", "WebSocket")),
        ):
            with opened() as client:
                client.sendall(whole)
                assert client.recv(12) == b"HTTP/1.1 101", whole
    assert len(doubtful) == 14


def test_host_is_that_of_an_absolute_target(served: Served):
    """RFC 9112, 3.2.2: `Host` is ignored."""
    here, there = f"http://{NAME}/v1/models/scripted", "http://evil.example/v1/models/scripted"
    cases: list[tuple[bytes, int]] = [
        (head("GET", here), 200),
        (head("GET", here).replace(f"Host: {NAME}".encode(), b"Host: evil.example"), 200),
        (head("GET", f"{here}?a=http://evil.example/"), 200),
        (head("GET", there), 403),
        (head("GET", "https://evil.example:443/v1/models/scripted"), 403),
        (head("GET", f"http://{NAME}@evil.example/v1/models/scripted"), 400),
        (head("GET", f"http://evil.example@{NAME}/v1/models/scripted"), 400),
        (head("GET", "http:///v1/models/scripted"), 400),
        (head("CONNECT", f"{NAME}:443"), 400),
        (head("GET", "http://evil.example/v1/responses", KEYED), 403),
    ]
    with transport(served, "direct") as opened:
        for sent, status in cases:
            with opened() as client:
                client.sendall(sent + LAST)
                assert responses(received(client))[0][0] == status, sent
