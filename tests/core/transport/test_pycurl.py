"""Behaviour of libcurl that differs from httpx2 and must not."""

from __future__ import annotations

import gc
import os
import signal
import ssl
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pycurl
import pytest
import trustme

from abstractcore import AbstractCoreError, ConnectionFailedError
from abstractcore.concurrency import drive
from abstractcore.schema import WireRequest
from abstractcore.testing.transports.cases import no_warning, rest
from abstractcore.testing.transports.loops import in_fork
from abstractcore.transport import TransportSettings, pycurl_connections
from abstractcore.transport.pycurl_connections import connect, is_same_connection
from abstractcore.transport.pycurl_http import PycurlTransport
from tests.chaos_server import HANG, LAST_CHUNK, PATIENCE_SECONDS, ScriptedServer, answer, chunk, stream_head

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.fixture
def transport():
    """With the default settings, closed after the test."""
    transport = PycurlTransport(TransportSettings())
    yield transport
    transport.close_now()


@pytest.fixture
def secure(tmp_path):
    """A server over TLS, and settings that trust it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with ScriptedServer(context) as server:
        yield server, TransportSettings(verify=str(tmp_path / "authority.pem"))


def fetch(transport: PycurlTransport, url: str, body: bytes = b"{}", **headers: str) -> bytes:
    """The body of one response."""
    response = drive(transport.open(WireRequest(url, headers, body), PATIENCE_SECONDS))
    try:
        return drive(rest(response))
    finally:
        drive(response.close())


def connections_of(transport: PycurlTransport) -> list[pycurl_connections.CurlConnection]:
    """The idle ones."""
    return [connection for pool in transport._pools.values() for _, connection in pool._idle]


def test_only_headers_of_the_request_are_sent(server, transport):
    server.script(answer("ok"))
    fetch(transport, server.url, b"x" * 2_000_000)
    (request,) = server.requests
    assert set(request.headers) == {"host", "accept", "accept-encoding", "user-agent", "content-length"}


def test_libcurl_ignores_environment_proxies(server, monkeypatch):
    """They are found when the settings are made, for sync and async transports alike."""
    transport = PycurlTransport(TransportSettings(environment_proxies=False))
    for name in ("http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.script(answer("direct"))
    assert fetch(transport, server.url) == b"direct"
    transport.close_now()


def test_proxy_option_overrides_no_proxy(server, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    transport = PycurlTransport(TransportSettings(proxy=server.url))
    server.script(answer("through"))
    assert fetch(transport, "http://api.test/") == b"through"
    transport.close_now()


@pytest.mark.parametrize("endless", [b"x-more: and more\r\n" * 40_000, b"x-long: " + b"v" * 4_000_000])
def test_endless_response_head_is_refused(server, transport, endless):
    server.script(b"HTTP/1.1 200 OK\r\n" + endless, HANG)
    with pytest.raises(ConnectionFailedError, match="not HTTP"):
        fetch(transport, server.url)


def test_idle_connection_does_not_keep_the_last_request_in_memory(server, transport):
    prompt = b"a long conversation" * 100
    references = sys.getrefcount(prompt)
    server.script(answer("ok"))
    fetch(transport, server.url, prompt)
    gc.collect()
    assert sys.getrefcount(prompt) == references


@pytest.mark.parametrize("place", ["cycle", "cycle with its transport"])
def test_body_in_a_reference_cycle_closes_its_connection_silently(server, place):
    """pycurl's handles are collected with it, and may be closed first."""
    server.always(stream_head(), chunk(b"data"), HANG)
    transport = PycurlTransport(TransportSettings(max_connections=1))
    for _ in range(3):
        cycle: list[object] = [drive(transport.open(WireRequest(server.url, {}, b""), PATIENCE_SECONDS))]
        cycle.append(cycle)
        if place == "cycle with its transport":
            cycle.append(transport)
            transport = PycurlTransport(TransportSettings(max_connections=1))
        with no_warning():
            del cycle
            gc.collect()
        server.wait_for(lambda: not server.open, "the end of the connection")
    transport.close_now()


def test_idle_connections_are_limited_in_number_and_time(server):
    server.always(answer("ok"))
    brief = PycurlTransport(TransportSettings(idle_seconds=0.0))
    for _ in range(2):
        fetch(brief, server.url)
    assert len(server.connections) == 2
    few = PycurlTransport(TransportSettings(max_idle_connections=2))
    arrived = threading.Barrier(4)

    def call(_: int) -> None:
        body = drive(few.open(WireRequest(server.url, {}, b""), PATIENCE_SECONDS))
        arrived.wait(PATIENCE_SECONDS)
        drive(rest(body))
        drive(body.close())

    gate = server.gate()
    server.always(stream_head(), gate, chunk(b"ok") + LAST_CHUNK)
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(call, number) for number in range(4)]
        server.wait_for_requests(6)
        for _ in calls:
            gate.open()
        for each in calls:
            each.result(PATIENCE_SECONDS)
    assert len(connections_of(few)) == 2
    brief.close_now()
    few.close_now()
    server.wait_for(lambda: not server.open, "the end of all connections")


