"""Scripted models and their wire format: the schema's own JSON."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import LLM, Services, create_llm
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
from abstractcore.testing import ScriptedReply, VirtualClock, check_laws, strategies
from abstractcore_providers.scripted import ScriptedProvider
from abstractcore_providers.scripted.canonical_json import CanonicalJson
from tests.properties import examples

JSON = CanonicalJson()
CALL = ModelCall("m", (Message.user("two words"),), "scripted")


def scripted(*replies: Any, clock: VirtualClock | None = None, **options: Any) -> LLM:
    services = Services(clock=clock or VirtualClock(), environment={})
    return create_llm("scripted", model="m", replies=replies, services=services, max_retries=0, **options)


def timed(call_style: Any, llm: LLM, clock: VirtualClock) -> list[tuple[float, str]]:
    """The texts of a stream, each with the time at which it came."""
    with call_style.stream(llm, "hi") as stream:
        return [(clock.now(), text) for text in stream.text()]


def streamed(pieces: list[bytes]) -> list[Delta]:
    framer, decoder = JSON.framer(), JSON.decoder()
    frames = [frame for piece in pieces for frame in framer.feed(piece)] + framer.finish()
    return [delta for frame in frames for delta in decoder.feed(frame)] + decoder.finish()


@pytest.mark.exhaustive
def test_laws_hold():
    options = strategies.item_options("scripted")
    calls, replies = strategies.calls(options=options), strategies.replies(options=options)
    check_laws(JSON, "scripted", calls=calls, replies=replies, max_examples=25)


# What a script holds.


def test_string_is_a_reply_with_its_words_counted(call_style):
    reply = call_style.generate(scripted("three little words"), "two words").reply
    assert reply == ModelReply(
        (TextPart("three little words"),), "stop", usage=Usage(2, 3), model="m", provider="scripted"
    )
    assert call_style.generate(scripted(""), "hi").parts == ()


def test_replies_errors_and_functions_are_used_in_order(call_style):
    reply, error = ModelReply((ToolCall("c", "f"),), "tool_calls"), RateLimitError("slow down")
    llm = scripted(reply, error, lambda call: call.messages[0].text, lambda call: error, ScriptedReply.text("end"))
    assert call_style.generate(llm, "1").reply == reply
    with pytest.raises(RateLimitError) as caught:
        call_style.generate(llm, "2")
    assert caught.value is error
    assert call_style.generate(llm, "three").content == "three"
    with pytest.raises(RateLimitError):
        call_style.generate(llm, "4")
    assert call_style.generate(llm, "5").content == "end"
    assert [call.messages[0].text for call in llm.calls] == ["1", "2", "three", "4", "5"]


def test_exhausted_script_raises_with_a_hint(call_style):
    llm = scripted("one")
    call_style.generate(llm, "hi")
    with pytest.raises(ScriptExhaustedError, match="the script has 1 reply, but this is call 2") as caught:
        call_style.generate(llm, "hi")
    assert "Add a reply" in (caught.value.hint or "")


def test_one_function_answers_every_call(call_style):
    llm = create_llm("scripted", replies=lambda call: call.messages[-1].text.upper())
    assert [call_style.generate(llm, text).content for text in ("a", "b", "c")] == ["A", "B", "C"]
    assert len(llm.calls) == 3


def test_coroutine_function_that_does_not_suspend_works_sync_and_async(call_style):
    async def answer(call: ModelCall) -> ScriptedReply:
        return ScriptedReply.tool_call("echo", {"text": call.messages[-1].text})

    (call,) = call_style.generate(scripted(answer), "hi").tool_calls
    assert call.arguments == {"text": "hi"}


def test_coroutine_function_that_suspends_works_in_event_loops_only():
    async def answer(call: ModelCall) -> str:
        await asyncio.sleep(0)
        return "waited"

    llm = scripted(answer, answer)
    with pytest.raises(RuntimeError, match="use the async API"):
        llm.generate("hi")
    assert asyncio.run(llm.agenerate("hi")).content == "waited"


def test_exception_of_a_function_reaches_the_caller(call_style):
    def fail(call: ModelCall) -> str:
        raise ZeroDivisionError("bug in the test")

    with pytest.raises(ZeroDivisionError, match="bug in the test"):
        call_style.generate(scripted(fail), "hi")


@pytest.mark.parametrize("answer", [5, None, len, RateLimitError])
def test_invalid_return_value_of_a_function_is_named(call_style, answer):
    with pytest.raises(
        ConfigurationError, match=r"replies\[1\], return value of the function: expected a text, a ScriptedReply"
    ):
        llm = scripted("a", lambda call: answer)
        call_style.generate(llm, "1")
        call_style.generate(llm, "2")


@pytest.mark.parametrize(
    ("entry", "kind"), [(5, "int"), (None, "NoneType"), (RateLimitError, "the class RateLimitError"), (["a"], "list")]
)
def test_invalid_reply_is_refused_at_creation_with_its_index(entry, kind):
    with pytest.raises(ConfigurationError, match=rf"^replies\[2\]: expected a text, .*, got {kind}$"):
        scripted("a", "b", entry)


@pytest.mark.parametrize("replies", ["one", 5, {"a"}, RateLimitError])
def test_replies_must_be_a_list_or_a_function(replies):
    with pytest.raises(ConfigurationError, match="must be a list, or a function"):
        create_llm("scripted", replies=replies)


def test_threads_share_a_script_without_using_a_reply_twice():
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


# What a `ScriptedReply` is.


def test_reply_has_reasoning_usage_and_finish_reason(call_style):
    reply = ScriptedReply.text("so", reasoning="well", usage=Usage(7, 8), finish_reason="length")
    assert call_style.generate(scripted(reply), "hi").reply == ModelReply(
        (ReasoningPart("well", origin="scripted/m"), TextPart("so")),
        "length",
        usage=Usage(7, 8),
        model="m",
        provider="scripted",
    )


def test_default_tool_call_id_has_turn_and_index(call_style):
    reply = (
        ScriptedReply.text("Let me look.")
        + ScriptedReply.tool_call("weather", {"city": "Ulm"})
        + ScriptedReply.tool_call("time")
    )
    llm = scripted(reply, ScriptedReply.tool_call("weather", id="mine"))
    response = call_style.generate(llm, messages=[Message.assistant("Hello."), Message.user("How is it?")])
    assert response.content == "Let me look."
    assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [
        ("call_1_0", "weather", {"city": "Ulm"}),
        ("call_1_1", "time", {}),
    ]
    assert response.finish_reason == "tool_calls"
    assert call_style.generate(llm, "hi").tool_calls[0].id == "mine"


def test_invalid_json_arguments_are_sent_unchanged(call_style):
    (call,) = call_style.generate(scripted(ScriptedReply.tool_call("f", '{"x": ')), "hi").tool_calls
    assert (call.arguments_text, call.arguments) == ('{"x": ', None)


def test_added_replies_are_concatenated(call_style):
    clock = VirtualClock()
    reply = ScriptedReply.text("a", usage=Usage(1, 2)) + ScriptedReply.chunks(["b", "c"], delay=1, usage=Usage(3, 4))
    reply += ScriptedReply.tool_call("f", delay=5)
    response = call_style.generate(scripted(reply, clock=clock), "hi")
    assert (response.content, response.usage, clock.now()) == ("abc", Usage(4, 6), 7.0)


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: ScriptedReply.text(5), "text"),
        (lambda: ScriptedReply.text("\ud800"), "text"),
        (lambda: ScriptedReply.text("a", reasoning=5), "reasoning"),
        (lambda: ScriptedReply.text("a", delay=-1), "delay"),
        (lambda: ScriptedReply.text("a", delay=float("nan")), "delay"),
        (lambda: ScriptedReply.text("a", delay="1"), "delay"),
        (lambda: ScriptedReply.text("a", finish_reason="bored"), "finish_reason"),
        (lambda: ScriptedReply.tool_call("f", {"x": float("nan")}), "arguments.x"),
        (lambda: ScriptedReply.tool_call("f", {"x": {1}}), "arguments.x"),
        (lambda: ScriptedReply.tool_call(5), "name"),
        (lambda: ScriptedReply.chunks("ab"), "texts"),
        (lambda: ScriptedReply.chunks(["a", 5]), "texts[1].text"),
        (lambda: ScriptedReply.chunks(["a", ""]), "pieces[1]"),
        (lambda: ScriptedReply.chunks(["a"], then=ValueError("x")), "then"),
        (lambda: ScriptedReply.chunks([], then=OverloadedError("x")) + ScriptedReply.text("a"), "then"),
        (lambda: ScriptedReply((Piece("a"),)), "pieces[0].parts[0]"),
    ],
)
def test_invalid_reply_arguments_are_refused_with_their_path(make, path):
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert caught.value.path == path


# How it comes.


def test_chunks_are_streamed_exactly_with_their_delay(call_style):
    clock = VirtualClock()
    llm = scripted(ScriptedReply.chunks(["a b", " ", "c"], delay=0.1), clock=clock)
    times, texts = zip(*timed(call_style, llm, clock), strict=True)
    assert texts == ("a b", " ", "c")
    assert times == pytest.approx((0.1, 0.2, 0.3))


def test_chunks_without_streaming_are_joined_with_their_total_delay(call_style):
    clock = VirtualClock()
    assert (
        call_style.generate(scripted(ScriptedReply.chunks(["a b", " ", "c"], delay=2), clock=clock), "hi").content
        == "a b c"
    )
    assert clock.sleeps == [6]


def test_delayed_text_is_streamed_by_words_after_the_delay(call_style):
    clock = VirtualClock()
    assert timed(call_style, scripted(ScriptedReply.text("a b", delay=3), clock=clock), clock) == [(3, "a"), (3, " b")]


def test_no_delta_precedes_the_delay(call_style):
    clock = VirtualClock()
    with call_style.stream(scripted(ScriptedReply.text("a", reasoning="r", delay=3), clock=clock), "hi") as stream:
        assert next((clock.now(), delta.type) for delta in stream) == (3, "reply_start")


def test_each_part_waits_for_its_own_delay(call_style):
    clock = VirtualClock()
    picture = ImagePart(Blob.from_bytes(b"\x89PNG", "image/png"))
    pieces = (Piece(ReasoningPart("r"), 1), Piece(ReasoningPart("s"), 1), Piece(picture, 2))
    reply = ScriptedReply(pieces) + ScriptedReply.chunks(["a"]) + ScriptedReply.tool_call("f", delay=4)
    with call_style.stream(scripted(reply, clock=clock), "hi") as stream:
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
def test_scripted_stream_ends_in_its_error(call_style, error):
    with call_style.stream(scripted(ScriptedReply.chunks(["a", "b"], then=error)), "hi") as stream:
        texts = []
        with pytest.raises((StreamInterruptedError, ServerError)) as caught:
            texts.extend(each.text for each in stream if isinstance(each, TextDelta))
        assert (texts, caught.value.partial.text) == (["a", "b"], "ab")


def test_interrupted_reply_raises_its_error_without_streaming(call_style):
    clock, error = VirtualClock(), StreamInterruptedError("cut")
    with pytest.raises(StreamInterruptedError) as caught:
        call_style.generate(scripted(ScriptedReply.chunks(["a"], delay=2, then=error), clock=clock), "hi")
    assert caught.value is error
    assert clock.now() == 2


def test_interrupted_tool_call_does_not_end(call_style):
    reply = ScriptedReply(ScriptedReply.tool_call("f").pieces, then=StreamInterruptedError("cut"))
    types: list[type[Delta]] = []
    with call_style.stream(scripted(reply), "hi") as stream, pytest.raises(StreamInterruptedError):
        types.extend(type(delta) for delta in stream)
    assert ToolCallStart in types
    assert ToolCallEnd not in types


def test_delay_longer_than_the_timeout_is_a_timeout(call_style):
    clock = VirtualClock()
    llm = scripted(ScriptedReply.text("late", delay=100), ScriptedReply.chunks(["a", "b"], delay=8), clock=clock)
    with pytest.raises(RequestTimeoutError):
        call_style.generate(llm, "hi", timeout=10)
    assert clock.now() == 10
    with (
        call_style.stream(llm, "hi", timeout=10) as stream,
        pytest.raises(StreamInterruptedError, match="timed out after") as caught,
    ):
        list(stream)
    assert caught.value.partial.text == "a"


def test_abandoned_stream_yields_nothing_more(call_style):
    clock = VirtualClock()
    llm = scripted(ScriptedReply.chunks(["a", "b"], delay=1), clock=clock)
    with call_style.stream(llm, "hi") as stream:
        assert next(stream.text()) == "a"
    with pytest.raises(StreamInterruptedError, match="closed"):
        next(iter(stream))
    assert clock.now() == 1


@examples(50)
@given(st.text(st.characters(codec="utf-8")) | st.text("a \n", max_size=8))
def test_streamed_text_arrives_by_words_and_accumulates(text: str):
    with scripted(text).stream("hi") as stream:
        deltas = list(stream)
    pieces = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert "".join(pieces) == text
    assert all(len(piece.split()) <= 1 for piece in pieces)
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))


@examples(30)
@given(strategies.replies(options=strategies.item_options("scripted")))
def test_streamed_reply_accumulates(reply: ModelReply):
    with scripted(reply).stream("hi") as stream:
        deltas = list(stream)
    own = (replace(part, origin="scripted/m") if isinstance(part, ReasoningPart) else part for part in reply.parts)
    assert accumulate(deltas) == replace(reply, parts=tuple(own))
    assert not any(len(delta.text.split()) > 1 for delta in deltas if isinstance(delta, TextDelta))


# The wire format.


def test_truncated_stream_is_an_interruption():
    pieces = [to_json(delta).encode() + b"\n" for delta in deltas_of(ModelReply((ReasoningPart("r"),)))]
    assert accumulate(streamed(pieces)).reasoning == "r"
    with pytest.raises(StreamInterruptedError):
        streamed(pieces[:-1])


def test_error_in_a_stream_is_raised():
    stream = JSON.renderer().error(OverloadedError("busy", retry_after=2.0))
    with pytest.raises(OverloadedError, match="busy") as caught:
        streamed([stream])
    assert caught.value.retry_after == 2.0


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"\xff", to_json(ModelReply()).encode(), to_json(TextPart("x")).encode()]
)
def test_value_that_is_not_a_call_is_refused(body: bytes):
    with pytest.raises(InvalidInputError):
        JSON.parse(WireRequest("/call", {}, body))


@pytest.mark.parametrize("body", [b"", b"{}", b"\xff", to_json(CALL).encode()])
def test_invalid_reply_is_a_server_error(body: bytes):
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
def test_unknown_error_class_is_a_server_error(body: bytes):
    error = JSON.error(WireResponse(500, {}, body))
    assert type(error) is ServerError
    assert (error.status, error.retry_after) == (500, None)


def test_non_provider_errors_become_server_errors():
    error: AbstractCoreError = ConfigurationError("no")
    assert type(JSON.error(JSON.render_error(error))) is ServerError


def test_provider_lists_its_options():
    provider = ScriptedProvider()
    assert list(provider.options) == ["replies"]
    assert from_json(JSON.encode(CALL).request.body) == CALL


def test_default_model_name_is_scripted_and_costs_nothing(call_style):
    llm = create_llm("scripted", replies=["a"])
    assert (llm.model, list(llm.calls)) == ("scripted", [])
    assert call_style.generate(llm, "hi").cost == 0.0
