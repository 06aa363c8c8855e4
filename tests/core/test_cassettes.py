"""Recording and replaying, in both colours: what went over the network comes again without one, and without keys."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from urllib.parse import quote

import pytest

from abstractcore import (
    AuthenticationError,
    CassetteError,
    ConnectionFailedError,
    ContextOverflowError,
    InvalidInputError,
    ModelReply,
    RateLimitError,
    ReplayMismatchError,
    Services,
    StreamInterruptedError,
    TextPart,
    create_llm,
    record,
    replay,
)
from abstractcore.cassettes.scrubbing import SCRUBBED, Scrubber, keys_in
from abstractcore.schema import WireRequest
from abstractcore.testing import VirtualClock
from tests.chaos_server import CUT, HANG, chunk, completion, delta, failure, stream_head, streamed

CANARY = "canary-1f6b2c9d8e7a"
CLOSED = "http://127.0.0.1:1/v1"


@pytest.fixture
def clock() -> VirtualClock:
    """Pauses take no time here."""
    return VirtualClock()


@pytest.fixture
def services(services, clock):
    services = Services(environment={}, random=lambda: 0.0, clock=clock)
    yield services
    services.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "cassette.jsonl"


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def again(connect, path):
    """An LLM that nothing answers but the recording, and its replay."""

    def again(**options):
        player = replay(path)
        return connect(base_url=CLOSED, middleware=[player], **options), player

    return again


def test_what_was_recorded_comes_again_without_a_server(colour, server, connect, path, again):
    server.script(completion("one"))
    server.script(completion("two", headers={"x_request_id": "r-2"}))
    llm = connect(middleware=[record(path)])
    first = [colour.generate(llm, prompt) for prompt in ("a", "b")]
    llm, player = again()
    second = [colour.generate(llm, prompt) for prompt in ("b", "a")][::-1]
    assert [response.reply for response in second] == [response.reply for response in first]
    assert [response.content for response in second] == ["one", "two"]
    assert [(each.status, each.request_id) for each in second[1].attempts] == [(200, "r-2")]
    assert list(player.unused) == []


def test_equal_requests_are_answered_in_their_order(colour, server, connect, path, again):
    for text in ("one", "two", "three"):
        server.script(completion(text))
    llm = connect(middleware=[record(path)])
    for _ in range(3):
        colour.generate(llm, "same")
    llm, player = again()
    assert [colour.generate(llm, "same").content for _ in range(2)] == ["one", "two"]
    assert [exchange.reply.text for exchange in player.unused] == ["three"]


def test_tries_that_failed_come_again_with_their_pauses(colour, server, connect, path, again, clock):
    server.script(failure(429, "slow down", retry_after="7", x_request_id="r-1"))
    server.script(CUT)
    server.script(completion("third"))
    colour.generate(connect(middleware=[record(path)]), "hi")
    pauses = list(clock.sleeps)
    assert [line["error"]["kind"] for line in lines(path)[:2]] == ["RateLimitError", "ConnectionFailedError"]
    clock.sleeps.clear()
    response = colour.generate(again()[0], "hi")
    assert response.content == "third"
    assert clock.sleeps == pauses
    assert clock.sleeps[0] == 7.0
    assert [(each.number, each.status, each.request_id, each.error) for each in response.attempts] == [
        (1, 429, "r-1", "RateLimitError"),
        (2, None, None, "ConnectionFailedError"),
        (3, 200, None, None),
    ]


def test_an_error_comes_again_as_it_was(colour, server, connect, path, again):
    said = "This model's maximum context length is 8 tokens. However, your messages resulted in 11 tokens."
    server.script(failure(400, said, error={"code": "context_length_exceeded"}, x_request_id="r"))
    raised = []
    for llm in (connect(middleware=[record(path)]), None):
        with pytest.raises(ContextOverflowError) as caught:
            colour.generate(llm or again()[0], "hi")
        raised.append({**vars(caught.value), "text": str(caught.value), "attempts": len(caught.value.attempts)})
    assert raised[0] == raised[1]
    assert raised[1]["prompt_tokens"] == 11


def test_a_stream_comes_again_in_its_batches(colour, server, connect, path, again):
    server.script(streamed("a", "b", "c"))
    streams = []
    for make in (lambda: connect(middleware=[record(path)]), lambda: again()[0]):
        with colour.stream(make(), "hi") as stream:
            streams.append((list(stream), stream.response.reply, stream.response.attempts[0].status))
    assert streams[0] == streams[1]
    (line,) = lines(path)
    assert sum(map(len, line["batches"])) == len(streams[0][0])


def test_a_stream_that_broke_breaks_again_at_the_same_place(colour, server, connect, path, again):
    server.script(stream_head() + chunk(delta("a")), CUT)
    for make in (lambda: connect(middleware=[record(path)]), lambda: again()[0]):
        with colour.stream(make(), "hi") as stream, pytest.raises(StreamInterruptedError) as caught:
            list(stream)
        assert caught.value.partial.text == "a"
        assert caught.value.provider == "openai-compatible"


def test_a_stream_left_early_comes_as_far_as_it_was_read(colour, server, connect, path, again):
    server.script(stream_head() + chunk(delta("a")), HANG)
    with colour.stream(connect(middleware=[record(path)]), "hi") as stream:
        assert next(stream.text()) == "a"
    assert lines(path)[0]["left"] is True
    with colour.stream(again()[0], "hi") as stream:
        assert next(stream.text()) == "a"
    with colour.stream(again()[0], "hi") as stream, pytest.raises(CassetteError, match="was left here") as caught:
        list(stream)
    assert caught.value.partial.text == "a"


def test_a_dropped_stream_is_recorded_as_left(server, connect, path):
    server.script(stream_head() + chunk(delta("a")), HANG)
    for _ in connect(middleware=[record(path)]).stream("hi"):
        break
    assert lines(path)[0]["left"] is True


def test_a_stream_that_is_replayed_asks_for_the_stream_that_was_recorded(colour, server, connect, path, again):
    server.script(completion("a"))
    colour.generate(connect(middleware=[record(path)]), "hi")
    with pytest.raises(ReplayMismatchError, match=r'\+ *"stream": true'):
        list(colour.stream(again()[0], "hi"))


def test_a_cancelled_call_is_no_exchange(server, connect, path):
    server.script(HANG)
    llm = connect(middleware=[record(path)])

    async def main() -> None:
        task = asyncio.ensure_future(llm.agenerate("hi"))
        await asyncio.to_thread(server.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert not path.exists()


def test_parallel_calls_leave_whole_lines(server, connect, path, again):
    server.always_by(lambda request: [completion(request.json["messages"][0]["content"] * 1000)])
    llm = connect(middleware=[record(path)])

    def ask(start: int) -> None:
        for number in range(start, start + 8):
            assert llm.generate(f"<{number}>").content == f"<{number}>" * 1000

    async def ask_all() -> None:
        await asyncio.gather(*(llm.agenerate(f"<{number}>") for number in range(100, 116)))

    threads = [threading.Thread(target=ask, args=[start]) for start in range(0, 64, 8)]
    for thread in threads:
        thread.start()
    asyncio.run(ask_all())
    for thread in threads:
        thread.join()
    assert len(lines(path)) == 80
    llm, player = again()
    assert llm.generate("<63>").content == "<63>" * 1000
    assert len(player.unused) == 79


# Requests that were not recorded.


def test_a_request_that_was_not_recorded_shows_how_the_nearest_differs(colour, server, connect, path, again):
    for _ in range(2):
        server.script(completion())
    llm = connect(middleware=[record(path)])
    colour.generate(llm, "What is the capital of France?", temperature=0.5)
    colour.generate(llm, "something else entirely", system_prompt="another")
    llm, player = again()
    with pytest.raises(ReplayMismatchError) as caught:
        colour.generate(llm, "What is the capital of Spain?", temperature=0.5)
    message = caught.value.message
    assert "line 1" in message
    assert '-      "content": "What is the capital of France?",' in message
    assert '+      "content": "What is the capital of Spain?",' in message
    assert "something else" not in message
    assert len(player.unused) == 2


def test_a_request_sent_once_too_often_says_so(colour, server, connect, path, again):
    server.script(completion())
    colour.generate(connect(middleware=[record(path)]), "hi")
    llm, _ = again()
    colour.generate(llm, "hi")
    with pytest.raises(ReplayMismatchError, match="1 times, and it was sent once more"):
        colour.generate(llm, "hi")


def test_a_long_difference_is_shown_in_part(colour, server, connect, path, again):
    server.script(completion())
    colour.generate(connect(middleware=[record(path)]), "x" * 100_000)
    with pytest.raises(ReplayMismatchError) as caught:
        colour.generate(again()[0], "y" * 100_000)
    shown = caught.value.message.splitlines()
    assert (len(shown), shown[-1]) == (42, "...")


def test_an_empty_recording_answers_nothing(colour, path, again):
    path.parent.mkdir()
    path.write_bytes(b"")
    with pytest.raises(ReplayMismatchError, match="is empty"):
        colour.generate(again()[0], "hi")


# Keys.


def test_no_key_is_in_the_file(colour, server, connect, path):
    server.script(failure(401, f"Incorrect API key provided: {CANARY}."))
    server.script(completion("fine"))
    llm = connect(api_key=CANARY, middleware=[record(path)])
    with pytest.raises(AuthenticationError):
        colour.generate(llm, "hi")
    options = {"openai-compatible": {"api_key": CANARY, "mcp": [{"headers": {"Authorization": f"Bearer {CANARY}"}}]}}
    colour.generate(llm, "hi", provider_options=options)
    assert server.requests[1].headers["authorization"] == f"Bearer {CANARY}"
    assert CANARY in server.requests[1].body.decode()
    assert len(lines(path)) == 2
    assert CANARY.encode() not in path.read_bytes()


def test_a_key_that_is_named_is_nowhere_in_the_file(colour, server, connect, path):
    key = f"{CANARY}/+="
    server.script(failure(400, f"Bad header {key}"))
    server.script(completion(f"You said {key}, or {quote(key, '')}."))
    server.script(streamed("My key is ", key))
    llm = connect(middleware=[record(path, secrets=[key])])
    with pytest.raises(Exception, match="Bad header"):
        colour.generate(llm, f"My key is {key}")
    colour.generate(llm, f"My key is {key}")
    list(colour.stream(llm, f"My key is {key}"))
    assert len(lines(path)) == 3
    assert CANARY.encode() not in path.read_bytes()
    player = replay(path, secrets=["another key"])
    llm = connect(base_url=CLOSED, middleware=[player])
    with pytest.raises(ReplayMismatchError):
        colour.generate(llm, "My key is another ke")
    with pytest.raises(Exception, match=r"Bad header \[scrubbed\]"):
        colour.generate(llm, "My key is another key")


def test_keys_of_the_environment_are_known_unless_secrets_are_named(colour, server, connect, path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    for recorder, left in ((record(path), False), (record(path, secrets=[]), True)):
        server.script(completion(CANARY))
        colour.generate(connect(middleware=[recorder]), "hi")
        assert (CANARY in path.read_text()) == left


def test_a_secret_is_not_a_list_of_letters(path):
    with pytest.raises(InvalidInputError, match="secrets: expected a list"):
        record(path, secrets=CANARY)


def scrubbed(body: object = None, *, data: bytes | None = None, url: str = "/", **headers: str):
    sent = json.dumps(body).encode() if data is None else data
    return Scrubber([]).request(WireRequest(url, headers, sent))


@pytest.mark.parametrize("name", ["api_key", "apiKey", "x-api-key", "access_token", "clientSecret", "Authorization"])
def test_fields_named_like_keys_are_scrubbed(name):
    assert scrubbed({"a": [{name: CANARY, "max_tokens": 3}]}).body == {"a": ({name: SCRUBBED, "max_tokens": 3},)}


@pytest.mark.parametrize("name", ["key", "tokens", "max_completion_tokens", "keywords", "tokenizer"])
def test_other_fields_are_left(name):
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
def test_keys_in_texts_and_urls_are_scrubbed(text):
    secret = CANARY.replace("-", "")
    request = scrubbed({"content": text.format(secret)}, url=text.format(secret))
    assert secret not in request.path
    assert secret not in str(request.body)
    assert SCRUBBED in request.path


@pytest.mark.parametrize(
    "text", ["the key: C major", "bearer certificates are paper", "risk-averse", "a=b&c=d", "a@b.c"]
)
def test_plain_words_are_left(text):
    assert scrubbed({"content": text}).body == {"content": text}


def test_only_harmless_headers_keep_their_values():
    headers = {"content-type": "application/json", "anthropic-version": "1", "x-goog-api-key": CANARY, "cookie": CANARY}
    assert dict(scrubbed({}, **headers).headers) == {
        "content-type": "application/json",
        "anthropic-version": "1",
        "x-goog-api-key": SCRUBBED,
        "cookie": SCRUBBED,
    }


def test_a_body_that_is_no_json_is_kept_as_bytes_without_its_keys():
    request = scrubbed(data=b"api_key=" + CANARY.encode() + b"&file=\xff\x00")
    assert request.body is None
    assert request.body_base64 == b"api_key=[scrubbed]&file=\xff\x00"


@pytest.mark.parametrize("data", [b"", b"\xff", b'{"a": NaN}', b'"\\ud800"', b"[" * 5000])
def test_any_body_can_be_recorded(data):
    assert scrubbed(data=data).body_base64 == data


def test_the_environments_keys_are_those_named_so():
    assert keys_in({"OPENAI_API_KEY": "a", "groq_api_key": "b", "HOME": "c", "API_KEYS": "d"}) == ["a", "b"]


# Files.


@pytest.mark.parametrize("content", [b"precious", b'{"cassettes": 1}\n', b'{"schema_version": 1}\n', b"\x00" * 99])
def test_a_file_of_another_kind_is_never_touched(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(CassetteError, match="is no recording"):
        record(path)
    assert path.read_bytes() == content


def test_a_file_that_appears_later_is_not_touched_either(colour, server, connect, path):
    llm = connect(middleware=[record(path)])
    path.parent.mkdir()
    path.write_bytes(b"precious")
    server.script(completion())
    with pytest.raises(CassetteError, match="is no recording"):
        colour.generate(llm, "hi")
    assert path.read_bytes() == b"precious"


def test_an_older_recording_is_replaced_by_the_first_exchange_and_not_before(colour, server, connect, path, again):
    for text in ("old", "new", "newer"):
        server.script(completion(text))
    colour.generate(connect(middleware=[record(path)]), "hi")
    llm = connect(middleware=[record(path)])
    assert colour.generate(again()[0], "hi").content == "old"
    colour.generate(llm, "hi")
    assert [line["reply"]["parts"][0]["text"] for line in lines(path)] == ["new"]
    colour.generate(llm, "hi")
    assert len(lines(path)) == 2


def test_a_folder_is_no_file(path):
    path.mkdir(parents=True)
    for make in (record, replay):
        with pytest.raises(CassetteError, match="directory"):
            make(path)


def test_a_full_disk_leaves_whole_lines(colour, server, connect, path, monkeypatch):
    server.script(completion("one"))
    server.script(completion("two"))
    recorder = record(path)
    llm = connect(middleware=[recorder])
    colour.generate(llm, "hi")
    before = path.read_bytes()
    opened = type(path).open

    def with_a_full_disk(self, *arguments, **options):
        file = opened(self, *arguments, **options)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *exception):
                file.close()

            def write(self, data):
                return file.write(data[:10])

            tell, truncate = file.tell, file.truncate

        return Full()

    monkeypatch.setattr(type(path), "open", with_a_full_disk)
    with pytest.raises(CassetteError, match="No space left"):
        colour.generate(llm, "hi")
    monkeypatch.undo()
    assert path.read_bytes() == before


def test_a_missing_file_says_how_to_make_it(path):
    with pytest.raises(CassetteError, match="No such file") as caught:
        replay(path)
    assert "record(path)" in (caught.value.hint or "")


GOOD = b'{"cassette":1,"request":{"method":"POST","path":"/"},"reply":{}}\n'


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (GOOD[:-1], "line 2: the line is cut off"),
        (GOOD[:20] + b"\n", "line 2: not JSON"),
        (b"\xff\n", "line 2: not JSON"),
        (b"[" * 100_000 + b"\n", "line 2: not JSON"),
        (b"\n", "line 2: not JSON"),
        (b"[]\n", "line 2: no line of a recording"),
        (b'{"type":"model_reply"}\n', "line 2: no line of a recording"),
        (GOOD.replace(b"1", b"2", 1), "line 2: version 2 is not 1"),
        (GOOD.replace(b'"reply":{}', b'"replies":{}'), "line 2: replies: no such field"),
        (GOOD.replace(b',"reply":{}', b""), "line 2: has no reply, batches or error"),
        (GOOD.replace(b"{}", b'{"parts":[{"type":"text"}]}'), r"line 2: reply\.parts\[0\]\.text: missing"),
        (
            GOOD.replace(b'"reply":{}', b'"error":{"kind":"SystemExit","message":"x"}'),
            r"line 2: error\.kind: there is no",
        ),
        (GOOD.replace(b'"reply":{}', b'"batches":[[{"type":"x"}]]'), r"line 2: batches\[0\]\[0\]\.type: unknown"),
    ],
)
def test_a_broken_line_is_named(path, line, what):
    path.parent.mkdir()
    path.write_bytes(GOOD + line)
    with pytest.raises(CassetteError, match=what):
        replay(path)


def test_a_reply_with_files_in_it_comes_again(colour, path):
    from abstractcore import Blob, ImagePart

    picture = ImagePart(Blob.from_bytes(b"\x89PNG\r\n" * 50, "image/png"))
    reply = ModelReply((TextPart("Here."), picture), "stop")
    llm = create_llm("scripted", replies=[reply], middleware=[record(path)])
    assert colour.generate(llm, "draw").reply == reply
    assert base64.b64encode(b"\x89PNG\r\n" * 50) in path.read_bytes()
    llm = create_llm("scripted", replies=[], middleware=[replay(path)])
    assert colour.generate(llm, "draw").reply == reply


def test_an_error_of_a_plugins_own_class_comes_again_as_ours(colour, path):
    class OwnError(RateLimitError):
        """A plugin's."""

    def fail(call):
        raise OwnError("slow down", retry_after=0.5)

    llm = create_llm("scripted", replies=fail, middleware=[record(path)], max_retries=0)
    with pytest.raises(OwnError):
        colour.generate(llm, "hi")
    with pytest.raises(RateLimitError, match="slow down") as caught:
        colour.generate(create_llm("scripted", replies=[], middleware=[replay(path)], max_retries=0), "hi")
    assert type(caught.value) is RateLimitError
    assert caught.value.retry_after == 0.5


def test_a_recording_can_be_written_by_hand_in_any_order_of_fields(colour, path):
    llm = create_llm("scripted", replies=["a"], middleware=[record(path)])
    colour.generate(llm, "hi")
    (line,) = lines(path)
    path.write_text(json.dumps(dict(reversed(line.items()))) + "\n")
    llm = create_llm("scripted", replies=[], middleware=[replay(path)])
    assert colour.generate(llm, "hi").content == "a"


def test_a_connection_that_fails_is_recorded(colour, connect, path, again):
    for llm in (connect(base_url=CLOSED, max_retries=0, middleware=[record(path)]), None):
        with pytest.raises(ConnectionFailedError, match="cannot connect"):
            colour.generate(llm or again(max_retries=0)[0], "hi")
