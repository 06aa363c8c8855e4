"""Stream variants of real servers, end to end, sync and async.

Rows that are tested sync and async elsewhere, over chat completions:

| row | test |
|---|---|
| one event split at any byte | tests/core/client/test_stream.py::test_deltas_do_not_depend_on_chunk_boundaries |
| socket cut | tests/core/client/test_stream.py::test_stream_cut_mid_event_raises_interrupted_with_partial_text |
| leaving the loop early | tests/core/client/test_stream.py::test_leaving_a_stream_early_closes_its_connection |

Without a socket, every printed stream is split at every byte in tests/providers/formats/test_formats.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import (
    OverloadedError,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    ServerError,
    StreamInterruptedError,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from abstractcore.framing import AwsEventStreamMessage
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import CUT, HANG, LAST_CHUNK, answer, chunk, stream_head
from tests.providers.published import provider_of
from tests.providers.wire_streams import INPUT, SPEECH, in_bytes, reply_to, served, text_of

EVENT_FORMATS = [name for name in FORMATS if name not in ("bedrock_converse", "ollama")]
"""Those that stream server-sent events."""
every_format = pytest.mark.parametrize("format", FORMATS)
LONG = "x" * 5 * 1024 * 1024


def failing(call_style, llm, error) -> Any:
    """The error in which a stream ends, and the stream."""
    stream = call_style.stream(llm, "hi")
    with pytest.raises(error) as caught:
        list(stream)
    stream.close()
    return caught.value, stream


# Streams that fail


@every_format
def test_error_event_in_a_200_stream_is_typed_with_the_partial_reply(call_style, server, llm_of, format):
    """Error event inside a 200 stream: typed, with what arrived so far."""
    speech = SPEECH[format]
    frames = [*speech.begin, *speech.text(["Hello"]), speech.error]
    server.script(stream_head(x_request_id="r-1"), chunk(in_bytes(format, frames)), LAST_CHUNK)
    error, stream = failing(call_style, llm_of(format), ServerError if format in PLAIN_FAILURES else OverloadedError)
    assert error.message == "busy"
    assert error.partial.text == stream.partial.text == "Hello"
    assert (error.provider, len(server.requests)) == (provider_of(format), 1)


PLAIN_FAILURES = ("cohere_chat", "ollama", "openai_chat", "openai_responses")
"""Vendors that have no word for having no capacity in a stream."""


@every_format
def test_status_529_is_overloaded(call_style, server, llm_of, format):
    """Status 529: typed."""
    server.script(answer({"error": {"message": "busy"}}, 529))
    error, _ = failing(call_style, llm_of(format, max_retries=0), OverloadedError)
    assert (error.status, error.retryable, error.provider) == (529, True, provider_of(format))


@every_format
def test_closed_socket_is_an_interruption_with_the_partial_reply(call_style, server, llm_of, format):
    """Socket cut: interrupted error with partial reply."""
    speech = SPEECH[format]
    whole = in_bytes(format, [*speech.begin, *speech.text(["Hello", "never"])])
    server.script(stream_head(), chunk(whole[: whole.index(b"never")]), CUT)
    error, stream = failing(call_style, llm_of(format), StreamInterruptedError)
    assert error.partial.text == stream.partial.text == "Hello"
    assert error.partial.finish_reason == "unknown"


@every_format
def test_end_without_a_finish_reason_is_an_interruption(call_style, server, llm_of, format):
    """End without finish reason: interrupted error with partial reply."""
    server.script(served(format, text_of(format, "Hello", reason=None)))
    error, _ = failing(call_style, llm_of(format), StreamInterruptedError)
    assert (error.partial.text, error.partial.finish_reason) == ("Hello", "unknown")


@every_format
def test_unknown_finish_reason_keeps_the_vendors_value(call_style, server, llm_of, format):
    """Unknown finish reason: `finish_reason="unknown"` with the raw value kept."""
    server.script(served(format, text_of(format, "Hello", reason="exotic")))
    reply = reply_to(call_style, llm_of(format))
    assert (reply.finish_reason, reply.raw_finish_reason) == ("unknown", "exotic")


@every_format
def test_malformed_event_is_an_error_with_its_position_and_partial_reply(call_style, server, llm_of, format):
    """Broken JSON in one event: typed error with the event's position."""
    speech = SPEECH[format]
    frames = [*speech.begin, *speech.text(["Hello", "never"])]
    position = next(number for number, frame in enumerate(frames, 1) if "never" in json.dumps(frame))
    whole = broken(in_bytes(format, frames), format)
    server.script(stream_head() + chunk(whole) + LAST_CHUNK)
    error, _ = failing(call_style, llm_of(format), ServerError)
    assert f"{position} of the stream is not JSON" in error.message
    assert error.partial.text == "Hello"


