"""Voices over WebSocket: sound before the text is complete, times of words, and connections that fail."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from websockets.sync.server import ServerConnection

from abstractcore import (
    LLM,
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    MissingExtraError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    Services,
    StreamInterruptedError,
    UnexpectedResponseError,
    create_llm,
)
from abstractcore.testing import VirtualClock
from abstractcore.testing.sync_and_async import AsyncCalls, CallStyle
from tests.backend_doubles import spoken
from tests.plugins.voice.remote.fakes import KEY, sound_of
from tests.plugins.voice.remote.websocket_servers import SERVERS, WebSocketVendor, encoded

VENDORS = [*SERVERS]
TIMED = ["elevenlabs", "cartesia"]
SENTENCES = ["Hello there.", "The train costs much."]
TEXT = " ".join(SENTENCES)


class Live(NamedTuple):
    """A vendor's server, and an LLM that speaks by it."""

    server: WebSocketVendor
    llm: LLM


Connect = Callable[..., Live]


@pytest.fixture
def live() -> Iterator[Connect]:
    """`live(name, **options)` returns a vendor."""
    opened: list[tuple[WebSocketVendor, Services]] = []

    def connect(name: str, **options: Any) -> Live:
        server = SERVERS[name]()
        services = Services(environment={}, clock=options.pop("clock", None))
        opened.append((server, services))
        given: dict[str, Any] = {
            "voice_backend": name,
            "voice_base_url": server.url,
            "voice_api_key": KEY,
            "voice_websocket": True,
            "replies": [],
            **options,
        }
        return Live(server, create_llm("scripted", services=services, **given))

    yield connect
    for server, services in opened:
        services.close()
        server.stop()


def joined(parts: list[Any]) -> bytes:
    """The sound of parts."""
    return b"".join(part.blob.read() for part in parts)


def failing(llm: LLM, error: type[Exception], **options: Any) -> tuple[Any, list[Any]]:
    """Returns the error of a stream of two sentences, and the parts before it."""
    parts: list[Any] = []
    with pytest.raises(error) as caught, llm.voice.tts_stream(TEXT, **options) as stream:
        for part in stream:
            parts.append(part)  # noqa: PERF402
    return caught.value, parts


def first_sound(name: str, text: str) -> str | bytes:
    """A message with sound of the first sentence, as the vendor sends it."""
    sound = sound_of(text)
    if name == "deepgram":
        return sound
    if name == "cartesia":
        return json.dumps({"type": "chunk", "context_id": "s1", "data": encoded(sound), "done": False})
    return json.dumps({"audio": encoded(sound), "contextId": "s1"})


@pytest.mark.parametrize("name", VENDORS)
def test_sentences_share_one_connection(live: Connect, call_style: CallStyle, name: str) -> None:
    vendor = live(name)
    parts, result = spoken(call_style, vendor.llm.voice, iter(["Hello **the", "re**. The tr", "ain costs much."]))
    assert vendor.server.texts == SENTENCES
    assert vendor.server.connections == 1
    assert joined(parts) == sound_of("".join(SENTENCES))
    assert " ".join(part.transcript for part in parts if part.transcript) == TEXT
    assert result.usage.billing.counts["character"] == len("".join(SENTENCES))


@pytest.mark.parametrize("name", VENDORS)
def test_sound_comes_before_the_text_is_complete(live: Connect, call_style: CallStyle, name: str) -> None:
    vendor = live(name)
    first = threading.Event()

    def text() -> Iterator[str]:
        yield "Hello there. The"
        assert first.wait(60)
        yield " train costs much."

    def heard(part: Any) -> Any:
        first.set()
        return part

    if isinstance(call_style, AsyncCalls):

        async def read() -> list[Any]:
            async with vendor.llm.voice.atts_stream(text()) as stream:
                return [heard(part) async for part in stream]

        parts = call_style.run(read())
    else:
        with vendor.llm.voice.tts_stream(text()) as stream:
            parts = [heard(part) for part in stream]
    assert joined(parts) == sound_of("".join(SENTENCES))


