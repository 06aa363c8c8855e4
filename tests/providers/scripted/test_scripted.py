"""Scripted models and their wire format: the schema's own JSON."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import LLM, Reply, Services, create_llm
from abstractcore.errors import (
    AbstractCoreError,
    ConfigurationError,
    ConnectionFailedError,
    InvalidInputError,
    OverloadedError,
    RateLimitError,
    RequestTimeoutError,
    ScriptExhaustedError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.ports import Piece
from abstractcore.schema import (
    Blob,
    Delta,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    WireRequest,
    WireResponse,
    accumulate,
    deltas_of,
    from_json,
    to_json,
)
from abstractcore.testing import VirtualClock, check_laws, strategies
from abstractcore_providers.scripted import CanonicalJson, ScriptedProvider
from tests.properties import examples

JSON = CanonicalJson()
CALL = ModelCall("m", (Message.user("two words"),), "scripted")


def scripted(*replies: Any, clock: VirtualClock | None = None, **options: Any) -> LLM:
    services = Services(clock=clock or VirtualClock(), environment={})
    return create_llm("scripted", model="m", replies=replies, services=services, max_retries=0, **options)


def timed(colour: Any, llm: LLM, clock: VirtualClock) -> list[tuple[float, str]]:
    """The texts of a stream, each with the time at which it came."""
    with colour.stream(llm, "hi") as stream:
        return [(clock.now(), text) for text in stream.text()]


def streamed(pieces: list[bytes]) -> list[Delta]:
    framer, decoder = JSON.framer(), JSON.decoder()
    frames = [frame for piece in pieces for frame in framer.feed(piece)] + framer.finish()
    return [delta for frame in frames for delta in decoder.feed(frame)] + decoder.finish()


def test_the_laws_hold():
    options = strategies.item_options("scripted")
    calls, replies = strategies.calls(options=options), strategies.replies(options=options)
    check_laws(JSON, "scripted", calls=calls, replies=replies, max_examples=25)


# What a script holds.


def test_a_text_is_a_reply_with_its_words_counted(colour):
    reply = colour.generate(scripted("three little words"), "two words").reply
    assert reply == ModelReply(
        (TextPart("three little words"),), "stop", usage=Usage(2, 3), model="m", provider="scripted"
    )
    assert colour.generate(scripted(""), "hi").parts == ()


def test_replies_errors_and_functions_come_in_order(colour):
    reply, error = ModelReply((ToolCall("c", "f"),), "tool_calls"), RateLimitError("slow down")
    llm = scripted(reply, error, lambda call: call.messages[0].text, lambda call: error, Reply.text("end"))
    assert colour.generate(llm, "1").reply == reply
    with pytest.raises(RateLimitError) as caught:
        colour.generate(llm, "2")
    assert caught.value is error
    assert colour.generate(llm, "three").content == "three"
    with pytest.raises(RateLimitError):
        colour.generate(llm, "4")
    assert colour.generate(llm, "5").content == "end"
    assert [call.messages[0].text for call in llm.calls] == ["1", "2", "three", "4", "5"]


def test_a_script_that_has_ended_says_so(colour):
    llm = scripted("one")
    colour.generate(llm, "hi")
    with pytest.raises(ScriptExhaustedError, match="the script has 1 replies, and this is call 2") as caught:
        colour.generate(llm, "hi")
    assert "one more" in (caught.value.hint or "")


def test_one_function_answers_every_call(colour):
    llm = create_llm("scripted", replies=lambda call: call.messages[-1].text.upper())
    assert [colour.generate(llm, text).content for text in ("a", "b", "c")] == ["A", "B", "C"]
    assert len(llm.calls) == 3


def test_a_coroutine_function_that_does_not_wait_answers_in_both_colours(colour):
    async def answer(call: ModelCall) -> Reply:
        return Reply.tool_call("echo", {"text": call.messages[-1].text})

    (call,) = colour.generate(scripted(answer), "hi").tool_calls
    assert call.arguments == {"text": "hi"}


def test_a_coroutine_function_that_waits_answers_in_event_loops_only():
    async def answer(call: ModelCall) -> str:
        await asyncio.sleep(0)
        return "waited"

    llm = scripted(answer, answer)
    with pytest.raises(RuntimeError, match="use the async API"):
        llm.generate("hi")
    assert asyncio.run(llm.agenerate("hi")).content == "waited"


def test_what_a_function_raises_reaches_the_caller(colour):
    def fail(call: ModelCall) -> str:
        raise ZeroDivisionError("bug in the test")

    with pytest.raises(ZeroDivisionError, match="bug in the test"):
        colour.generate(scripted(fail), "hi")


@pytest.mark.parametrize("answer", [5, None, len, RateLimitError])
def test_a_function_that_gives_something_else_is_named(colour, answer):
    with pytest.raises(
        ConfigurationError, match=r"replies\[1\], a function, gave something else: expected a text, a Reply"
    ):
        llm = scripted("a", lambda call: answer)
        colour.generate(llm, "1")
        colour.generate(llm, "2")


@pytest.mark.parametrize(
    ("entry", "kind"), [(5, "int"), (None, "NoneType"), (RateLimitError, "the class RateLimitError"), (["a"], "list")]
)
def test_a_script_of_other_things_is_refused_at_once_by_index(entry, kind):
    with pytest.raises(ConfigurationError, match=rf"^replies\[2\]: expected a text, .*, got {kind}$"):
        scripted("a", "b", entry)


@pytest.mark.parametrize("replies", ["one", 5, {"a"}, RateLimitError])
def test_replies_are_a_list_or_a_function(replies):
    with pytest.raises(ConfigurationError, match="is a list, or a function"):
        create_llm("scripted", replies=replies)


def test_threads_share_a_script_without_taking_a_reply_twice():
    llm = scripted(*map(str, range(64)))
    texts: list[str] = []

    def ask() -> None:
        texts.extend(llm.generate("hi").content for _ in range(8))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts, key=int) == [str(number) for number in range(64)]
    assert len(llm.calls) == 64


# What a `Reply` is.


def test_a_reply_has_reasoning_usage_and_a_reason_to_end(colour):
    reply = Reply.text("so", reasoning="well", usage=Usage(7, 8), finish_reason="length")
    assert colour.generate(scripted(reply), "hi").reply == ModelReply(
        (ReasoningPart("well", origin="scripted/m"), TextPart("so")),
        "length",
        usage=Usage(7, 8),
        model="m",
        provider="scripted",
    )


def test_a_tool_call_has_an_id_of_its_turn_and_place_unless_it_is_given(colour):
    reply = Reply.text("Let me look.") + Reply.tool_call("weather", {"city": "Ulm"}) + Reply.tool_call("time")
    llm = scripted(reply, Reply.tool_call("weather", id="mine"))
    response = colour.generate(llm, messages=[Message.assistant("Hello."), Message.user("How is it?")])
    assert response.content == "Let me look."
    assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [
        ("call_1_0", "weather", {"city": "Ulm"}),
        ("call_1_1", "time", {}),
    ]
    assert response.finish_reason == "tool_calls"
    assert colour.generate(llm, "hi").tool_calls[0].id == "mine"


def test_broken_arguments_are_sent_as_they_are(colour):
    (call,) = colour.generate(scripted(Reply.tool_call("f", '{"x": ')), "hi").tool_calls
    assert (call.arguments_text, call.arguments) == ('{"x": ', None)


def test_replies_added_together_are_one(colour):
    clock = VirtualClock()
    reply = Reply.text("a", usage=Usage(1, 2)) + Reply.chunks(["b", "c"], delay=1, usage=Usage(3, 4))
    reply += Reply.tool_call("f", delay=5)
    response = colour.generate(scripted(reply, clock=clock), "hi")
    assert (response.content, response.usage, clock.now()) == ("abc", Usage(4, 6), 7.0)


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: Reply.text(5), "text"),
        (lambda: Reply.text("\ud800"), "text"),
        (lambda: Reply.text("a", reasoning=5), "reasoning"),
        (lambda: Reply.text("a", delay=-1), "delay"),
        (lambda: Reply.text("a", delay=float("nan")), "delay"),
        (lambda: Reply.text("a", delay="1"), "delay"),
        (lambda: Reply.text("a", finish_reason="bored"), "finish_reason"),
        (lambda: Reply.tool_call("f", {"x": float("nan")}), "arguments.x"),
        (lambda: Reply.tool_call("f", {"x": {1}}), "arguments.x"),
        (lambda: Reply.tool_call(5), "name"),
        (lambda: Reply.chunks("ab"), "texts"),
        (lambda: Reply.chunks(["a", 5]), "texts[1].text"),
        (lambda: Reply.chunks(["a", ""]), "pieces[1]"),
        (lambda: Reply.chunks(["a"], then=ValueError("x")), "then"),
        (lambda: Reply.chunks([], then=OverloadedError("x")) + Reply.text("a"), "then"),
        (lambda: Reply((Piece("a"),)), "pieces[0].parts[0]"),
    ],
)
def test_what_cannot_be_a_reply_is_refused_with_its_path(make, path):
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert caught.value.path == path


# How it comes.


def test_chunks_are_streamed_in_exactly_these_pieces_with_the_delay_before_each(colour):
    clock = VirtualClock()
    llm = scripted(Reply.chunks(["a b", " ", "c"], delay=0.1), clock=clock)
    times, texts = zip(*timed(colour, llm, clock), strict=True)
    assert texts == ("a b", " ", "c")
    assert times == pytest.approx((0.1, 0.2, 0.3))


def test_chunks_asked_for_whole_are_joined_and_take_as_long(colour):
    clock = VirtualClock()
    assert colour.generate(scripted(Reply.chunks(["a b", " ", "c"], delay=2), clock=clock), "hi").content == "a b c"
    assert clock.sleeps == [6]


def test_a_delayed_text_comes_by_words_after_the_delay(colour):
    clock = VirtualClock()
    assert timed(colour, scripted(Reply.text("a b", delay=3), clock=clock), clock) == [(3, "a"), (3, " b")]


def test_nothing_of_a_stream_comes_before_its_delay(colour):
    clock = VirtualClock()
    with colour.stream(scripted(Reply.text("a", reasoning="r", delay=3), clock=clock), "hi") as stream:
        assert next((clock.now(), delta.type) for delta in stream) == (3, "reply_start")


def test_parts_of_a_reply_wait_each_for_its_own_delay(colour):
    clock = VirtualClock()
    picture = ImagePart(Blob.from_bytes(b"\x89PNG", "image/png"))
    pieces = (Piece(ReasoningPart("r"), 1), Piece(ReasoningPart("s"), 1), Piece(picture, 2))
    reply = Reply(pieces) + Reply.chunks(["a"]) + Reply.tool_call("f", delay=4)
    with colour.stream(scripted(reply, clock=clock), "hi") as stream:
        seen = [(clock.now(), delta.type) for delta in stream if not delta.type.endswith(("start", "end"))]
        calls = stream.response.tool_calls
    assert seen == [
        (1, "reasoning_delta"),
        (2, "reasoning_delta"),
        (4, "part"),
        (4, "text_delta"),
        (8, "tool_call_delta"),
        (8, "usage"),
    ]
    assert [call.name for call in calls] == ["f"]


@pytest.mark.parametrize("error", [StreamInterruptedError("cut"), ServerError("broke"), ConnectionFailedError("lost")])
def test_a_reply_breaks_off_where_it_is_told_to(colour, error):
    with colour.stream(scripted(Reply.chunks(["a", "b"], then=error)), "hi") as stream:
        texts = []
        with pytest.raises((StreamInterruptedError, ServerError)) as caught:
            texts.extend(each.text for each in stream if isinstance(each, TextDelta))
        assert (texts, caught.value.partial.text) == (["a", "b"], "ab")


def test_a_reply_that_breaks_off_is_its_error_when_it_is_asked_for_whole(colour):
    clock, error = VirtualClock(), StreamInterruptedError("cut")
    with pytest.raises(StreamInterruptedError) as caught:
        colour.generate(scripted(Reply.chunks(["a"], delay=2, then=error), clock=clock), "hi")
    assert caught.value is error
    assert clock.now() == 2


def test_a_tool_call_that_breaks_off_does_not_end(colour):
    reply = Reply(Reply.tool_call("f").pieces, then=StreamInterruptedError("cut"))
    types: list[type[Delta]] = []
    with colour.stream(scripted(reply), "hi") as stream, pytest.raises(StreamInterruptedError):
        types.extend(type(delta) for delta in stream)
    assert ToolCallStart in types
    assert ToolCallEnd not in types


def test_a_delay_longer_than_the_time_given_is_a_timeout(colour):
    clock = VirtualClock()
    llm = scripted(Reply.text("late", delay=100), Reply.chunks(["a", "b"], delay=8), clock=clock)
    with pytest.raises(RequestTimeoutError):
        colour.generate(llm, "hi", timeout=10)
    assert clock.now() == 10
    with (
        colour.stream(llm, "hi", timeout=10) as stream,
        pytest.raises(StreamInterruptedError, match="in the time") as caught,
    ):
        list(stream)
    assert caught.value.partial.text == "a"


def test_a_stream_left_early_gives_nothing_more(colour):
    clock = VirtualClock()
    llm = scripted(Reply.chunks(["a", "b"], delay=1), clock=clock)
    with colour.stream(llm, "hi") as stream:
        assert next(stream.text()) == "a"
    with pytest.raises(StreamInterruptedError, match="closed"):
        next(iter(stream))
    assert clock.now() == 1


@examples(50)
@given(st.text(st.characters(codec="utf-8")) | st.text("a \n", max_size=8))
def test_a_streamed_text_comes_by_words_and_adds_up(text: str):
    with scripted(text).stream("hi") as stream:
        deltas = list(stream)
    pieces = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert "".join(pieces) == text
    assert all(len(piece.split()) <= 1 for piece in pieces)
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))


@examples(30)
@given(strategies.replies(options=strategies.item_options("scripted")))
def test_a_streamed_reply_adds_up(reply: ModelReply):
    with scripted(reply).stream("hi") as stream:
        deltas = list(stream)
    own = (replace(part, origin="scripted/m") if isinstance(part, ReasoningPart) else part for part in reply.parts)
    assert accumulate(deltas) == replace(reply, parts=tuple(own))
    assert not any(len(delta.text.split()) > 1 for delta in deltas if isinstance(delta, TextDelta))


# The wire format.


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


def test_the_provider_says_what_it_takes():
    provider = ScriptedProvider()
    assert list(provider.options) == ["replies"]
    assert from_json(JSON.encode(CALL).request.body) == CALL


def test_a_scripted_model_is_called_so_unless_it_has_a_name_and_costs_nothing(colour):
    llm = create_llm("scripted", replies=["a"])
    assert (llm.model, list(llm.calls)) == ("scripted", [])
    assert colour.generate(llm, "hi").cost == 0.0
