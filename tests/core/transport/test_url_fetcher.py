"""Files that are given as URLs: downloaded within limits, and from public addresses only."""

from __future__ import annotations

import gzip
import socket
import threading

import httpcore2
import pytest

from abstractcore import File, MediaError, Services, create_llm
from abstractcore.testing.http_server import head
from abstractcore.transport import URLFetcher, name_lookup
from abstractcore.transport.url_fetcher import check_public
from tests.chaos_server import CUT, HANG, Pause, ScriptedServer, answer
from tests.media_doubles import PICTURE, SOUND, registry

MANY = 10_000


@pytest.fixture
def fetcher() -> URLFetcher:
    return URLFetcher(max_bytes=MANY, allow_private=True)


@pytest.fixture
def services(fetcher: URLFetcher):
    services = Services(registry=registry(), environment={}, fetcher=fetcher)
    yield services
    services.close()


def origin(server: ScriptedServer) -> str:
    return server.url.partition("/v1")[0]


def redirect(to: str, status: int = 302) -> bytes:
    return head(status, {"location": to, "content_length": "0"})


# What is done with them


def test_url_that_the_model_does_not_accept_is_downloaded_and_converted(call_style, services, server: ScriptedServer):
    server.script(answer(SOUND, content_type="audio/wav"))
    llm = create_llm("scripted", replies=["a"], services=services)
    url = f"{origin(server)}/talk.wav"
    (planned,) = llm.plan("What is said?", media=[url])
    assert (planned.route, planned.fallback) == ("fallback", "transcript")
    assert server.requests == []
    (decision,) = call_style.generate(llm, "What is said?", media=[url]).media
    assert decision.route == "fallback"
    assert "sound says" in decision.sent.text


def test_url_that_the_provider_reads_is_not_downloaded(call_style, services):
    llm = create_llm("scripted", replies=["a"], accepts=["image"], services=services)
    (decision,) = call_style.generate(llm, "hi", media=["https://example.com/a.png"]).media
    assert decision.route == "native"
    assert llm.calls[0].messages[0].parts[0].blob.form == "url"


def test_url_is_downloaded_for_the_provider_where_that_is_asked_for(call_style, services, server: ScriptedServer):
    server.script(answer(PICTURE, content_type="image/png"))
    llm = create_llm("scripted", replies=["a"], accepts=["image"], services=services)
    response = call_style.generate(llm, "hi", media=[File(f"{origin(server)}/a.png", fetch="us")])
    assert response.warnings == ()
    sent = llm.calls[0].messages[0].parts[0]
    assert (sent.blob.read(), sent.blob.name, sent.controls) == (PICTURE, "a.png", None)


def test_url_that_only_the_provider_may_download_is_refused_without_it(services):
    llm = create_llm("scripted", replies=["a"], services=services)
    with pytest.raises(MediaError, match="is only at the provider"):
        llm.generate("hi", media=[File("https://example.com/a.wav", fetch="vendor")])


def test_url_without_an_extension_is_downloaded_for_its_type(call_style, services, server: ScriptedServer):
    server.script(answer(SOUND, content_type="application/octet-stream"))
    llm = create_llm("scripted", replies=["a"], services=services)
    (decision,) = call_style.generate(llm, "hi", media=[f"{origin(server)}/files?id=7"]).media
    assert (decision.kind, decision.route) == ("audio", "fallback")


# Limits


def test_content_name_and_type_are_those_of_the_answer(fetcher: URLFetcher, server: ScriptedServer):
    server.script(answer(b"abc", content_type="Text/CSV; charset=utf-8"))
    file = fetcher.fetch(f"{origin(server)}/a%20b.csv?x=1")
    assert (file.data, file.media_type, file.name) == (b"abc", "text/csv", "a b.csv")
    assert server.requests[0].headers["accept-encoding"] == "identity"
    assert "authorization" not in server.requests[0].headers