@pytest.mark.parametrize("name", TIMED)
def test_words_have_the_times_of_the_vendor(live: Connect, call_style: CallStyle, name: str) -> None:
    parts, _ = spoken(call_style, live(name).llm.voice, TEXT)
    words = [word for part in parts for word in part.provider_options["voice"].get("words", [])]
    assert [word["text"] for word in words] == TEXT.split()
    first = len(SENTENCES[0])
    assert [word["until"] for word in words] == pytest.approx(
        [0.01 * end for end in (5, first, first + 3, first + 9, first + 15, first + 21)]
    )
    assert [word["source_end"] for word in words] == [5, 12, 16, 22, 28, 34]


@pytest.mark.parametrize("times", [{"words": ["Goodbye"], "end": [0.05]}, {"words": ["Hello"], "end": []}, None])
def test_times_of_another_text_leave_words_without_times(live: Connect, times: object) -> None:
    vendor = live("cartesia")

    def play(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(first_sound("cartesia", "Hello there."))
        connection.send(json.dumps({"type": "timestamps", "context_id": "s1", "word_timestamps": times}))
        connection.send(json.dumps({"type": "done", "context_id": "s1", "done": True}))

    vendor.server.plays.append(play)
    with vendor.llm.voice.tts_stream(SENTENCES[0]) as stream:
        (part,) = stream
    assert part.transcript == "Hello there."
    words = [{"text": "Hello", "source_end": 5}, {"text": "there.", "source_end": 12}]
    assert part.provider_options["voice"]["words"] == words


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, b'{"message": "no such thing"}', BadRequestError),
        (401, b'{"detail": {"status": "invalid_api_key", "message": "no such thing"}}', AuthenticationError),
        (402, b"no such thing", QuotaError),
        (404, b'{"err_code": "X", "err_msg": "no such thing"}', NotFoundError),
        (429, b'{"message": "no such thing"}', RateLimitError),
        (500, b"no such thing", ServerError),
    ],
)
def test_refused_handshake_is_the_vendors_error(
    live: Connect, name: str, status: int, body: bytes, error: type[ProviderError]
) -> None:
    vendor = live(name, clock=VirtualClock())
    vendor.server.refusals += [(status, body, {})] * 3
    caught, parts = failing(vendor.llm, error)
    assert "no such thing" in str(caught)
    assert caught.status == status
    assert parts == []
    assert len(vendor.server.refusals) == (0 if caught.retryable else 2)


@pytest.mark.parametrize("name", VENDORS)
def test_busy_vendor_is_connected_to_again(live: Connect, call_style: CallStyle, name: str) -> None:
    vendor = live(name)
    vendor.server.refusals.append((503, b"busy", {"Retry-After": "0"}))
    parts, _ = spoken(call_style, vendor.llm.voice, TEXT)
    assert joined(parts) == sound_of("".join(SENTENCES))


def test_redirect_does_not_take_the_key_elsewhere(live: Connect) -> None:
    vendor, elsewhere = live("elevenlabs"), live("elevenlabs")
    address = elsewhere.server.url.replace("http:", "ws:")
    vendor.server.refusals.append((302, b"", {"Location": f"{address}/v1/text-to-speech/x/multi-stream-input"}))
    caught, _ = failing(vendor.llm, BadRequestError)
    assert caught.status == 302
    assert elsewhere.server.connections == 0


