"""TLS with custom certificates, and proxies, with each library."""

from __future__ import annotations

import ssl
import time
from pathlib import Path

import pytest
import trustme

from abstractcore import ConnectionFailedError, RequestTimeoutError, create_llm
from abstractcore.testing import AsyncCalls, SyncCalls
from abstractcore.testing.transports.cases import error_text
from tests.chaos_server import CUT, HANG, PATIENCE_SECONDS, Pause, ScriptedServer, completion, drip
from tests.proxy_server import ProxyServer

PASSWORD = "canary-0123456789"
WAYS = [(SyncCalls, "httpx2"), (SyncCalls, "fast"), (AsyncCalls, "httpx2"), (AsyncCalls, "fast")]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """An untrusted certificate authority."""
    return trustme.CA()


@pytest.fixture
def trusted(authority, tmp_path) -> Path:
    """Its certificate in a file."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    return file


@pytest.fixture
def tls_server(authority):
    """A server with a certificate for this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "api.test").configure_cert(context)
    with ScriptedServer(context) as server:
        yield server


@pytest.fixture(params=WAYS, ids=lambda way: f"{way[0].name}-{way[1]}")
def way(request):
    """A call style and the transport of its calls."""
    return request.param


@pytest.fixture
def call_style(way):
    """As in every suite."""
    call_style = way[0]()
    yield call_style
    call_style.close()


@pytest.fixture
def reach(services, way):
    """Makes an LLM at an address."""

    def reach(url: str, **options):
        return create_llm(
            "openai-compatible",
            model="m",
            base_url=url,
            services=services,
            transport=way[1],
            max_retries=0,
            timeout=10,
            **options,
        )

    return reach


def test_server_with_a_custom_ca_is_reached(call_style, reach, tls_server, trusted):
    tls_server.always(completion("safe"))
    llm = reach(tls_server.url, verify=trusted)
    assert [call_style.generate(llm, "hi").content for _ in range(2)] == ["safe", "safe"]
    assert len(tls_server.connections) == 1


def test_server_with_an_untrusted_certificate_is_refused(call_style, reach, tls_server):
    with pytest.raises(ConnectionFailedError, match="certificate verify failed"):
        call_style.generate(reach(tls_server.url), "hi")
    assert tls_server.requests == []


def test_custom_ca_bundle_replaces_the_system_authorities(
    call_style, reach, tls_server, trusted, tmp_path, monkeypatch
):
    """Whoever names his own means no others."""
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    tls_server.always(completion("safe"))
    assert call_style.generate(reach(tls_server.url), "hi").content == "safe"
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))
    with pytest.raises(ConnectionFailedError, match="certificate verify failed"):
        call_style.generate(reach(tls_server.url, verify=tmp_path / "other.pem"), "hi")
    assert len(tls_server.requests) == 1


def test_verify_false_disables_certificate_verification(call_style, reach, tls_server):
    tls_server.script(completion("unchecked"))
    assert call_style.generate(reach(tls_server.url, verify=False), "hi").content == "unchecked"


def test_certificate_for_another_host_is_refused(call_style, reach, authority, trusted):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("elsewhere.test").configure_cert(context)
    with ScriptedServer(context) as server:
        with pytest.raises(ConnectionFailedError, match="certificate verify failed"):
            call_style.generate(reach(server.url, verify=trusted), "hi")
        assert server.requests == []


def test_proxy_with_a_password_forwards_plain_requests(call_style, reach, server):
    server.script(completion("through"))
    with ProxyServer(f"user:{PASSWORD}") as proxy:
        llm = reach(f"http://api.test:{server.port}/v1", proxy=f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}")
        assert call_style.generate(llm, "hi").content == "through"
        assert proxy.asked == [f"POST http://api.test:{server.port}/v1/chat/completions HTTP/1.1"]


def test_proxy_tunnels_to_a_tls_server(call_style, reach, tls_server, trusted):
    """The proxy cannot read the tunnelled data, and the server does not get the proxy's password."""
    tls_server.always(completion("through"))
    with ProxyServer("user:p@ss word") as proxy:
        llm = reach(
            f"https://api.test:{tls_server.port}/v1",
            proxy=f"http://user:p%40ss%20word@127.0.0.1:{proxy.port}",
            verify=trusted,
        )
        assert [call_style.generate(llm, "hi").content for _ in range(2)] == ["through", "through"]
        assert proxy.asked == [f"CONNECT api.test:{tls_server.port} HTTP/1.1"]
    assert "proxy-authorization" not in tls_server.requests[0].headers


