"""Connections, sync and async: shared, released, closed, and never mixed up."""

from __future__ import annotations

import gzip
import json
import traceback
from pathlib import Path

import pytest

from abstractcore import (
    AbstractCoreError,
    AuthenticationError,
    ConfigurationError,
    ConnectionFailedError,
    NotFoundError,
    ProviderError,
    RateLimitError,
    ServerError,
    Services,
    create_llm,
)
from abstractcore.testing.transports.cases import error_text
from abstractcore.transport import TransportSettings
from tests.chaos_server import (
    CUT,
    DONE,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    RESET,
    ScriptedServer,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    failure,
    stream_head,
    streamed,
)

CANARY = "sk-canary-0123456789"


def test_sequential_calls_share_a_connection(call_style, server, connect):
    server.always(completion())
    first, second = connect(), connect()
    for llm in (first, second, first):
        call_style.generate(llm, "hi")
    assert [request.connection.number for request in server.requests] == [0, 0, 0]


def test_idle_connection_closed_by_the_server_is_replaced_silently(call_style, server, connect):
    llm = connect(max_retries=0)
    for text in ("one", "two"):
        server.script(completion(text), CUT)
        assert call_style.generate(llm, "hi").content == text
        server.wait_for(lambda: not server.open, "the server's end")
    assert len(server.connections) == 2


@pytest.mark.parametrize("first", [completion("one"), streamed("one")], ids=["whole", "streamed"])
def test_surplus_data_is_never_read_as_the_next_response(call_style, server, connect, first):
    llm = connect(max_retries=0)
    server.script(first + completion("for somebody else"))
    server.script(completion("two"))
    if first == completion("one"):
        assert call_style.generate(llm, "hi").content == "one"
    else:
        with call_style.stream(llm, "hi") as stream:
            list(stream)
    assert call_style.generate(llm, "hi").content == "two"
    assert len(server.connections) == 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_never_followed(call_style, server, connect, status):
    with ScriptedServer() as elsewhere:
        elsewhere.always(completion("stolen"))
        server.always(answer(b"", status, location=f"{elsewhere.url}/v1/chat/completions"))
        with pytest.raises(ProviderError) as caught:
            call_style.generate(connect(api_key=CANARY, max_retries=0), "hi")
        assert caught.value.status == status
        assert elsewhere.requests == []


def test_connection_of_an_abandoned_stream_is_not_reused(call_style, server, connect):
    llm = connect()
    server.script(stream_head() + chunk(delta("old")), HANG)
    server.script(completion("new"))
    with call_style.stream(llm, "hi") as stream:
        next(stream)
    assert call_style.generate(llm, "hi").content == "new"
    assert len(server.connections) == 2


def test_connection_of_an_error_response_is_reused_after_reading_its_body(call_style, server, connect):
    llm = connect(max_retries=0)
    server.script(failure(400))
    server.script(completion())
    with pytest.raises(ProviderError):
        call_style.generate(llm, "hi")
    call_style.generate(llm, "hi")
    assert len(server.connections) == 1


# Proxies


def test_environment_proxy_is_used(call_style, server, services, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", server.url)
    server.script(completion("through"))
    llm = create_llm("openai-compatible", model="m", base_url="http://api.test/v1", services=services)
    assert call_style.generate(llm, "hi").content == "through"
    assert server.requests[0].target == "http://api.test/v1/chat/completions"
    assert server.requests[0].headers["host"] == "api.test"


def test_environment_proxy_changes_apply_to_llms_created_afterwards(call_style, server, connect, monkeypatch):
    for text in ("without", "through", "without again"):
        server.script(completion(text))
    assert call_style.generate(connect(), "hi").content == "without"
    monkeypatch.setenv("HTTP_PROXY", server.url)
    llm = connect(base_url="http://provider.test/v1")
    assert call_style.generate(llm, "hi").content == "through"
    monkeypatch.delenv("HTTP_PROXY")
    assert call_style.generate(connect(), "hi").content == "without again"
    assert [request.target for request in server.requests] == [
        "/v1/chat/completions",
        "http://provider.test/v1/chat/completions",
        "/v1/chat/completions",
    ]


@pytest.mark.parametrize("no_proxy", ["127.0.0.1", "*", "example.com,127.0.0.1"])
def test_no_proxy_is_honoured(call_style, server, connect, monkeypatch, no_proxy):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    server.script(completion("direct"))
    assert call_style.generate(connect(), "hi").content == "direct"
    assert server.requests[0].target == "/v1/chat/completions"


@pytest.mark.parametrize("prefix", ["http://", ""])
def test_proxy_option_overrides_the_environment(call_style, server, services, monkeypatch, prefix):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "*")
    server.script(completion("through"))
    llm = create_llm(
        "openai-compatible",
        model="m",
        base_url="http://api.test/v1",
        services=services,
        proxy=f"{prefix}127.0.0.1:{server.port}",
    )
    assert call_style.generate(llm, "hi").content == "through"


