"""Connection pools: limits, and when a slot is released, with each library."""

from __future__ import annotations

import asyncio
import gc

import pytest

from abstractcore import RequestTimeoutError, create_llm
from abstractcore.schema import WireRequest
from abstractcore.testing import AsyncCalls, SyncCalls
from abstractcore.testing.transports.cases import rest
from abstractcore.transport import AsyncHttpTransport, SyncHttpTransport, TransportSettings
from abstractcore.transport.aiohttp_http import AiohttpTransport
from abstractcore.transport.pycurl_http import PycurlTransport
from tests.chaos_server import HANG, LAST_CHUNK, answer, chunk, delta, stream_head

TRANSPORTS = [
    (SyncCalls, SyncHttpTransport),
    (SyncCalls, PycurlTransport),
    (AsyncCalls, AsyncHttpTransport),
    (AsyncCalls, AiohttpTransport),
]


@pytest.fixture(params=TRANSPORTS, ids=lambda each: each[1].__name__)
def small(request, services):
    """A transport with one connection, and what runs its coroutines."""
    make_call_style, make_transport = request.param
    call_style = make_call_style()
    transport = make_transport(TransportSettings(max_connections=1))
    yield transport, call_style.run
    call_style.run(transport.close())
    call_style.close()


def test_exhausted_pool_is_a_timeout_with_the_reason(small, server):
    transport, run = small
    request = WireRequest(server.url, {}, b"")
    server.script(stream_head(), HANG)
    held = run(transport.open(request, 5.0))
    with pytest.raises(RequestTimeoutError, match=r"became available within 0\.2 s") as caught:
        run(transport.open(request, 0.2))
    assert "max_connections" in str(caught.value)
    run(held.close())
    server.script(answer(b"ok"))
    body = run(transport.open(request, 5.0))
    assert run(body.read()) == b"ok"
    run(body.close())
    assert len(server.requests) == 2


def test_slow_response_is_not_mistaken_for_an_exhausted_pool(small, server):
    transport, run = small
    server.script(HANG)
    with pytest.raises(RequestTimeoutError, match=r"no response from .* within 0\.2 s\. .* timeout=SECONDS"):
        run(transport.open(WireRequest(server.url, {}, b""), 0.2))


def test_stalled_body_is_a_timeout_with_its_duration(small, server):
    transport, run = small
    server.script(stream_head() + chunk(b"data"), HANG)
    body = run(transport.open(WireRequest(server.url, {}, b""), 0.2))
    assert run(body.read()) == b"data"
    with pytest.raises(RequestTimeoutError, match=r"no response from .* within 0\.2 s\. .* timeout=SECONDS"):
        run(body.read())
    run(body.close())


@pytest.mark.parametrize("place", [None, 20, 5], ids=["whole", "in its head", "in its status"])
@pytest.mark.parametrize(
    "first", [answer("one"), stream_head() + chunk(b"one") + LAST_CHUNK], ids=["length", "chunked"]
)
def test_connection_with_surplus_data_is_closed(small, server, first, place):
    """What follows the surplus would be read as the next response, which may be another tenant's."""
    transport, run = small
    surplus = answer("for somebody else")

    async def fetch() -> bytes:
        body = await transport.open(WireRequest(server.url, {}, b""), 5.0)
        try:
            return await rest(body)
        finally:
            await body.close()

    server.script(first + surplus[:place], HANG)
    server.script(answer("two"))
    assert [run(fetch()), run(fetch())] == [b"one", b"two"]
    assert len(server.connections) == 2


def test_abandoned_body_releases_its_pool_slot(small, server):
    transport, run = small
    for _ in range(3):
        server.script(stream_head() + chunk(b"data"), HANG)
        body = run(transport.open(WireRequest(server.url, {}, b""), 1.0))
        run(body.read())
        run(body.close())
        run(body.close())
    assert len(server.connections) == 3


@pytest.mark.parametrize("make_transport", [AsyncHttpTransport, AiohttpTransport])
def test_dropped_async_body_releases_its_pool_slot(server, services, make_transport):
    async def main() -> None:
        transport = make_transport(TransportSettings(max_connections=1))
        for _ in range(3):
            server.script(stream_head() + chunk(b"data"), HANG)
            body = await transport.open(WireRequest(server.url, {}, b""), 5.0)
            await body.read()
            del body
            gc.collect()

    asyncio.run(main())
    assert len(server.connections) == 3


@pytest.mark.parametrize("library", ["httpx2", "fast"])
def test_dropped_async_streams_release_their_connections(server, connect, library):
    """More streams are dropped than there may be connections."""
    server.always(stream_head(), chunk(delta("hel")), HANG)
    llm = connect(max_connections=2, transport=library)

    async def main() -> None:
        for _ in range(5):
            with pytest.warns(ResourceWarning, match="open stream was dropped"):
                async for _delta in llm.astream("hi", timeout=5):
                    break
                gc.collect()
            await asyncio.sleep(0)

    asyncio.run(main())
    assert len(server.requests) == 5


def test_max_connections_idle_connections_are_kept(call_style, server, connect):
    """The default keeps a hundred."""
    assert TransportSettings().max_idle_connections == 100
    llm = connect(max_connections=300)
    settings = llm._pipelines._connections.sync.args[0]
    assert (settings.max_connections, settings.max_idle_connections) == (300, 300)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "many"])
def test_invalid_max_connections_is_refused(services, count):
    with pytest.raises(ValueError, match="max_connections"):
        create_llm("openai-compatible/m", base_url="http://x", services=services, max_connections=count)