def broken(stream: bytes, format: str) -> bytes:
    """The stream with a malformed JSON event at the text "never"."""
    return rewritten(stream, format, lambda text: text.replace(b'"never"', b'"never'))


def rewritten(stream: bytes, format: str, change: Callable[[bytes], bytes]) -> bytes:
    """The stream with its text changed, under right checksums where it has some."""
    if format != "bedrock_converse":
        return change(stream)
    messages = FORMATS[format]().framer().feed(stream)
    return b"".join(AwsEventStreamMessage(each.headers, change(each.payload)).encode() for each in messages)


# Characters in halves


HIGH, LOW = "\ue000", "\ue001"
"""Stand for the halves of one character until the stream is written."""


def in_halves(text: bytes) -> bytes:
    for mark, half in ((HIGH, b"\\ud83d"), (LOW, b"\\ude00")):
        text = text.replace(mark.encode(), half).replace(json.dumps(mark)[1:-1].encode(), half)
    return text


def cut_characters(format: str) -> bytes:
    """A stream of reasoning, text and a call, each with a character of which two frames have one half each."""
    provider, renderer = provider_of(format), FORMATS[format]().renderer()
    arguments = [f'{{"a":"e{HIGH}', f'{LOW}f"}}']
    deltas = [
        ReplyStart(0, "m", provider),
        ReasoningStart(1, 0, f"{provider}/m"),
        *(ReasoningDelta(2, 0, piece) for piece in (f"a{HIGH}", f"{LOW}b{HIGH}")),
        ReasoningEnd(3, 0, "c2ln"),
        TextStart(4, 1),
        *(TextDelta(5, 1, piece) for piece in (f"c{HIGH}", f"{LOW}", "d")),
        TextEnd(6, 1),
        ToolCallStart(7, 2, "call_1", "f"),
        *(ToolCallDelta(8, 2, piece) for piece in arguments),
        ToolCallEnd(9, 2),
        UsageDelta(10, Usage(1, 2)),
        ReplyEnd(11, "tool_calls"),
    ]
    stream = b"".join(map(renderer.feed, deltas)) + renderer.finish()
    return rewritten(stream, format, in_halves)


@every_format
def test_character_split_between_frames_is_joined(call_style, server, llm_of, format):
    """UTF-16 halves in two frames, of text, reasoning and arguments; a half that stays alone is U+FFFD."""
    stream = cut_characters(format)
    assert stream.count(b"\\ud83d") >= 4
    server.script(stream_head() + chunk(stream) + LAST_CHUNK)
    reply = reply_to(
        call_style, llm_of(format, **({"provider": "openai-compatible"} if format == "openai_chat" else {}))
    )
    assert (reply.reasoning, reply.text) == ("a😀b\ufffd", "c😀d")
    (call,) = reply.tool_calls
    assert call.arguments == {"a": "e😀f"}


# How the bytes come


