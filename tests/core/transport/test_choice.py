"""The choice of the transport: `transport=` and `http_client=`."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading

import httpx2
import pytest

from abstractcore import AbstractCoreError, ConfigurationError, MissingExtraError, create_llm
from abstractcore.testing.transports.cases import error_text
from abstractcore.transport.messages import ConnectionLease
from tests.chaos_server import CUT, HANG, PATIENCE_SECONDS, answer, chunk, completion, delta, stream_head, streamed
from tests.chaos_server import completion_body as body

CANARY = "sk-canary-0123456789"


# transport=


def test_fast_transport_is_libcurl_for_sync_and_aiohttp_for_async_calls(server, connect, services):
    server.always(completion())
    llm = connect(transport="fast")
    assert llm.generate("hi").content == "hello"
    assert asyncio.run(llm.agenerate("hi")).content == "hello"
    assert len(services._pycurl) == len(services._aiohttp) == 1
    assert services._sync == services._async == {}


def test_fast_transport_gives_the_same_stream(call_style, server, connect):
    server.script(streamed("hel", "lo"))
    with call_style.stream(connect(transport="fast"), "hi") as stream:
        assert "".join(stream.text()) == "hello"


def test_unknown_transport_is_refused(connect):
    with pytest.raises(ConfigurationError, match=r"'requests'.*'fast'"):
        connect(transport="requests")


@pytest.mark.parametrize("missing", [["aiohttp"], ["pycurl"], ["aiohttp", "pycurl"]])
def test_missing_package_of_the_fast_transport_is_named_at_creation(connect, monkeypatch, missing):
    monkeypatch.setattr("abstractcore.client.services.find_spec", lambda name: None if name in missing else name)
    with pytest.raises(MissingExtraError, match=f"pip install {' '.join(missing)} \\(part of the extra 'fast'"):
        connect(transport="fast")


def test_socks_proxy_is_refused_with_the_fast_transport(call_style, connect, monkeypatch):
    monkeypatch.setattr("abstractcore.transport.settings.find_spec", lambda name: name)
    with pytest.raises(ConfigurationError, match="SOCKS"):
        connect(transport="fast", proxy="socks5://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    llm = connect(transport="fast", base_url="http://api.test")
    with pytest.raises(ConfigurationError, match="SOCKS"):
        call_style.generate(llm, "hi")


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 3,
        check=False,
    )


LAZY = """
import sys
from abstractcore import create_llm
create_llm("openai-compatible", model="m", base_url="http://127.0.0.1:9", transport="fast")
print({"aiohttp", "pycurl"} & set(sys.modules))
"""


@pytest.mark.process
def test_aiohttp_and_pycurl_are_not_imported_before_the_first_call():
    assert run_python(LAZY).stdout == "set()\n"


NEVER_CLOSED = """
import asyncio, sys
from abstractcore import create_llm
llm = create_llm("openai-compatible", model="m", base_url=sys.argv[1], transport="fast")
for _ in range(2):
    print(asyncio.run(llm.agenerate("hi")).content)
    print(llm.generate("hi").content)
"""


@pytest.mark.process
def test_fast_transport_never_closed_exits_without_a_warning(server, services):
    server.always(completion())
    result = run_python(NEVER_CLOSED, server.url)
    assert (result.stdout, result.stderr, result.returncode) == ("hello\n" * 4, "", 0)
    server.wait_for(lambda: not server.open)


FORKED = """
import asyncio, os, sys
from abstractcore import create_llm
llm = create_llm("openai-compatible", model="m", base_url=sys.argv[1], transport="fast")

