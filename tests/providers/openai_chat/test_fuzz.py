"""Bytes gone wrong: whatever comes, the errors are ours."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.errors import InvalidInputError, ProviderError
from abstractcore.schema import ModelReply, accumulate, deltas_of, to_json
from abstractcore.testing import strategies
from tests.properties import examples
from tests.providers.openai_chat import made
from tests.providers.openai_chat.wire import CHAT, decoded, published, request, response

Change = Callable[[bytes], bytes]
ODD = [
    b"null",
    b"{}",
    b"[]",
    b"[[",
    b'"',
    b"\\ud800",
    b"\xff",
    b"NaN",
    b"1e999",
    b"-1",
    b"9" * 5000,
    b"[" * 300,
    b"\n\n",
    b"\r",
]


def changes() -> SearchStrategy[list[Change]]:
    """Bytes replaced, left out, or put in."""
    places, pieces = st.integers(0, 10_000), st.binary(max_size=3) | st.sampled_from(ODD)
    return st.lists(st.builds(_change, places, st.integers(0, 20), pieces), min_size=1, max_size=4)


def _change(place: int, length: int, piece: bytes) -> Change:
    def change(data: bytes) -> bytes:
        start = place % (len(data) + 1)
        return data[:start] + piece + data[start + length :]

    return change


def changed(data: bytes, steps: list[Change]) -> bytes:
    for step in steps:
        data = step(data)
    return data


def any_json() -> SearchStrategy[bytes]:
    """JSON of the format's own words in odd places."""
    words = st.sampled_from(
        [
            "choices",
            "message",
            "delta",
            "content",
            "tool_calls",
            "function",
            "usage",
            "error",
            "role",
            "messages",
            "model",
            "index",
            "id",
            "text",
        ]
    )
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=3)
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4), max_leaves=12
    )
    return st.dictionaries(words, values, max_size=5).map(lambda value: json.dumps(value).encode())


def check_reply(reply: ModelReply) -> None:
    """A reply that was read can be written, and its stream adds up."""
    to_json(reply)
    assert accumulate(deltas_of(reply)).parts == reply.parts
    CHAT.decode(response(CHAT.render(reply).body))


def try_decoding(body: bytes) -> None:
    try:
        reply = CHAT.decode(response(body))
    except ProviderError:
        return
    check_reply(reply)


def try_stream(stream: bytes) -> None:
    try:
        deltas = list(decoded([stream]))
    except ProviderError:
        return
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))
    for delta in deltas:
        to_json(delta)
    check_reply(accumulate(deltas))


def try_parsing(body: bytes) -> None:
    try:
        parsed = CHAT.parse(request(body))
    except InvalidInputError:
        return
    to_json(parsed.call)


@examples(150)
@given(made.replies(), changes())
def test_a_damaged_reply_is_read_or_a_typed_error(reply: ModelReply, steps: list[Change]):
    try_decoding(changed(CHAT.render(reply).body, steps))


@examples(150)
@given(any_json())
def test_any_json_is_a_reply_or_a_typed_error(body: bytes):
    try_decoding(body)


@examples(150)
@given(strategies.streams(made.replies()), changes())
def test_a_damaged_stream_is_read_or_a_typed_error(case: Any, steps: list[Change]):
    renderer = CHAT.renderer()
    try_stream(changed(b"".join(map(renderer.feed, case[1])) + renderer.finish(), steps))


@examples(150)
@given(st.lists(any_json(), max_size=4))
def test_events_of_any_json_are_read_or_a_typed_error(events: list[bytes]):
    end = b'data: {"choices": [{"finish_reason": "stop"}]}\n\n'
    try_stream(b"".join(b"data: " + event + b"\n\n" for event in events) + end)


@examples(150)
@given(st.sampled_from(["default", "functions", "image_input", "logprobs", "streaming"]), changes())
def test_a_damaged_request_is_read_or_refused(name: str, steps: list[Change]):
    try_parsing(changed(json.dumps(published(f"{name}.request.json")).encode(), steps))


@examples(150)
@given(any_json())
def test_any_json_is_a_request_or_refused(body: bytes):
    try_parsing(body)


@examples(150)
@given(
    st.integers(300, 599),
    any_json() | st.binary(max_size=30),
    st.dictionaries(st.sampled_from(["retry_after", "retry_after_ms", "date"]), st.text(max_size=8)),
)
def test_any_failure_is_a_typed_error(status: int, body: bytes, headers: dict[str, str]):
    error = CHAT.error(response(body, status, **headers))
    assert error.status == status
    assert error.retry_after is None or 0 <= error.retry_after < float("inf")
    assert str(error)
    CHAT.render_error(error)