@every_format
def test_single_byte_chunks_give_the_same_deltas(call_style, server, llm_of, format):
    """One event split at any byte: same deltas."""
    frames = text_of(format, "Hé", "llo")
    stream = in_bytes(format, frames)
    server.script(served(format, frames))
    server.script(stream_head() + b"".join(chunk(stream[i : i + 1]) for i in range(len(stream))) + LAST_CHUNK)
    llm = llm_of(format)
    whole, split = list(call_style.stream(llm, "hi")), list(call_style.stream(llm, "hi"))
    assert whole == split
    assert [delta.text for delta in split if isinstance(delta, TextDelta)] == ["Hé", "llo"]


DISGUISES = {
    "CRLF": lambda stream: stream.replace(b"\n", b"\r\n"),
    "CR": lambda stream: stream.replace(b"\n", b"\r"),
    "comments": lambda stream: stream.replace(b"data: ", b": a comment\ndata: "),
    "no space": lambda stream: stream.replace(b"data: ", b"data:"),
    "several data lines": lambda stream: stream.replace(b'{"', b'{\ndata: "'),
    "BOM": lambda stream: b"\xef\xbb\xbf" + stream,
    "keep-alives": lambda stream: b": keep-alive\n\n" + stream.replace(b"\n\n", b"\n\n: keep-alive\n\n\n"),
}


@pytest.mark.parametrize("format", EVENT_FORMATS)
def test_sse_syntax_variants_give_the_same_deltas(call_style, server, llm_of, format):
    """CRLF, comments, `data:` without space, several `data:` lines, a BOM, keep-alives: same deltas."""
    stream = in_bytes(format, text_of(format, "Hel", "lo"))
    server.script(stream_head() + chunk(stream) + LAST_CHUNK)
    llm = llm_of(format)
    plain = list(call_style.stream(llm, "hi"))
    for name, disguise in DISGUISES.items():
        assert disguise(stream) != stream
        server.script(stream_head() + chunk(disguise(stream)) + LAST_CHUNK)
        assert list(call_style.stream(llm, "hi")) == plain, name


@pytest.mark.parametrize("mark", [b"\r\n", b"\n\n"], ids=["CRLF", "empty lines"])
def test_json_line_variants_give_the_same_deltas(call_style, server, llm_of, mark):
    """CRLF, keep-alives, of a vendor that streams lines: same deltas."""
    stream = in_bytes("ollama", text_of("ollama", "Hel", "lo"))
    llm = llm_of("ollama")
    for form in (stream, stream.replace(b"\n", mark)):
        server.script(stream_head() + chunk(form) + LAST_CHUNK)
        assert [d.text for d in call_style.stream(llm, "hi") if isinstance(d, TextDelta)] == ["Hel", "lo"]


@every_format
def test_event_of_five_mebibytes_is_read(call_style, server, llm_of, format):
    """5 MiB event: same deltas."""
    server.script(served(format, text_of(format, LONG)))
    assert reply_to(call_style, llm_of(format)).text == LONG


# Leaving early


@every_format
def test_breaking_out_closes_the_connection_and_keeps_the_usage(call_style, server, llm_of, format):
    """Leaving the loop early: closed at once; partial usage kept."""
    frames = text_of(format, "Hello", reason=None)
    counts = None
    if format == "gemini":
        frames[-1]["usageMetadata"], counts = {"promptTokenCount": INPUT, "candidatesTokenCount": 1}, (INPUT, 1)
    elif format == "openai_chat":
        frames[-1]["usage"], counts = {"prompt_tokens": INPUT, "completion_tokens": 1}, (INPUT, 1)
    elif format == "anthropic_messages":
        counts = (INPUT, 1)
    server.script(stream_head(), chunk(in_bytes(format, frames).removesuffix(b"data: [DONE]\n\n")), HANG)
    with call_style.stream(llm_of(format), "hi") as stream:
        for delta in stream:
            if isinstance(delta, TextDelta):
                break
    left = time.monotonic()
    server.assert_closed_promptly(left)
    assert stream.partial.text == "Hello"
    usage = stream.partial.usage
    assert (usage.input, usage.output) == (counts or (None, None))