@pytest.mark.parametrize("name", VENDORS)
def test_connection_that_was_closed_while_idle_is_opened_again(live: Connect, call_style: CallStyle, name: str) -> None:
    vendor = live(name)
    take, sentences = vendor.server.take, 0

    def take_one(connection: ServerConnection, message: Any) -> None:
        nonlocal sentences
        take(connection, message)
        if len(vendor.server.texts) > sentences and not (name == "elevenlabs" and "close_context" not in message):
            sentences += 1
            connection.close(1000)

    vendor.server.take = take_one
    parts, _ = spoken(call_style, vendor.llm.voice, TEXT)
    assert joined(parts) == sound_of("".join(SENTENCES))
    assert vendor.server.connections >= 2


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [
        (1000, "", StreamInterruptedError),
        (1001, "restart", StreamInterruptedError),
        (1011, "internal", StreamInterruptedError),
        (1008, "bad message", BadRequestError),
        (1008, "quota_exceeded", QuotaError),
        (1008, "Invalid API key", AuthenticationError),
        (1013, "later", OverloadedError),
        (4001, "nonsense", BadRequestError),
    ],
)
def test_close_code_in_the_middle_is_an_error_and_nothing_is_spoken_twice(
    live: Connect, name: str, code: int, reason: str, error: type[ProviderError]
) -> None:
    vendor = live(name)

    def play(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(first_sound(name, "Hel"))
        connection.send(first_sound(name, "lo"))
        connection.close(code, reason)

    vendor.server.plays.append(play)
    caught, parts = failing(vendor.llm, error)
    assert str(code) in str(caught)
    assert joined(parts) == sound_of("Hello" if name == "deepgram" else "Hel")
    assert vendor.server.connections == 1


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    "garbage",
    ["nonsense", "[]", '{"audio": "?", "contextId": "s1", "type": "chunk", "context_id": "s1", "data": "?"}', "", "{"],
)
def test_message_that_is_not_of_the_format_is_unexpected(live: Connect, name: str, garbage: str) -> None:
    vendor = live(name)
    if name == "deepgram" and "?" in garbage:
        garbage = "null"

    def play(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(garbage)
        connection.recv()

    vendor.server.plays.append(play)
    failing(vendor.llm, UnexpectedResponseError)
    assert vendor.server.connections == 1


@pytest.mark.parametrize(
    ("name", "message", "error"),
    [
        ("cartesia", {"type": "error", "done": True, "status_code": 404, "message": "no such voice"}, NotFoundError),
        ("cartesia", {"type": "error", "done": True, "status_code": 402, "title": "No credits"}, QuotaError),
        ("elevenlabs", {"error": "voice_not_found", "message": "no such voice", "code": 1008}, BadRequestError),
        ("elevenlabs", {"error": "quota_exceeded", "message": "0 credits left"}, QuotaError),
        ("deepgram", {"type": "Warning", "code": "X", "description": "text too long"}, BadRequestError),
    ],
)
def test_message_that_reports_an_error_is_typed(
    live: Connect, name: str, message: object, error: type[ProviderError]
) -> None:
    vendor = live(name)

    def play(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(json.dumps(message))
        connection.recv()

    vendor.server.plays.append(play)
    failing(vendor.llm, error)


@pytest.mark.parametrize("name", VENDORS)
def test_server_that_never_answers_ends_at_the_time_limit(live: Connect, name: str) -> None:
    vendor = live(name)

    def play(connection: ServerConnection) -> None:
        for _ in connection:
            continue

    vendor.server.plays += [play] * 3
    failing(vendor.llm, RequestTimeoutError, timeout=0.3)


@pytest.mark.process
@pytest.mark.parametrize("name", VENDORS)
def test_server_that_falls_silent_ends_without_a_time_limit_too(
    live: Connect, call_style: CallStyle, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abstractvoice.remote.live.IDLE_SECONDS", 0.2)
    vendor = live(name)

    def play(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(first_sound(name, "Hel"))
        connection.send(first_sound(name, "lo"))
        for _ in connection:
            continue

    vendor.server.plays.append(play)
    with pytest.raises(RequestTimeoutError, match="no sound arrived"):
        spoken(call_style, vendor.llm.voice, TEXT, timeout=None)
    assert vendor.server.closed.acquire(timeout=60)


@pytest.mark.parametrize("name", VENDORS)
def test_stream_that_is_left_closes_the_connection(live: Connect, call_style: CallStyle, name: str) -> None:
    vendor = live(name)

    def play(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(first_sound(name, "Hel"))
        connection.send(first_sound(name, "lo"))
        for _ in connection:
            continue

    vendor.server.plays.append(play)
    if isinstance(call_style, AsyncCalls):

        async def leave() -> None:
            async with vendor.llm.voice.atts_stream(TEXT) as stream:
                async for _ in stream:
                    break

        call_style.run(leave())
    else:
        with vendor.llm.voice.tts_stream(TEXT) as stream:
            next(stream)
    assert vendor.server.closed.acquire(timeout=60)
    assert vendor.server.connections == 1


@pytest.mark.parametrize("name", VENDORS)
def test_cancelled_task_closes_the_connection(live: Connect, name: str) -> None:
    vendor = live(name)
    waiting = threading.Event()

    def play(connection: ServerConnection) -> None:
        connection.recv()
        waiting.set()
        for _ in connection:
            continue

    vendor.server.plays.append(play)

    async def read() -> None:
        async with vendor.llm.voice.atts_stream(TEXT, timeout=None) as stream:
            async for _ in stream:
                continue

    async def cancel() -> None:
        task = asyncio.create_task(read())
        await asyncio.to_thread(waiting.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert vendor.server.closed.acquire(timeout=60)
    assert vendor.server.connections == 1


@pytest.mark.parametrize("name", TIMED)
def test_interrupted_answer_ends_at_the_word_that_was_heard(live: Connect, name: str) -> None:
    vendor = live(name, replies=[TEXT])
    with vendor.llm.voice.reply("Greet me.") as reply:
        list(reply)
        heard = reply.interrupt(played_seconds=0.245)  # "costs" is said from 0.22 to 0.27
    assert (heard.text, heard.means) == ("Hello there. The train", "word_times")


def test_deepgram_gets_another_connection_after_the_flushes_that_it_allows(live: Connect) -> None:
    vendor = live("deepgram")
    with vendor.llm.voice.tts_stream("Yes it is. " * 45) as stream:
        parts = list(stream)
    assert joined(parts) == sound_of("Yes it is." * 45)
    assert vendor.server.connections == 3


@pytest.mark.parametrize("name", VENDORS)
def test_key_is_in_no_error_and_no_log(live: Connect, name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    vendor = live(name)
    vendor.server.refusals.append((403, f"bad key {KEY}".encode(), {"X-Echo": KEY}))
    refused, _ = failing(vendor.llm, ProviderError)

    def play(connection: ServerConnection) -> None:
        connection.recv()
        connection.close(4003, f"bad key {KEY}")

    vendor.server.plays.append(play)
    closed, _ = failing(vendor.llm, ProviderError)
    for error in (refused, closed):
        text = "".join(traceback.TracebackException.from_exception(error, capture_locals=False).format(chain=True))
        assert "bad key" in str(error)
        assert KEY not in text + repr(error)
        assert KEY not in repr(error.__context__) + repr(error.__cause__)
    with vendor.llm.voice.tts_stream(TEXT) as stream:
        list(stream)
    assert KEY not in caplog.text


def test_missing_library_is_named(live: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    vendor = live("cartesia")
    monkeypatch.setitem(sys.modules, "websockets.sync.client", None)
    caught, _ = failing(vendor.llm, MissingExtraError)
    assert caught.hint == "Install with: pip install 'websockets>=17.4,<18'."


@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_vendor_without_websocket_says_so(services: Services, name: str) -> None:
    options: dict[str, Any] = {"voice_backend": name, "voice_api_key": KEY, "voice_websocket": True}
    llm = create_llm("scripted", replies=[], services=services, **options)
    with pytest.raises(ConfigurationError, match="WebSocket"), llm.voice.tts_stream(TEXT) as stream:
        list(stream)