def test_proxy_password_is_sent_to_the_proxy_only(call_style, server, services):
    server.script(CUT)
    llm = create_llm(
        "openai-compatible",
        model="m",
        base_url="http://api.test/v1",
        services=services,
        max_retries=0,
        proxy=f"http://user:{CANARY}@127.0.0.1:{server.port}",
    )
    with pytest.raises(ConnectionFailedError) as caught:
        call_style.generate(llm, "hi")
    assert server.requests[0].headers["proxy-authorization"].startswith("Basic ")
    assert CANARY not in error_text(caught.value)


@pytest.mark.parametrize("proxy", ["socks4://127.0.0.1:9", "ftp://127.0.0.1:9", f"carrier://{CANARY}@pigeon"])
def test_proxy_with_unsupported_scheme_is_refused(call_style, connect, services, monkeypatch, proxy):
    with pytest.raises(ConfigurationError, match="proxy") as caught:
        connect(proxy=proxy)
    assert CANARY not in error_text(caught.value)
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ConfigurationError, match="proxy"):
        call_style.generate(connect(), "hi")


# Addresses and certificates


def test_refused_connection_error_shows_host_and_port_only(call_style, services):
    llm = create_llm(
        "openai-compatible",
        model="m",
        base_url=f"http://127.0.0.1:9/{CANARY}",
        services=services,
        max_retries=0,
    )
    with pytest.raises(ConnectionFailedError, match=r"http://127\.0\.0\.1:9: ") as caught:
        call_style.generate(llm, "hi")
    assert CANARY not in error_text(caught.value)


def test_ipv6_address_is_shown_in_brackets(call_style, services):
    llm = create_llm("openai-compatible", model="m", base_url="http://[::1]:9/v1", services=services, max_retries=0)
    with pytest.raises(ConnectionFailedError, match=r"http://\[::1\]:9: "):
        call_style.generate(llm, "hi")


def test_connection_reset_is_an_error_with_its_reason(call_style, server, connect):
    server.script(RESET)
    with pytest.raises(ConnectionFailedError, match=r"broke: \S"):
        call_style.generate(connect(max_retries=0), "hi")


def test_https_to_a_plain_http_server_is_a_connection_error(call_style, server, services):
    url = server.url.replace("http:", "https:")
    llm = create_llm("openai-compatible", model="m", base_url=url, services=services, max_retries=0)
    with pytest.raises(ConnectionFailedError):
        call_style.generate(llm, "hi")


def test_unreadable_ca_bundle_is_a_configuration_error(call_style, services, tmp_path: Path):
    (tmp_path / "empty.pem").write_text("no certificate")
    for name in ("missing.pem", "empty.pem"):
        llm = create_llm(
            "openai-compatible",
            model="m",
            base_url="https://127.0.0.1:9",
            services=services,
            verify=str(tmp_path / name),
        )
        with pytest.raises(ConfigurationError, match=name):
            call_style.generate(llm, "hi")


def test_plain_http_loads_no_certificates(call_style, server, connect):
    server.script(completion("plain"))
    assert call_style.generate(connect(verify="/no/such/file"), "hi").content == "plain"


# Keys


def variables(error: BaseException) -> str:
    """What a report of an error that shows variables would show of the library's."""
    frames = traceback.TracebackException.from_exception(error, capture_locals=True).stack
    return "\n".join(repr(frame.locals) for frame in frames if "abstractcore" in frame.filename)


