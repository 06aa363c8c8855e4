"""Every transport of the kernel passes the transport suites."""

from __future__ import annotations

import httpx2
import pytest

from abstractcore.testing.transports import AsyncTransportSuite, EventLoopSuite, ForkSuite, SyncTransportSuite
from abstractcore.transport import (
    AsyncHttpTransport,
    SyncHttpTransport,
    TransportSettings,
    client_transports,
    pycurl_connections,
)
from abstractcore.transport.aiohttp_http import AiohttpTransport
from abstractcore.transport.pycurl_connections import wait_with_select
from abstractcore.transport.pycurl_http import PycurlTransport
from tests.conftest import PROXY_VARIABLES

for _name, _function in vars(ForkSuite).items():  # the suites know no marks
    if _name.startswith("test_"):
        pytest.mark.process(_function)

LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=100)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class TestSync(SyncTransportSuite, ForkSuite):
    def make_transport(self):
        return SyncHttpTransport(TransportSettings())


class TestAsync(AsyncTransportSuite, EventLoopSuite, ForkSuite):
    def make_transport(self):
        return AsyncHttpTransport(TransportSettings())


class TestPycurl(SyncTransportSuite, ForkSuite):
    def make_transport(self):
        return PycurlTransport(TransportSettings())


class TestPycurlWithSelect(SyncTransportSuite):
    """As on Windows, which has no `poll`."""

    @pytest.fixture(autouse=True)
    def _select(self, monkeypatch):
        monkeypatch.setattr(pycurl_connections, "wait_for_sockets", wait_with_select)

    def make_transport(self):
        return PycurlTransport(TransportSettings())


class TestAiohttp(AsyncTransportSuite, EventLoopSuite, ForkSuite):
    def make_transport(self):
        return AiohttpTransport(TransportSettings())


class TestSyncClient(SyncTransportSuite):
    def make_transport(self):
        client = httpx2.Client(trust_env=False, limits=LIMITS)
        self.at_end(client.close)
        return client_transports(client)[0]


class TestAsyncClient(AsyncTransportSuite):
    def make_transport(self):
        client = httpx2.AsyncClient(trust_env=False, limits=LIMITS)
        self.at_end(lambda: self.run(client.aclose()))
        return client_transports(client)[1]
