"""Retries and their usage, with every wire format, sync and async, on virtual time.

The rows for chat completions alone, sync and async: tests/core/middleware/test_retry.py, which also has N retries for
several N, jitter and deadlines.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from abstractcore import (
    AbstractCoreError,
    ModelReply,
    OverloadedError,
    RateLimitError,
    Services,
    StreamInterruptedError,
    TextPart,
    Usage,
)
from abstractcore.testing import VirtualClock
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import CUT, answer, chunk, stream_head
from tests.providers.wire_streams import INPUT, OUTPUT, SPEECH, answered_with, in_bytes, reply_to, served, text_of

every_format = pytest.mark.parametrize("format", FORMATS)
BUSY = {"error": {"message": "busy"}, "message": "busy"}


@pytest.fixture
def clock() -> VirtualClock:
    """Pauses take no time here."""
    return VirtualClock()


@pytest.fixture
def services(services, clock) -> Iterator[Services]:
    """Those of other tests, on virtual time."""
    made = Services(environment={}, random=lambda: 0.0, clock=clock)
    yield made
    made.close()


@every_format
@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_n_retries_are_n_plus_1_requests(call_style, server, llm_of, format, retries, stream):
    """One owner: N retries are N+1 requests, never (N+1)^2."""
    server.always(answer(BUSY, 503))
    llm = llm_of(format, max_retries=retries)
    with pytest.raises(OverloadedError) as caught:
        list(call_style.stream(llm, "hi")) if stream else call_style.generate(llm, "hi")
    assert len(server.requests) == len(caught.value.attempts) == retries + 1


@every_format
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("body", [b"", b'{"id": "a-1", "cho'], ids=["nothing", "cut"])
def test_missing_or_truncated_body_is_retried(call_style, server, llm_of, format, stream, body):
    """These may pass by themselves."""
    server.script(answer(body))
    server.script(answered_with(format, TextPart("Let me see.")))
    llm = llm_of(format)
    reply = reply_to(call_style, llm) if stream else call_style.generate(llm, "hi").reply
    assert reply.text == "Let me see."
    assert len(server.requests) == 2


@every_format
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:05 GMT", "date": "Wed, 21 Oct 2026 07:28:01 GMT"}, 4.0),
    ],
    ids=["seconds", "date"],
)
def test_retry_after_of_the_vendor_is_obeyed(call_style, server, llm_of, clock, format, headers, seconds):
    """`Retry-After` in seconds or as a date."""
    server.script(answer(BUSY, 429, **headers))
    server.script(answered_with(format))
    response = call_style.generate(llm_of(format), "hi")
    assert response.content == "ok"
    assert clock.sleeps == [seconds]
    assert [attempt.error for attempt in response.attempts] == [RateLimitError.__name__, None]


@every_format
def test_stream_interrupted_after_its_first_token_is_not_retried(call_style, server, llm_of, clock, format):
    """A stream that broke after its first token is not silently retried."""
    frames = [*SPEECH[format].begin, *SPEECH[format].text(["Hello", "never"])]
    whole = in_bytes(format, frames)
    server.script(stream_head() + chunk(whole[: whole.index(b"never")]), CUT)
    stream = call_style.stream(llm_of(format), "hi")
    with pytest.raises(StreamInterruptedError) as caught:
        list(stream)
    assert caught.value.partial.text == "Hello"
    assert (len(server.requests), clock.sleeps) == (1, [])


@every_format
def test_stream_failing_in_the_chunk_of_its_first_token_is_not_retried(call_style, server, llm_of, format):
    """The same with both in one chunk: first the token, then the failure."""
    frames = [*SPEECH[format].begin, *SPEECH[format].text(["Hello"]), SPEECH[format].error]
    server.script(stream_head() + chunk(in_bytes(format, frames)))
    stream, texts = call_style.stream(llm_of(format), "hi"), []
    with pytest.raises(AbstractCoreError):
        texts.extend(stream.text())
    assert stream.partial.text == "Hello"
    assert len(server.requests) == 1


class AskTwice:
    """Asks again where the first answer does not do, as a check of answers would."""

    async def around_call(self, context, next):
        """The second answer."""
        first = await next(context)
        if not isinstance(first, ModelReply):
            while await first.read():
                pass
        return await next(context)

    async def around_attempt(self, attempt, next):
        """The attempt as it is."""
        return await next(attempt)


@every_format
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_usage_of_failed_attempts_is_included_in_the_total(call_style, server, llm_of, format, stream):
    """Tokens of failed attempts (validation retries, fallbacks) are counted in the total."""
    server.always_by(lambda request: [served(format, text_of(format, "Hello")) if stream else counted(format)])
    llm = llm_of(format, middleware=[AskTwice()])
    if stream:
        opened = call_style.stream(llm, "hi")
        list(opened)
        response = opened.response
    else:
        response = call_style.generate(llm, "hi")
    assert len(server.requests) == len(response.attempts) == 2
    assert (response.reply.usage.input, response.reply.usage.output) == (INPUT, OUTPUT)
    assert (response.usage.input, response.usage.output) == (2 * INPUT, 2 * OUTPUT)


def counted(format: str) -> bytes:
    """A whole answer with the counts of the streams."""
    reply = ModelReply((TextPart("ok"),), "stop", usage=Usage(INPUT, OUTPUT), model="m")
    return answer(FORMATS[format]().render(reply).body)