def test_proxy_that_rejects_the_password_is_named_without_it(call_style, reach, tls_server, trusted):
    with ProxyServer("user:other") as proxy:
        llm = reach(tls_server.url, proxy=f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}", verify=trusted)
        with pytest.raises(ConnectionFailedError, match=f"the proxy http://127.0.0.1:{proxy.port} refused") as caught:
            call_style.generate(llm, "hi")
    assert PASSWORD not in error_text(caught.value)
    assert "Check its user and password" in str(caught.value)


def free_port() -> int:
    """A closed port, where a proxy was listening before."""
    with ProxyServer() as proxy:
        return proxy.port


def test_unreachable_proxy_is_named_without_its_password(call_style, reach, server):
    place = f"127.0.0.1:{free_port()}"
    with pytest.raises(ConnectionFailedError, match=f"through the proxy http://{place}") as caught:
        call_style.generate(reach(server.url, proxy=f"http://user:{PASSWORD}@{place}"), "hi")
    assert PASSWORD not in error_text(caught.value)
    assert caught.value.hint == "Check that the proxy is running. It is set by proxy=..."
    assert caught.value.proxy == f"http://{place}"
    assert "base_url" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "scheme"),
    [("HTTP_PROXY", "http"), ("http_proxy", "http"), ("HTTPS_PROXY", "https"), ("all_proxy", "http")],
)
def test_unreachable_environment_proxy_is_named_with_its_variable(
    call_style, reach, server, monkeypatch, variable, scheme
):
    place = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv(variable, f"http://user:{PASSWORD}@{place}")
    with pytest.raises(ConnectionFailedError, match=f"cannot connect to .* through the proxy http://{place}") as caught:
        call_style.generate(reach(f"{scheme}://api.test:{server.port}/v1"), "hi")
    assert f"It is set by the environment variable {variable}" in (caught.value.hint or "")
    assert "NO_PROXY" in (caught.value.hint or "")
    assert "base_url" not in str(caught.value)
    assert PASSWORD not in error_text(caught.value)


def test_proxy_that_disconnects_is_named(call_style, reach, server):
    server.script(CUT)
    with pytest.raises(ConnectionFailedError, match=f"through the proxy {server.url} broke") as caught:
        call_style.generate(reach("http://api.test/v1", proxy=server.url), "hi")
    assert caught.value.connected


@pytest.mark.parametrize(
    "script",
    [[HANG], drip(b"HTTP/1.1 200 Go\r\nx-long: " + b"v" * 1000 + b"\r\n\r\n", Pause(0.1))],
    ids=["silent", "drip"],
)
def test_slow_proxy_tunnel_times_out(call_style, reach, server, script):
    server.script(*script)
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError):
        call_style.generate(reach("https://api.test/v1", proxy=server.url), "hi", timeout=1.5)
    assert time.monotonic() - start < PATIENCE_SECONDS, "the drip takes three times as long"
    assert [request.method for request in server.requests] == ["CONNECT"]
    server.wait_for(lambda: not server.open, "the end of the connection")


def test_untrusted_certificate_hints_at_verify(call_style, reach, tls_server):
    with pytest.raises(ConnectionFailedError, match="certificate verify failed") as caught:
        call_style.generate(reach(tls_server.url), "hi")
    assert "verify='ca.pem'" in (caught.value.hint or "")
    assert "Is it running" not in str(caught.value)


def test_tls_proxy_is_verified_by_the_same_authorities(call_style, reach, authority, server, trusted):
    """The scripted server plays the proxy."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with ScriptedServer(context) as proxy:
        proxy.script(completion("through"))
        llm = reach("http://api.test/v1", proxy=proxy.url, verify=trusted)
        assert call_style.generate(llm, "hi").content == "through"
        with pytest.raises(ConnectionFailedError):
            call_style.generate(reach("http://api.test/v1", proxy=proxy.url), "hi")
        assert len(proxy.requests) == 1


def test_no_proxy_is_honoured(call_style, reach, server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.script(completion("direct"))
    assert call_style.generate(reach(server.url), "hi").content == "direct"
