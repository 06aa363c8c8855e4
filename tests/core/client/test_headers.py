"""`headers=`: sent with every request, overriding all others, and never stored or shown."""

from __future__ import annotations

import pickle
from typing import Any

import httpx2
import pytest

from abstractcore import InvalidInputError, NotFoundError, Services, create_llm, record, to_json
from abstractcore.errors import AuthenticationError
from abstractcore.ports import Answer, CallContext, CallNext
from abstractcore.testing.transports.cases import error_text
from tests.chaos_server import completion, failure, streamed

SECRET = "gateway-secret-0123456789"


def test_call_headers_override_llm_headers(call_style, server, connect):
    server.always(completion())
    llm = connect(headers={"X-Team": "search", "X-Room": "1"})
    call_style.generate(llm, "hi")
    call_style.generate(llm, "hi", headers={"x-team": "maps"})
    call_style.generate(llm, "hi", options={"headers": {"X-Room": "2"}})
    call_style.generate(llm, "hi", headers=None)
    shown = [(request.headers.get("x-team"), request.headers.get("x-room")) for request in server.requests]
    assert shown == [("search", "1"), ("maps", "1"), ("search", "2"), (None, None)]


def test_streams_and_calls_as_data_send_headers(call_style, server, connect):
    llm = connect(headers={"X-Team": "search"})
    server.script(streamed("hel", "lo"))
    with call_style.stream(llm, "hi") as stream:
        assert list(stream)
    server.script(completion())
    llm.run(llm.build("hi"))
    assert [request.headers["x-team"] for request in server.requests] == ["search", "search"]


@pytest.mark.parametrize("transport", ["httpx2", "fast"])
def test_standard_header_is_sent_once_with_the_given_value(call_style, server, connect, transport: str):
    server.script(completion())
    call_style.generate(connect(headers={"User-Agent": "mine/1"}, transport=transport), "hi")
    (request,) = server.requests
    assert request.headers["user-agent"] == "mine/1", "a repeated field would be joined with commas"


def test_headers_override_those_of_a_custom_http_client(server, connect):
    server.script(completion())
    with httpx2.Client(headers={"X-Team": "client", "User-Agent": "client/1"}) as client:
        connect(headers={"X-Team": "search", "User-Agent": "mine/1"}, http_client=client).generate("hi")
    (request,) = server.requests
    assert (request.headers["x-team"], request.headers["user-agent"]) == ("search", "mine/1")


def test_authorization_header_replaces_the_key(call_style, server, connect):
    server.script(completion())
    call_style.generate(connect(api_key="of-the-vendor", headers={"Authorization": f"Bearer {SECRET}"}), "hi")
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("provider", "header"),
    [
        ("openai", "Authorization"),
        ("anthropic", "x-api-key"),
        ("google", "x-goog-api-key"),
        ("cohere", "authorization"),
    ],
)
def test_authentication_header_makes_the_key_optional(
    call_style, server, services: Services, provider: str, header: str
):
    server.script(failure(404))
    options: dict[str, Any] = {"base_url": f"{server.url}/v1", "services": services, "max_retries": 0}
    llm = create_llm(provider, model="m", headers={header: SECRET}, **options)
    with pytest.raises(NotFoundError):
        call_style.generate(llm, "hi")
    (request,) = server.requests
    assert request.headers[header.lower()] == SECRET
    keys = {"authorization", "x-api-key", "x-goog-api-key"} - {header.lower()}
    assert keys.isdisjoint(request.headers)
    with pytest.raises(AuthenticationError, match="no API key"):
        create_llm(provider, model="m", headers={"X-Team": "search"}, **options)


@pytest.mark.parametrize(
    ("headers", "path", "what"),
    [
        ({"X-Team": f"{SECRET}\r\nX-Evil: 1"}, "headers.X-Team", "characters that are not allowed in HTTP headers"),
        ({"X-Team": f"{SECRET}\n"[:-1] + "\0"}, "headers.X-Team", "characters"),
        ({"X-Team": f"{SECRET}é"}, "headers.X-Team", "characters"),
        ({"X-Team": 5}, "headers.X-Team", "expected text, got int"),
        ({"X Team": SECRET}, "headers", "'X Team' is not a valid header name"),
        ({"X-Team\r\nX-Evil": SECRET}, "headers", "is not a valid header name"),
        ({"": SECRET}, "headers", "is not a valid header name"),
        ({5: SECRET}, "headers", "5 is not a valid header name"),
        ({"Host": SECRET}, "headers.Host", "is set by the transport"),
        ({"content-length": "5"}, "headers.content-length", "is set by the transport"),
        ({"Transfer-Encoding": "chunked"}, "headers.Transfer-Encoding", "is set by the transport"),
        ([("X-Team", SECRET)], "headers", "expected a mapping, got list"),
    ],
)
def test_invalid_header_is_refused_without_showing_its_value(connect, server, headers: Any, path: str, what: str):
    for give in (lambda: connect(headers=headers), lambda: connect().generate("hi", headers=headers)):
        with pytest.raises(InvalidInputError, match=what) as caught:
            give()
        assert caught.value.path == path
        assert SECRET not in error_text(caught.value)
    assert server.requests == []


def test_building_a_call_with_headers_is_an_error(connect):
    llm = connect(headers={"X-Team": SECRET})
    assert SECRET not in to_json(llm.build("hi"))
    for given in ({"headers": {"X-Team": SECRET}}, {"options": {"headers": {"X-Team": SECRET}}}):
        with pytest.raises(InvalidInputError, match="has no headers") as caught:
            llm.build("hi", **given)
        assert (caught.value.path, SECRET in error_text(caught.value)) == ("headers", False)
        assert list(llm.plan("hi", **given)) == []


def test_headers_are_in_no_record_repr_or_cassette(call_style, server, connect, services: Services, tmp_path):
    records: list[Any] = []
    shown: list[str] = []

    class Shows:
        async def around_call(self, context: CallContext, next: CallNext) -> Answer:
            shown.append(repr(context))
            assert context.headers == {"x-key": SECRET, "x-gateway": SECRET}
            return await next(context)

    server.script(completion())
    path = tmp_path / "calls.jsonl"
    with services.records.subscribe(records.append, "full"):
        llm = connect(headers={"X-Key": SECRET}, middleware=[Shows(), record(path)])
        response = call_style.generate(llm, "hi", headers={"X-Gateway": SECRET})
        assert services.records.flush(30.0)
    assert server.requests[0].headers["x-gateway"] == SECRET
    for text in (repr(llm), repr(response), repr(records), *shown, path.read_text(), str(pickle.dumps(response))):
        assert SECRET not in text