def test_redirects_are_followed_up_to_a_limit(fetcher: URLFetcher, server: ScriptedServer):
    server.script(redirect("/b"))
    server.script(redirect(f"{origin(server)}/c", 308))
    server.script(answer(b"abc"))
    assert fetcher.fetch(f"{origin(server)}/a").data == b"abc"
    for _ in range(6):
        server.script(redirect("/a"))
    with pytest.raises(MediaError, match="redirects more than 5 times"):
        fetcher.fetch(f"{origin(server)}/a")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([answer(bytes(MANY + 1))], "has more than 10,000 bytes"),
        ([answer(b"x", length=MANY + 1)], "has more than 10,000 bytes"),
        ([head(200, {"transfer_encoding": "chunked"}), *[b"ff0\r\n" + bytes(4080) + b"\r\n"] * 4], "10,000 bytes"),
        ([answer(gzip.compress(bytes(10**8)), content_encoding="gzip")], "10,000 bytes"),
        ([answer(b"")], "is empty"),
        ([answer(b"no", 404)], "status 404"),
        ([answer(b"no", 500)], "status 500"),
        ([redirect("ftp://example.com/a")], "the scheme ftp:"),
        ([redirect("file:///etc/passwd")], "the scheme file:|not a valid URL"),
        ([redirect("http://u:p@example.com/a")], "user name or password"),
        ([redirect("http://[::1")], "redirects to an invalid URL"),
        ([redirect("http://example.com/\x7f?token=secret")], "redirects to an invalid URL"),
        ([answer(b"abc", length=9), CUT], "cannot be downloaded"),
    ],
    ids=lambda value: value if isinstance(value, str) else "steps",
)
def test_bad_answer_is_a_typed_error(fetcher: URLFetcher, server: ScriptedServer, steps, message: str):
    server.script(*steps)
    with pytest.raises(MediaError, match=message):
        fetcher.fetch(f"{origin(server)}/a")


@pytest.mark.parametrize(
    "steps", [[HANG], [head(200, {"content_length": "9"}), *[Pause(0.05), b"x"] * 9]], ids=["hangs", "drips"]
)
def test_slow_server_is_left_in_time(server: ScriptedServer, steps):
    server.script(*steps)
    with pytest.raises(MediaError, match=r"took too long|cannot be downloaded"):
        URLFetcher(allow_private=True, timeout=0.2).fetch(f"{origin(server)}/a")


# Addresses that are not public


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:169.254.169.254]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.3.4",
        "100.64.0.1",
        "0.0.0.0",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "localhost",
        "[fe80::1]",
        "[fd00::1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "224.0.0.1",
    ],
)
def test_address_that_is_not_public_is_refused(server: ScriptedServer, host: str):
    port = origin(server).rpartition(":")[2]
    with pytest.raises(MediaError, match=r"not public|cannot be downloaded|not a valid URL"):
        URLFetcher(timeout=5).fetch(f"http://{host}:{port}/a")
    assert server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "http://a@127.0.0.1/",
        "http://example.com\\@127.0.0.1/",
        "http://exa mple.com/",
        "http://example.com\n/",
        "http:///a",
    ],
)
def test_url_that_may_be_read_in_two_ways_is_refused(url: str):
    with pytest.raises(MediaError, match=r"not a valid URL|user name or password"):
        URLFetcher().fetch(url)


def test_name_is_checked_at_each_connection(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer):
    """A name that resolves to a public address first, and to this machine then, as an attacker's server may do."""
    port = int(origin(server).rpartition(":")[2])
    answers = iter(["93.184.215.14", "127.0.0.1"])

    def resolve(host: str, port: int) -> list[name_lookup.AddressInfo]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(name_lookup, "_getaddrinfo", resolve)
    assert name_lookup.addresses("rebinding.example", port, None)[0][4][0] == "93.184.215.14"
    with pytest.raises(MediaError, match=r"127\.0\.0\.1, which is not public"):
        URLFetcher().fetch(f"http://rebinding.example:{port}/a")
    assert server.requests == []


@pytest.mark.parametrize(
    "address",
    ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "::127.0.0.1", "::ffff:0:127.0.0.1", "fec0::1"],
)
def test_ipv6_address_that_leads_to_a_private_one_is_refused(address: str):
    with pytest.raises(httpcore2.ConnectError, match="is not public"):
        check_public("example.com", [address])


def test_public_addresses_are_connected_to():
    check_public("example.com", ["93.184.215.14", "64:ff9b::5db8:d70e", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])


def test_redirect_to_this_machine_is_refused(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch):
    """The first server is taken for a public one by its address."""
    from abstractcore.transport import url_fetcher

    port = origin(server).rpartition(":")[2]
    real = url_fetcher._is_private
    monkeypatch.setattr(url_fetcher, "_is_private", lambda host: host != "127.0.0.1" and real(host))
    server.script(redirect(f"http://127.0.0.2:{port}/secret"))
    with pytest.raises(MediaError, match=r"127\.0\.0\.2, which is not public"):
        URLFetcher().fetch(f"{origin(server)}/a")
    assert len(server.requests) == 1


def test_error_says_how_to_allow_it():
    with pytest.raises(MediaError) as caught:
        URLFetcher().fetch("http://127.0.0.1:1/a")
    assert "allow_private=True" in str(caught.value.hint)


def test_fetcher_may_be_used_by_threads(fetcher: URLFetcher, server: ScriptedServer):
    for _ in range(8):
        server.script(answer(b"abc"))
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(fetcher.fetch(f"{origin(server)}/a").data)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"abc"] * 8