@pytest.mark.parametrize(
    "steps",
    [
        [failure(401, "bad key")],
        [failure(500)],
        [answer("<html>")],
        [answer(b"{}")],
        [CUT],
        [HANG],
        [b"nonsense\r\n\r\n", CUT],
        [b"HTTP/1.1 200 OK\r\nset cookie: x\r\n\r\n", CUT],
        [stream_head() + chunk(delta("a")), CUT],
        [stream_head() + chunk(b"data: {\n\n"), CUT],
    ],
)
@pytest.mark.parametrize("call", ["generate", "stream"])
def test_errors_never_contain_the_key(call_style, server, connect, steps, call):
    server.script(*steps)
    llm = connect(api_key=CANARY, max_retries=0, timeout=2.0 if HANG in steps else PATIENCE_SECONDS)
    assert CANARY not in repr(llm)
    with pytest.raises(AbstractCoreError) as caught:
        list(call_style.stream(llm, "hi")) if call == "stream" else call_style.generate(llm, "hi")
    assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"
    assert CANARY not in error_text(caught.value)
    assert CANARY not in variables(caught.value)


# Limits


def test_transports_with_equal_settings_are_shared(services):
    assert services.sync_transport(TransportSettings()) is services.sync_transport()
    assert services.async_transport(TransportSettings()) is services.async_transport(TransportSettings())
    assert services.sync_transport(TransportSettings(proxy="http://a:1")) is not services.sync_transport(
        TransportSettings()
    )


def test_certificates_are_loaded_once_for_all_transports():
    """Reading them takes 40 ms."""
    assert TransportSettings().tls("https") is TransportSettings(max_connections=3).tls("https")
    assert TransportSettings().tls("http") is TransportSettings(verify="/no/such/file").tls("http")


def test_closed_services_can_be_reused(call_style, server, connect, services: Services):
    server.always(completion())
    llm = connect()
    call_style.generate(llm, "hi")
    services.close()
    assert call_style.generate(llm, "hi").content == "hello"


def test_early_response_to_a_long_request_is_read(call_style, server, connect):
    """The server may refuse before it has read everything, and close."""
    server.always(failure(413, "too long"), CUT)
    with pytest.raises(ProviderError):
        call_style.generate(connect(max_retries=0), "x" * 3_000_000)


def test_complete_stream_releases_its_connection_after_done(call_style, server, connect):
    server.script(streamed("a"))
    server.script(streamed("b"))
    llm = connect()
    for text in ("a", "b"):
        assert "".join(call_style.stream(llm, "hi").text()) == text
    assert len(server.connections) == 1


LIBRARIES = ["httpx2", "fast"]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("status", "error"), [(401, AuthenticationError), (404, NotFoundError), (429, RateLimitError), (500, ServerError)]
)
def test_error_in_an_unexpected_encoding_has_the_class_of_its_status(
    call_style, server, connect, library, streamed, status, error
):
    server.script(answer(b"\x0b\x02\x80no\x03", status, content_encoding="br", retry_after="3"))
    llm = connect(transport=library, max_retries=0)
    with pytest.raises(error, match="unexpected Content-Encoding 'br'") as caught:
        if streamed:
            with call_style.stream(llm, "hi") as stream:
                list(stream)
        else:
            call_style.generate(llm, "hi")
    assert type(caught.value) is error
    assert (caught.value.status, caught.value.retry_after) == (status, 3)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_gzip_response_with_several_members_is_read_to_its_end(call_style, server, connect, library, streamed):
    llm = connect(transport=library)
    if streamed:
        events = [delta("one, "), delta("two", "stop"), DONE]
        packed = b"".join(chunk(gzip.compress(event)) for event in events)
        server.script(stream_head(content_encoding="gzip"), packed, LAST_CHUNK)
        with call_style.stream(llm, "hi") as stream:
            assert "".join(stream.text()) == "one, two"
    else:
        body = json.dumps(completion_body("one, two")).encode()
        server.script(answer(gzip.compress(body[:40]) + gzip.compress(body[40:]), content_encoding="gzip"))
        assert call_style.generate(llm, "hi").content == "one, two"
