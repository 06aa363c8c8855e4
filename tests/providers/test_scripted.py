"""Scripted models and their wire format: the schema's own JSON."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.errors import (
    AbstractCoreError,
    ConfigurationError,
    InvalidInputError,
    OverloadedError,
    RateLimitError,
    ScriptExhaustedError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.ports import ProviderConfig
from abstractcore.schema import (
    Delta,
    Message,
    ModelCall,
    ModelReply,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCall,
    Usage,
    WireRequest,
    WireResponse,
    accumulate,
    deltas_of,
    from_json,
    to_json,
)
from abstractcore.testing import check_laws, strategies
from abstractcore_providers.scripted import CanonicalJson, ScriptedProvider, ScriptedTransport
from tests.properties import examples

JSON = CanonicalJson()
CALL = ModelCall("m", (Message.user("two words"),), "scripted")
STREAM = CALL.with_(stream=True)


def run(step: Any) -> Any:
    """What a coroutine that never waits gives."""
    with pytest.raises(StopIteration) as done:
        step.send(None)
    return done.value.value


def play(transport: ScriptedTransport, call: ModelCall = CALL) -> list[bytes]:
    """The pieces of the next reply."""
    body = run(transport.open(JSON.encode(call).request, 1.0))
    pieces = []
    while piece := run(body.read()):
        pieces.append(piece)
    return pieces


def answer(transport: ScriptedTransport, call: ModelCall = CALL) -> ModelReply:
    return JSON.decode(WireResponse(200, {}, b"".join(play(transport, call))))


def streamed(pieces: list[bytes]) -> list[Delta]:
    framer, decoder = JSON.framer(), JSON.decoder()
    frames = [frame for piece in pieces for frame in framer.feed(piece)] + framer.finish()
    return [delta for frame in frames for delta in decoder.feed(frame)] + decoder.finish()


def test_the_laws_hold():
    check_laws(JSON, "scripted", max_examples=25)


def test_a_text_is_a_reply_with_its_words_counted():
    reply = answer(ScriptedTransport(["three little words"]))
    assert reply == ModelReply(
        (TextPart("three little words"),), "stop", usage=Usage(2, 3), model="m", provider="scripted"
    )
    assert answer(ScriptedTransport([""])).parts == ()


def test_replies_errors_and_functions_come_in_order():
    reply, error = ModelReply((ToolCall("c", "f"),), "tool_calls"), RateLimitError("slow down")
    transport = ScriptedTransport([reply, error, lambda call: call.messages[0].text, lambda call: error, "end"])
    assert answer(transport) == reply
    with pytest.raises(RateLimitError) as caught:
        answer(transport)
    assert caught.value is error
    assert answer(transport).text == "two words"
    with pytest.raises(RateLimitError):
        answer(transport)
    assert answer(transport).text == "end"
    assert transport.calls == [CALL] * 5


def test_a_script_that_has_ended_says_so():
    transport = ScriptedTransport(["one"])
    answer(transport)
    with pytest.raises(ScriptExhaustedError, match="the script has 1 replies, and this is call 2") as caught:
        answer(transport)
    assert "one more" in (caught.value.hint or "")


def test_a_script_of_other_things_is_refused():
    with pytest.raises(ConfigurationError, match="not int"):
        answer(ScriptedTransport([5]))  # type: ignore[list-item]


@examples(50)
@given(st.text(st.characters(codec="utf-8")) | st.text("a \n", max_size=8))
def test_a_streamed_text_comes_by_words_and_adds_up(text: str):
    deltas = streamed(play(ScriptedTransport([text]), STREAM))
    pieces = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert "".join(pieces) == text
    assert all(len(piece.split()) <= 1 for piece in pieces)
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))


@examples(30)
@given(strategies.replies())
def test_a_streamed_reply_adds_up(reply: ModelReply):
    assert accumulate(streamed(play(ScriptedTransport([reply]), STREAM))) == reply


def test_a_stream_closed_early_gives_nothing_more():
    transport = ScriptedTransport(["a b c"])
    body = run(transport.open(JSON.encode(STREAM).request, 1.0))
    assert run(body.read())
    run(body.close())
    body.abort()
    assert run(body.read()) == b""
    run(transport.close())


def test_a_stream_that_ends_before_the_reply_is_an_interruption():
    pieces = [to_json(delta).encode() + b"\n" for delta in deltas_of(ModelReply((ReasoningPart("r"),)))]
    assert accumulate(streamed(pieces)).reasoning == "r"
    with pytest.raises(StreamInterruptedError):
        streamed(pieces[:-1])


def test_an_error_in_a_stream_comes_back():
    stream = JSON.renderer().error(OverloadedError("busy", retry_after=2.0))
    with pytest.raises(OverloadedError, match="busy") as caught:
        streamed([stream])
    assert caught.value.retry_after == 2.0


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"\xff", to_json(ModelReply()).encode(), to_json(TextPart("x")).encode()]
)
def test_what_is_no_call_is_refused(body: bytes):
    with pytest.raises(InvalidInputError):
        JSON.parse(WireRequest("/call", {}, body))


@pytest.mark.parametrize("body", [b"", b"{}", b"\xff", to_json(CALL).encode()])
def test_what_is_no_reply_is_a_server_error(body: bytes):
    with pytest.raises(ServerError):
        JSON.decode(WireResponse(200, {}, body))
    with pytest.raises(ServerError):
        JSON.decoder().feed(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"it broke",
        b"[]",
        b'{"error": "SystemExit"}',
        b'{"error": "ConfigurationError"}',
        b'{"error": 5, "wait": "x"}',
    ],
)
def test_what_is_no_error_of_ours_is_a_server_error(body: bytes):
    error = JSON.error(WireResponse(500, {}, body))
    assert type(error) is ServerError
    assert (error.status, error.retry_after) == (500, None)


def test_other_errors_than_a_providers_come_back_as_server_errors():
    error: AbstractCoreError = ConfigurationError("no")
    assert type(JSON.error(JSON.render_error(error))) is ServerError


def connect(**options: Any) -> Any:
    services: Any = None
    return ScriptedProvider().connect(ProviderConfig("scripted", options=options), services)


def test_a_session_keeps_its_calls():
    session = connect(replies=["one"])
    assert (session.model, session.calls) == ("scripted", [])
    answer(session.transport)
    assert session.calls == [CALL]
    assert (session.profile.price.input, session.profile.price.output) == (0.0, 0.0)


@pytest.mark.parametrize("replies", ["one", 5, {"a"}])
def test_replies_are_a_list(replies: Any):
    with pytest.raises(ConfigurationError, match="is a list"):
        connect(replies=replies)


def test_the_provider_says_what_it_takes():
    provider = ScriptedProvider()
    assert isinstance(provider.options, Mapping)
    assert list(provider.options) == ["replies"]
    assert from_json(JSON.encode(CALL).request.body) == CALL
