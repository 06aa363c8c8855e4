"""The one canonical form of messages, calls and replies."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    Citation,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    OutputSchema,
    ReasoningPart,
    Sampling,
    SchemaError,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from abstractcore.testing import strategies
from tests.properties import examples

IMAGE = ImagePart(Blob.from_bytes(b"1", "image/png"))
ASKS = Message.assistant(ToolCall("a", "t"), ToolCall("b", "t"), ToolCall("c", "t"))


def call(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall("m", messages, **fields)


def result(id: str) -> ToolResult:
    return ToolResult.text(id, f"result of {id}")


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        (("a", "b"), ("ab",)),
        (("a", "", "b"), ("ab",)),
        (("", IMAGE, ""), (IMAGE,)),
        (("a", IMAGE, "b", "c"), ("a", IMAGE, "bc")),
    ],
)
def test_adjacent_texts_are_joined_and_empty_ones_dropped(given: tuple[Any, ...], canonical: tuple[Any, ...]):
    assert Message.user(*given).parts == Message.user(*canonical).parts
    assert len(Message.user(*given).parts) == len(canonical)


def test_joined_texts_shift_their_citations():
    first = TextPart("ab", (Citation("one", start=0, end=1),))
    second = TextPart("cde", (Citation("two", start=1, end=3), Citation("three")))
    reply = ModelReply((first, TextPart(""), second, TextPart("f")))
    assert reply.parts == (
        TextPart(
            "abcdef",
            (Citation("one", start=0, end=1), Citation("two", start=3, end=5), Citation("three", start=2, end=5)),
        ),
    )


def test_text_with_options_is_not_joined():
    plain, built = TextPart("a"), TextPart("b", provider_options={"p": {"x": 1}})
    assert Message.user(plain, built, plain, plain).parts == (plain, built, TextPart("aa"))


@pytest.mark.parametrize("nothing", [{}, {"p": {}}, {"p": {"x": None}}])
def test_empty_provider_options_are_dropped(nothing: dict[str, Any]):
    assert TextPart("a", provider_options=nothing) == TextPart("a")
    assert Message("user", (TextPart("a"),), nothing) == Message.user("a")


def test_provider_options_are_refused_where_they_cannot_be_sent():
    options = {"p": {"x": 1}}
    with pytest.raises(SchemaError, match="provider_options: an empty text"):
        TextPart("", provider_options=options)
    with pytest.raises(SchemaError, match="provider_options: a tool message has no provider options"):
        Message("tool", (result("a"),), options)


def test_citation_without_a_span_covers_the_whole_part():
    assert TextPart("abc", (Citation("s"),)).citations == (Citation("s", start=0, end=3),)
    assert TextPart("abc", (Citation("s", start=1),)).citations == (Citation("s", start=1, end=3),)


def test_adjacent_plain_reasoning_is_joined_and_signed_reasoning_is_not():
    plain, signed = ReasoningPart("a", origin="p/m"), ReasoningPart("b", signature="s", origin="p/m")
    other = ReasoningPart("c", origin="p/n")
    assert ModelReply((plain, plain, signed, plain, other)).parts == (
        ReasoningPart("aa", origin="p/m"),
        signed,
        plain,
        other,
    )
    assert ModelReply((ReasoningPart(), ReasoningPart(redacted_data="x"), ReasoningPart())).parts == (
        ReasoningPart(redacted_data="x"),
    )


@pytest.mark.parametrize("parts", [(), (TextPart(""),), (TextPart(""), TextPart("")), (ReasoningPart(),)])
@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_empty_message_is_refused(role: Any, parts: tuple[Any, ...]):
    with pytest.raises(SchemaError, match=r"^parts"):
        Message(role, parts)


@pytest.mark.parametrize(
    ("role", "part"),
    [("system", IMAGE), ("user", ToolCall("a", "t")), ("user", ReasoningPart("x")), ("tool", TextPart("x"))],
    ids=lambda value: getattr(value, "type", value),
)
def test_part_that_its_role_cannot_hold_is_refused_with_its_path(role: Any, part: Any):
    with pytest.raises(SchemaError, match="is not allowed here") as caught:
        Message(role, (*((TextPart("x"),) if role != "tool" else (result("a"),)), part))
    assert caught.value.path == "parts[1]"


def test_tool_results_are_one_message_in_call_order():
    built = call(ASKS, Message.tool(result("c")), Message.tool(result("a"), result("b")))
    assert built.messages == (ASKS, Message.tool(result("a"), result("b"), result("c")))


def test_tool_results_follow_their_turn():
    system = Message.system("be quick")
    built = call(ASKS, system, Message.tool(result("b")), system, Message.tool(result("a")))
    assert built.messages == (ASKS, Message.tool(result("a"), result("b")), system, system)


def test_each_turn_has_its_own_tool_results():
    built = call(ASKS, Message.tool(result("a")), ASKS, Message.tool(result("a")))
    assert built.messages == (ASKS, Message.tool(result("a")), ASKS, Message.tool(result("a")))


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ((Message.tool(result("a")),), "has no such call"),
        ((ASKS, Message.tool(result("x"))), "has no such call"),
        ((ASKS, Message.user("wait"), Message.tool(result("a"))), "has no such call"),
        ((ASKS, Message.assistant("no"), Message.tool(result("a"))), "has no such call"),
        ((ASKS, Message.tool(result("a"), result("a"))), "two results for tool call 'a'"),
        ((ASKS, Message.tool(result("a")), Message.system("x"), Message.tool(result("a"))), "two results"),
        ((Message.assistant(ToolCall("a", "t"), ToolCall("a", "u")),), "two tool calls have one id"),
        ((), "the call is empty"),
    ],
)
def test_tool_results_without_calls_are_refused_with_their_path(messages: tuple[Message, ...], what: str):
    with pytest.raises(SchemaError, match=what) as caught:
        call(*messages)
    assert caught.value.path == (f"messages[{len(messages) - 1}]" if messages else "messages")


def test_cache_point_keeps_a_text_separate_from_the_next():
    one, two, point = TextPart("a"), TextPart("b"), CachePoint(300)
    marked = TextPart("a", cache=point)
    assert Message("user", (one, replace(two, cache=point))).parts == (TextPart("ab", cache=point),)
    assert Message("user", (marked, two)).parts == (marked, two)
    assert Message("user", (marked, replace(two, cache=point))).parts == (marked, TextPart("b", cache=point))
    assert Message("user", (marked, TextPart(""))).parts == (marked,)


def test_option_none_counts_as_not_given():
    options = {"p": {"a": None, "b": {"c": None}}, "q": {"a": None}, "r": {}}
    assert call(Message.user("hi"), provider_options=options).provider_options == {"p": {"b": {"c": None}}}


@pytest.mark.parametrize(
    ("empty", "none"),
    [
        (ModelReply(id="", model="", raw_finish_reason="", provider_metadata={"a": None}), ModelReply()),
        (AudioPart(IMAGE.blob, transcript="", id=""), AudioPart(IMAGE.blob)),
        (ReasoningPart("x", signature="", redacted_data="", origin=""), ReasoningPart("x")),
        (ToolCall("a", "t", signature=""), ToolCall("a", "t")),
        (Citation("s", title="", quote=""), Citation("s")),
        (OutputSchema("n", {}, description=""), OutputSchema("n", {})),
        (Blob.from_bytes(b"", "a/b", name="").name, None),
    ],
    ids=["reply", "audio", "reasoning", "call", "citation", "output", "blob"],
)
def test_empty_optional_text_becomes_none(empty: object, none: object):
    assert empty == none


def test_meaningful_falsy_values_are_kept():
    sampling = Sampling(temperature=0, seed=0, top_k=0, top_logprobs=0, presence_penalty=0)
    made_with = call(Message.user("hi"), sampling=sampling, parallel_tool_calls=False, thinking=0)
    assert (sampling.temperature, sampling.seed, sampling.top_logprobs) == (0.0, 0, 0)
    assert type(sampling.temperature) is float
    assert made_with.parallel_tool_calls is False
    assert made_with.thinking == 0
    assert OpaquePart("p", "k", 0).data == 0


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("audio/x-wav", "audio/wav"),
        ("Audio/MP3", "audio/mpeg"),
        (" image/JPG ", "image/jpeg"),
        ("text/csv", "text/csv"),
    ],
)
def test_media_type_aliases_are_replaced(alias: str, name: str):
    assert Blob.from_bytes(b"", alias).media_type == name


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: ToolChoice("tool"), "tool"),
        (lambda: ToolChoice("auto", "t"), "tool"),
        (lambda: ImagePart(IMAGE.blob, "close"), "detail"),
        (lambda: Sampling(temperature=float("nan")), "temperature"),
        (lambda: Sampling(seed=1.5), "seed"),
        (lambda: Sampling(seed=True), "seed"),
        (lambda: Sampling(stop="x"), "stop"),
        (lambda: Sampling(stop=("a", "\ud800")), "stop[1]"),
        (lambda: ModelReply(finish_reason="bored"), "finish_reason"),
        (lambda: ModelCall("\ud800", (Message.user("hi"),)), "model"),
        (lambda: call(Message.user("hi"), thinking=True), "thinking"),
        (lambda: ToolCall("a", "\ud800"), "name"),
        (lambda: ToolResult("\ud800", ()), "call_id"),
        (lambda: Message("user", "hi"), "parts"),
        (lambda: Message.user("\ud800"), "text"),
    ],
)  # fmt: skip
def test_value_of_the_wrong_type_is_refused_with_its_field(make: Any, path: str):
    with pytest.raises(SchemaError) as caught:
        make()
    assert caught.value.path == path


@examples(60)
@given(strategies.calls(options=strategies.item_options("scripted")))
def test_canonical_form_is_idempotent(call: ModelCall):
    assert call.with_() == call


def test_changed_copy_is_validated_like_a_new_call():
    hello = call(Message.user("hi"))
    assert hello.with_(model="n").model == "n"
    with pytest.raises(SchemaError, match="the call is empty"):
        hello.with_(messages=())
    with pytest.raises(TypeError, match="modell"):
        hello.with_(modell="n")