async def main():
    stream = llm.astream("hi")
    print((await anext(stream)).type, flush=True)
    child = os.fork()
    if child == 0:
        raise SystemExit(0)  # everything the parent has is torn down in the child
    os.waitpid(child, 0)
    print("forked", flush=True)
    print("".join([text async for text in stream.text()]))

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_exiting_forked_child_does_not_affect_the_parents_stream(server, services):
    gate = server.gate()
    server.script(stream_head(), chunk(delta("hel")), gate, chunk(delta("lo", "stop")) + b"0\r\n\r\n")
    process = subprocess.Popen(
        [sys.executable, "-c", FORKED, server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        gate.open()
        watchdog = threading.Timer(PATIENCE_SECONDS, process.kill)
        watchdog.start()
        rest, errors = process.communicate()
        watchdog.cancel()
    assert (lines[-1], rest, errors) == ("forked\n", "hello\n", "")


# http_client=


@pytest.fixture
def client_of(call_style):
    """Makes sync or async clients, closed after the test."""
    made = []

    def client_of(**options):
        made.append((httpx2.Client if call_style.name == "sync" else httpx2.AsyncClient)(trust_env=False, **options))
        return made[-1]

    yield client_of
    for client in made:
        client.close() if call_style.name == "sync" else call_style.run(client.aclose())


def test_custom_http_client_is_used(call_style, server, connect, client_of):
    server.script(completion("first"))
    server.script(streamed("second"))
    client = client_of(headers={"x-gateway": "g-1"}, params={"tenant": "t"}, cookies={"sso": "s"})
    llm = connect(http_client=client, api_key=CANARY)
    assert call_style.generate(llm, "hi").content == "first"
    assert "".join(call_style.stream(llm, "hi").text()) == "second"
    for request in server.requests:
        assert request.target == "/v1/chat/completions?tenant=t"
        assert request.headers["authorization"] == f"Bearer {CANARY}"
        assert request.headers["x-gateway"] == "g-1"
        assert request.headers["cookie"] == "sso=s"
        assert request.headers["user-agent"].startswith("abstractcore/")
    assert not client.is_closed


def test_http_client_of_the_wrong_class_hints_at_the_right_one(call_style, connect, client_of):
    llm = connect(http_client=client_of())
    needed = "httpx2.AsyncClient" if call_style.name == "sync" else "httpx2.Client"
    with pytest.raises(ConfigurationError, match=f"http_client={needed}"):
        asyncio.run(llm.agenerate("hi")) if call_style.name == "sync" else llm.generate("hi")


def test_authentication_and_event_hooks_of_a_custom_client_work(call_style, server, connect, client_of):
    seen = []

    async def see_later(request):
        seen.append(request.url.path)

    hook = (lambda request: seen.append(request.url.path)) if call_style.name == "sync" else see_later
    server.script(completion())
    client = client_of(auth=("corporate", "secret"), event_hooks={"request": [hook]})
    call_style.generate(connect(http_client=client), "hi")
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert seen == ["/v1/chat/completions"]


def test_custom_client_follows_redirects_only_if_configured_to(call_style, server, connect, client_of):
    server.always_by(
        lambda request: [
            completion("there") if request.target == "/there" else answer(b"", 307, location=f"{server.url}/there")
        ]
    )
    with pytest.raises(AbstractCoreError):
        call_style.generate(connect(http_client=client_of(), max_retries=0), "hi")
    follower = client_of(follow_redirects=True)
    assert call_style.generate(connect(http_client=follower), "hi").content == "there"


def test_mock_transport_answers_without_a_network(call_style, services, client_of):
    def handler(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=body(f"asked of {request.url.host}"))

    client = client_of(transport=httpx2.MockTransport(handler))
    llm = create_llm("openai-compatible/m", base_url="http://mock.test", services=services, http_client=client)
    assert call_style.generate(llm, "hi").content == "asked of mock.test"


def test_asgi_application_answers_without_a_network(services):
    async def application(scope, receive, send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": completion("from the app").partition(b"\r\n\r\n")[2]})

    async def main() -> str:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(application)) as client:
            llm = create_llm("openai-compatible/m", base_url="http://app", services=services, http_client=client)
            return (await llm.agenerate("hi")).content

    assert asyncio.run(main()) == "from the app"


@pytest.mark.parametrize("client", ["client", object(), httpx2.HTTPTransport, 3])
def test_value_that_is_not_a_client_is_refused(connect, client):
    with pytest.raises(ConfigurationError, match=r"httpx2\.Client or an httpx2\.AsyncClient, got"):
        connect(http_client=client)


@pytest.mark.parametrize(
    "option", [{"proxy": "http://x"}, {"verify": True}, {"transport": "httpx2"}, {"max_connections": 3}]
)
def test_connection_options_with_http_client_are_refused(connect, client_of, option):
    (name,) = option
    with pytest.raises(ConfigurationError, match=f"`{name}` has no effect"):
        connect(http_client=client_of(), **option)


def test_closed_client_is_a_configuration_error(call_style, connect, client_of):
    client = client_of()
    client.close() if call_style.name == "sync" else call_style.run(client.aclose())
    with pytest.raises(ConfigurationError, match="closed"):
        call_style.generate(connect(http_client=client), "hi")


def test_event_hook_that_raises_for_status_is_named(call_style, server, connect, client_of):
    async def check_later(response):
        response.raise_for_status()

    hook = httpx2.Response.raise_for_status if call_style.name == "sync" else check_later
    server.script(answer("no", 401))
    llm = connect(http_client=client_of(event_hooks={"response": [hook]}), api_key=CANARY, max_retries=0)
    with pytest.raises(ConfigurationError, match=r"hook.*401") as caught:
        call_style.generate(llm, "hi")
    assert CANARY not in error_text(caught.value)


def test_async_client_in_a_second_event_loop_is_a_configuration_error(server, connect):
    server.always(completion())
    client = httpx2.AsyncClient(trust_env=False)
    llm = connect(http_client=client)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        assert first.run(llm.agenerate("hi")).content == "hello"
        with pytest.raises(ConfigurationError, match="Use an AsyncClient in the event loop"):
            second.run(llm.agenerate("hi"))
        first.run(client.aclose())


@pytest.mark.parametrize("script", [[CUT], [HANG], [b"nonsense\r\n\r\n", CUT]])
def test_failures_of_a_custom_client_are_our_errors_without_the_key(call_style, server, connect, client_of, script):
    server.script(*script)
    llm = connect(http_client=client_of(), api_key=CANARY, max_retries=0, timeout=0.3)
    with pytest.raises(AbstractCoreError) as caught:
        call_style.generate(llm, "hi")
    assert CANARY not in error_text(caught.value)


def test_aborting_one_http2_stream_leaves_the_connection_to_others():
    class Stream:
        def get_extra_info(self, name: str) -> None:
            raise AssertionError("the connection is others' too")

    lease = ConnectionLease()
    lease.trace("http2.send_request_headers.started", {})
    lease.cut(httpx2.Response(200, extensions={"http_version": b"HTTP/2", "network_stream": Stream()}))
    lease.trace("http11.send_request_headers.started", {})
    with pytest.raises(AssertionError):
        lease.cut(httpx2.Response(200, extensions={"http_version": b"HTTP/1.1", "network_stream": Stream()}))
