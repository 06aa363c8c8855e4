"""Bytes gone wrong: whatever comes, the errors are ours."""

import json

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.errors import InvalidInputError, ProviderError, UnsupportedContentError
from abstractcore.schema import ModelCall, ModelReply, accumulate, deltas_of, to_json
from tests.properties import examples
from tests.providers.cohere_chat import made
from tests.providers.cohere_chat.wire import COHERE, decoded, end, events, request, response
from tests.providers.openai_chat.test_fuzz import Change, changed, changes

WORDS = ["message", "content", "type", "text", "thinking", "tool_calls", "function", "arguments", "error", "role", "id"]
WORDS += ["messages", "model", "tools", "delta", "index", "citations", "sources", "usage", "tokens", "finish_reason"]
WORDS += ["content-delta", "tool-call-start", "citation-start", "message-end", "assistant", "user", "tool_plan"]


def any_json() -> SearchStrategy[bytes]:
    """JSON of the format's own words in odd places."""
    words = st.sampled_from(WORDS)
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=3)
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4), max_leaves=12
    )
    return st.dictionaries(words, values, max_size=5).map(lambda value: json.dumps(value).encode())


def check_reply(reply: ModelReply) -> None:
    """A reply that was read can be written, and its stream adds up."""
    to_json(reply)
    assert accumulate(deltas_of(reply)).parts == reply.parts
    COHERE.decode(response(COHERE.render(reply).body))


def try_decoding(body: bytes) -> None:
    try:
        reply = COHERE.decode(response(body))
    except ProviderError:
        return
    check_reply(reply)


def try_stream(stream: bytes) -> None:
    try:
        deltas = list(decoded([stream]))
    except ProviderError:
        return
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))
    check_reply(accumulate(deltas))


def try_parsing(body: bytes) -> None:
    try:
        parsed = COHERE.parse(request(body))
    except InvalidInputError:
        return
    to_json(parsed.call)


@examples(60)
@given(made.replies(), changes())
def test_a_damaged_reply_is_read_or_a_typed_error(reply: ModelReply, steps: list[Change]):
    try_decoding(changed(COHERE.render(reply).body, steps))


@examples(60)
@given(any_json())
def test_any_json_is_a_reply_or_a_typed_error(body: bytes):
    try_decoding(body)


@examples(60)
@given(made.replies(), changes())
def test_a_damaged_stream_is_read_or_a_typed_error(reply: ModelReply, steps: list[Change]):
    renderer = COHERE.renderer()
    try_stream(changed(b"".join(map(renderer.feed, deltas_of(reply))) + renderer.finish(), steps))


@examples(60)
@given(st.lists(any_json(), max_size=4))
def test_events_of_any_json_are_read_or_a_typed_error(data: list[bytes]):
    try_stream(events([*data, end()]))


@examples(60)
@given(made.calls(), changes())
def test_a_damaged_request_is_read_or_refused(call: ModelCall, steps: list[Change]):
    try:
        body = COHERE.encode(call).request.body
    except (InvalidInputError, UnsupportedContentError):
        return
    try_parsing(changed(body, steps))


@examples(60)
@given(any_json())
def test_any_json_is_a_request_or_refused(body: bytes):
    try_parsing(body)


@examples(60)
@given(st.integers(300, 599), any_json() | st.binary(max_size=30))
def test_any_failure_is_a_typed_error(status: int, body: bytes):
    error = COHERE.error(response(body, status))
    assert error.status == status
    assert str(error)
    COHERE.render_error(error)