def test_idle_connections_to_one_host_are_replaced_by_another(server):
    transport = PycurlTransport(TransportSettings(max_connections=1))
    server.always(answer("ok"))
    with ScriptedServer() as other:
        other.always(answer("other"))
        assert [fetch(transport, url) for url in (server.url, other.url, server.url)] == [b"ok", b"other", b"ok"]
        server.wait_for(lambda: len(server.open) == 1, "the end of the first connection")
        other.wait_for(lambda: not other.open, "the end of the other's connection")
    transport.close_now()


@pytest.mark.parametrize("name", ["_open_socket", "_take_header", "_take_log", "_take_piece", "_want"])
def test_interrupt_in_a_libcurl_callback_is_not_lost(server, monkeypatch, name):
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    server.script(answer("ok"))
    transport = PycurlTransport(TransportSettings())
    with monkeypatch.context() as patch:
        patch.setattr(pycurl_connections.CurlConnection, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch(transport, server.url)
    server.wait_for(lambda: not server.open, "the end of the connection")
    server.always(answer("next"))
    fetch(transport, server.url)
    transport.close_now()


def test_internal_failure_of_libcurl_is_a_connection_failure(server, transport, monkeypatch):
    """pycurl answers so to an exception in what is called first, whatever it was."""

    def fails(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pycurl_connections.CurlConnection, "_set_timer", fails)
        with pytest.raises(ConnectionFailedError, match="libcurl failed"):
            fetch(transport, server.url)
    server.script(answer("next"))
    assert fetch(transport, server.url) == b"next"


@pytest.mark.parametrize("place", ["head", "body", "connect"])
def test_keyboard_interrupt_ends_the_call_and_closes_its_connection(server, transport, monkeypatch, place):
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    if place == "connect":
        monkeypatch.setattr("abstractcore.transport.pycurl_pools.connect", lambda *_: os.kill(os.getpid(), 14))
    else:
        server.script(*([HANG] if place == "head" else [stream_head(), HANG]))
        threading.Thread(
            target=lambda: (server.wait_for_requests(1), signal.pthread_kill(threading.main_thread().ident, 14))
        ).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            fetch(transport, server.url)
    finally:
        signal.signal(signal.SIGALRM, handler)
    server.wait_for(lambda: not server.open, "the end of the connection")
    monkeypatch.undo()
    server.script(answer("next"))
    assert fetch(transport, server.url) == b"next"


@pytest.mark.process
@FORKS
def test_exiting_forked_child_does_not_affect_the_parents_tls(secure):
    """libcurl says goodbye (close_notify) when its handles are freed, which the server would take for the parent's."""
    server, settings = secure
    transport = PycurlTransport(settings)
    gate = server.gate()
    server.script(stream_head(), chunk(b"first"), gate, chunk(b"second") + LAST_CHUNK)
    bodies = [drive(transport.open(WireRequest(server.url, {}, b""), PATIENCE_SECONDS))]
    assert drive(bodies[0].read()) == b"first"
    server.script(answer("idle"))
    assert fetch(transport, server.url) == b"idle"
    transports = [transport]

    def child() -> None:
        bodies.clear()
        transports[0]._pools.clear()
        gc.collect()

    in_fork(child)
    gate.open()
    assert drive(rest(bodies[0])) == b"second"
    server.always(stream_head(), gate, LAST_CHUNK)
    held = [drive(transport.open(WireRequest(server.url, {}, b""), PATIENCE_SECONDS)) for _ in range(2)]
    assert len(server.connections) == 2, "both are used again"
    for _ in held:
        gate.open()
    for body in held:
        assert drive(rest(body)) == b""
    transport.close_now()


@pytest.mark.process
@FORKS
def test_child_forked_while_another_thread_waits_can_make_calls(server, transport):
    server.always_by(lambda request: [answer(request.body)])
    server.script(HANG)
    failures: list[AbstractCoreError] = []

    def wait() -> None:
        with pytest.raises(ConnectionFailedError) as caught:
            fetch(transport, server.url, b"held")
        failures.append(caught.value)

    waiting = threading.Thread(target=wait)
    waiting.start()
    server.wait_for_requests(1)

    def child() -> None:
        assert fetch(transport, server.url, b"child") == b"child"
        transport.close_now()

    in_fork(child)
    assert fetch(transport, server.url, b"parent") == b"parent"
    for connection in list(pycurl_connections._connections):
        if connection._exchange is not None:
            connection.cut(connection._exchange)
    waiting.join(PATIENCE_SECONDS)
    assert len(failures) == 1


def test_reused_descriptor_is_not_mistaken_for_the_connection(server):
    with connect("127.0.0.1", server.port, PATIENCE_SECONDS * 1e6) as connection, connection.dup() as twin:
        assert is_same_connection(twin.fileno(), connection)
        with connect("127.0.0.1", server.port, PATIENCE_SECONDS * 1e6) as other, open(os.devnull) as file:
            assert not is_same_connection(other.fileno(), connection)
            assert not is_same_connection(file.fileno(), connection)
    assert not is_same_connection(-1, connection)


def test_undocumented_pycurl_option_number_is_correct():
    """By the number that libcurl gives to CURLOPT_SUPPRESS_CONNECT_HEADERS: a long, so that it begins at 0."""
    assert not hasattr(pycurl, "SUPPRESS_CONNECT_HEADERS"), "pycurl names it now: use its name in pycurl_connections.py"
    assert pycurl_connections._SUPPRESS_CONNECT_HEADERS == 265
