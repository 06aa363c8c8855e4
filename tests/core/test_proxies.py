"""Which proxy a URL is reached through: by one function, which every client of the project uses."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from abstracta2a import A2AAgent
from abstractcore import AbstractCoreError, MCPTools, Services, create_llm
from abstractcore.proxies import _VARIABLES, environment_proxy, is_excepted, proxy_of
from abstractcore.testing.http_server import ScriptedServer
from abstractcore.transport import TransportSettings
from abstractcore.transport.settings import ProxyRoutes
from abstractvoice.remote.websocket import VendorSocket
from tests.proxy_server import ProxyServer

NETWORKS = (
    "localhost,.corp.test,api.test:8443,10.0.0.0/8,192.168.1.7,fd00::/8,[2001:db8::1]:8080,::1,bad/99,10.1.2.3/33"
)
HOSTS: list[tuple[str, bool]] = [
    ("http://localhost/", True),
    ("http://LOCALHOST:11434/v1", True),
    ("http://localhost.test/", False),
    ("http://corp.test/", True),
    ("https://a.b.corp.test./", True),
    ("http://notcorp.test/", False),
    ("https://api.test:8443/v1", True),
    ("https://api.test/v1", False),
    ("http://10.0.0.1/", True),
    ("http://10.255.255.255:8000/v1", True),
    ("http://11.0.0.1/", False),
    ("http://10.0.0.1.example.test/", False),
    ("http://192.168.1.7/", True),
    ("http://192.168.1.70/", False),
    ("http://2.168.1.7/", False),
    ("http://[fd00::1]/", True),
    ("http://[fdff:1::2]:8000/v1", True),
    ("http://[fe80::1]/", False),
    ("http://[2001:db8::1]:8080/", True),
    ("http://[2001:db8:0::1]/", False),
    ("http://[0:0:0:0:0:0:0:1]/", True),
    ("http://[::ffff:10.1.2.3]/", True),
    ("ws://10.0.0.1/live", True),
    ("wss://api.test:8443/live", True),
    ("wss://vendor.test/live", False),
]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("url", "direct"), HOSTS)
def test_no_proxy_knows_names_addresses_and_networks(url: str, direct: bool):
    proxies = {"http": "http://p:1", "https": "http://p:2", "no": NETWORKS}
    found = proxy_of(url, proxies)
    assert found == (None if direct else "http://p:2" if url.startswith(("https", "wss")) else "http://p:1")


@pytest.mark.parametrize("no_proxy", ["*", "a.test, *", "a.test *"])
def test_star_excepts_all_hosts(no_proxy: str):
    assert is_excepted("vendor.test", 443, no_proxy)


@pytest.mark.parametrize("no_proxy", ["", ",", " ", "/", "[", "10.0.0.0/x", "://", ".", ":80", "10.0.0.1:99999999"])
def test_what_is_no_host_excepts_nothing(no_proxy: str):
    assert not is_excepted("10.0.0.1", 80, no_proxy)
    assert not is_excepted("vendor.test", 80, no_proxy)


def test_port_that_the_url_leaves_out_is_that_of_its_scheme():
    proxies = {"all": "http://p:1", "no": "a.test:443,b.test:80"}
    urls = ("https://a.test/", "http://a.test/", "http://b.test/", "wss://a.test/")
    assert [proxy_of(url, proxies) for url in urls] == [None, "http://p:1", None, None]


def test_proxy_without_a_scheme_is_one_of_http(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTPS_PROXY", "proxy.test:3128")
    assert environment_proxy("https://a.test/") == "http://proxy.test:3128"


def test_transports_of_models_route_by_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://p:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://p:2")
    monkeypatch.setenv("NO_PROXY", NETWORKS)
    routes = ProxyRoutes(TransportSettings())
    for url, direct in HOSTS:
        assert (routes.of(url).proxy is None) == direct


def generated(**options: Any) -> Callable[[str, Services], object]:
    def generate(url: str, services: Services) -> object:
        llm = create_llm("openai-compatible", "m", base_url=f"{url}/v1", max_retries=0, services=services, **options)
        return llm.generate("hi")

    return generate


def agenerated(**options: Any) -> Callable[[str, Services], object]:
    def generate(url: str, services: Services) -> object:
        async def ask() -> object:
            llm = create_llm(
                "openai-compatible", "m", base_url=f"{url}/v1", max_retries=0, services=services, **options
            )
            try:
                return await llm.agenerate("hi")
            finally:
                await services.close_connections()

        return asyncio.run(ask())

    return generate


CLIENTS: dict[str, Callable[[str, Services], object]] = {
    "httpx2, sync": generated(),
    "httpx2, async": agenerated(),
    "curl": generated(transport="fast"),
    "aiohttp": agenerated(transport="fast"),
    "mcp": lambda url, services: MCPTools(url=f"{url}/mcp", connect_timeout=5).list_tools(),
    "a2a": lambda url, services: A2AAgent(url).list_tools(),
    "websocket": lambda url, services: VendorSocket.opened(f"{url}/live", {}, {}, 5),
}
"""All clients of HTTP and WebSocket, but for those that share the transport of one of these: downloads of files, of
weights and of media, and the backends of plugins."""


@pytest.fixture
def proxy() -> Iterator[ProxyServer]:
    with ProxyServer() as made:
        yield made


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("no_proxy", "direct"), [("127.0.0.0/8", True), ("10.0.0.0/8", False)])
def test_every_client_keeps_no_proxy(
    client: str,
    no_proxy: str,
    direct: bool,
    proxy: ProxyServer,
    server: ScriptedServer,
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
):
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    for _ in range(8):
        server.script(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    with suppress(AbstractCoreError):
        CLIENTS[client](server.url, services)
    assert (proxy.asked == []) == direct
    assert server.requests


def test_the_walk_is_of_all_clients():
    assert (len(CLIENTS), len(HOSTS)) == (7, 25)
