"""Cassettes contain no keys."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from abstractcore import (
    AuthenticationError,
    InvalidInputError,
    ReplayMismatchError,
    TextDelta,
    create_llm,
    record,
    replay,
)
from abstractcore.middleware.cassettes.recording import SCRUBBED, Scrubber, keys_in
from abstractcore.schema import WireRequest
from abstractcore.testing import ScriptedReply
from tests.chaos_server import DONE, LAST_CHUNK, chunk, completion, event, failure, stream_head, streamed
from tests.core.middleware.cassettes.lines import CLOSED, lines

CANARY = "canary-1f6b2c9d8e7a"


def tool_call_stream(name: str, *arguments: str) -> bytes:
    """A streamed chat completion with one call, whose arguments arrive in pieces."""
    calls = [{"index": 0, "id": "c1", "type": "function", "function": {"name": name, "arguments": ""}}]
    calls += [{"index": 0, "function": {"arguments": each}} for each in arguments]
    choices = [{"index": 0, "delta": {"tool_calls": [each]}, "finish_reason": None} for each in calls]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    events = [event({"id": "chat-1", "model": "m", "choices": [choice]}) for choice in choices]
    return stream_head() + b"".join(map(chunk, [*events, DONE])) + LAST_CHUNK


def test_cassette_contains_no_key(call_style, server, connect, path):
    server.script(failure(401, f"Incorrect API key provided: {CANARY}."))
    server.script(completion("fine"))
    llm = connect(api_key=CANARY, middleware=[record(path)])
    with pytest.raises(AuthenticationError):
        call_style.generate(llm, "hi")
    options = {"openai-compatible": {"api_key": CANARY, "mcp": [{"headers": {"Authorization": f"Bearer {CANARY}"}}]}}
    call_style.generate(llm, "hi", provider_options=options)
    assert server.requests[1].headers["authorization"] == f"Bearer {CANARY}"
    assert CANARY in server.requests[1].body.decode()
    assert len(lines(path)) == 2
    assert CANARY.encode() not in path.read_bytes()


def test_named_secret_is_not_in_the_cassette(call_style, server, connect, path):
    key = f"{CANARY}/+="
    server.script(failure(400, f"Bad header {key}"))
    server.script(completion(f"You said {key}, or {quote(key, '')}."))
    server.script(streamed("My key is ", key))
    llm = connect(middleware=[record(path, secrets=[key])])
    with pytest.raises(Exception, match="Bad header"):
        call_style.generate(llm, f"My key is {key}")
    call_style.generate(llm, f"My key is {key}")
    list(call_style.stream(llm, f"My key is {key}"))
    assert len(lines(path)) == 3
    assert CANARY.encode() not in path.read_bytes()
    player = replay(path, secrets=["another key"])
    llm = connect(base_url=CLOSED, middleware=[player])
    with pytest.raises(ReplayMismatchError):
        call_style.generate(llm, "My key is quite another")
    with pytest.raises(Exception, match=r"Bad header \[scrubbed\]"):
        call_style.generate(llm, "My key is another key")


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_key_divided_over_the_deltas_of_a_stream_is_not_in_the_cassette(call_style, path, size):
    text = f"My key is {CANARY}, and {CANARY[:12]} is its beginning. Keep it."
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    llm = create_llm("scripted", replies=[ScriptedReply.chunks(pieces)], middleware=[record(path, secrets=[CANARY])])
    with call_style.stream(llm, "hi") as stream:
        assert "".join(stream.text()) == text
    (line,) = lines(path)
    deltas = [each["text"] for batch in line["batches"] for each in batch if each["type"] == "text_delta"]
    assert "".join(deltas) == f"My key is {SCRUBBED}, and {SCRUBBED} is its beginning. Keep it."
    assert len(deltas) == len(pieces)
    assert deltas[0] == pieces[0] or size > 7
    llm = create_llm("scripted", middleware=[replay(path)])
    with call_style.stream(llm, "hi") as stream:
        assert [each.text for each in stream if isinstance(each, TextDelta)] == deltas


def test_key_divided_over_the_arguments_of_a_streamed_call_is_not_in_the_cassette(call_style, server, connect, path):
    server.script(tool_call_stream("login", '{"with": "canary-1f6', "b2c9d", '8e7a"}'))
    server.script(streamed("Fine."))
    used = []

    def login(**arguments: str) -> None:
        used.append(arguments["with"])

    llm = connect(api_key=CANARY, middleware=[record(path)])
    with call_style.stream(llm, "hi", tools=[login], run_tools=True) as stream:
        assert "".join(stream.text()) == "Fine."
    assert used == [CANARY]
    sent = [each for line in lines(path) for batch in line["batches"] for each in batch]
    arguments = "".join(each.get("arguments_text", "") for each in sent)
    assert json.loads(arguments) == {"with": SCRUBBED}
    assert CANARY.encode() not in path.read_bytes()


def test_environment_keys_are_redacted_unless_secrets_are_named(call_style, server, connect, path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    for recorder, left in ((record(path), False), (record(path, secrets=[]), True)):
        server.script(completion(CANARY))
        call_style.generate(connect(middleware=[recorder]), "hi")
        assert (CANARY in path.read_text()) == left


def test_secrets_must_be_a_list(path):
    with pytest.raises(InvalidInputError, match="secrets: expected a list"):
        record(path, secrets=CANARY)


def scrubbed(body: object = None, *, data: bytes | None = None, url: str = "/", **headers: str):
    sent = json.dumps(body).encode() if data is None else data
    return Scrubber([]).request(WireRequest(url, headers, sent))


@pytest.mark.parametrize("name", ["api_key", "apiKey", "x-api-key", "access_token", "clientSecret", "Authorization"])
def test_fields_named_like_keys_are_redacted(name):
    assert scrubbed({"a": [{name: CANARY, "max_tokens": 3}]}).body == {"a": [{name: SCRUBBED, "max_tokens": 3}]}


@pytest.mark.parametrize("name", ["key", "tokens", "max_completion_tokens", "keywords", "tokenizer"])
def test_other_fields_are_unchanged(name):
    assert scrubbed({name: "value"}).body == {name: "value"}


@pytest.mark.parametrize(
    "text",
    [
        "https://h/p?alt=sse&key={}",
        "/path?api_key={}&x=1",
        "see https://user:{}@host/path",
        "s3://bucket/o?X-Amz-Signature={}",
        "Authorization: Bearer {}-0123456789",
        "sk-proj-{}",
        "AIzaSy{}0123456789012345678901234567",
    ],
)
def test_keys_in_texts_and_urls_are_redacted(text):
    secret = CANARY.replace("-", "")
    request = scrubbed({"content": text.format(secret)}, url=text.format(secret))
    assert secret not in request.path
    assert secret not in str(request.body)
    assert SCRUBBED in request.path


@pytest.mark.parametrize(
    "text", ["the key: C major", "bearer certificates are paper", "risk-averse", "a=b&c=d", "a@b.c"]
)
def test_plain_words_are_unchanged(text):
    assert scrubbed({"content": text}).body == {"content": text}


def test_only_harmless_headers_keep_their_values():
    headers = {"content-type": "application/json", "anthropic-version": "1", "x-goog-api-key": CANARY, "cookie": CANARY}
    assert dict(scrubbed({}, **headers).headers) == {
        "content-type": "application/json",
        "anthropic-version": "1",
        "x-goog-api-key": SCRUBBED,
        "cookie": SCRUBBED,
    }


def test_body_that_is_not_json_is_recorded_as_bytes_without_its_keys():
    request = scrubbed(data=b"api_key=" + CANARY.encode() + b"&file=\xff\x00")
    assert request.body is None
    assert request.body_base64 == b"api_key=[scrubbed]&file=\xff\x00"


@pytest.mark.parametrize("data", [b"", b"\xff", b'{"a": NaN}', b'"\\ud800"', b"[" * 5000])
def test_any_body_can_be_recorded(data):
    assert scrubbed(data=data).body_base64 == data


def test_environment_keys_are_variables_ending_in_api_key():
    assert keys_in({"OPENAI_API_KEY": "a", "groq_api_key": "b", "HOME": "c", "API_KEYS": "d"}) == ["a", "b"]
