"""Encoding calls as requests: parts, options, warnings, refusals."""

from dataclasses import replace
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    Citation,
    DocumentPart,
    HostedTool,
    ImagePart,
    Message,
    ModelCall,
    OpaquePart,
    OutputSchema,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    VideoPart,
)
from tests.providers.formats.cohere_chat.generated import DOCUMENT
from tests.providers.formats.cohere_chat.wire import COHERE, body_of, call

IMAGE = ImagePart(Blob.from_bytes(b"x", "image/png"), "low")
CALL = ToolCall("c", "f", '{"a": 1.10}')
DONE = Message.tool(ToolResult.text("c", "done"))


def losses(call: ModelCall) -> dict[str, tuple[str, Any]]:
    """The code and what was sent, by path."""
    return {warning.path: (warning.code, warning.sent) for warning in COHERE.encode(call).warnings}


def sent(*messages: Message) -> Any:
    return body_of(call(*messages))["messages"]


# Content


@pytest.mark.parametrize(
    "part",
    [
        AudioPart(Blob.from_bytes(b"x", "audio/wav")),
        VideoPart(Blob.from_bytes(b"x", "video/mp4")),
        DocumentPart(Blob.from_bytes(b"x", "application/pdf")),
    ],
    ids=lambda part: part.type,
)
def test_unsupported_content_is_refused_with_its_path(part: Any):
    with pytest.raises(UnsupportedContentError, match=r"messages\[0\].parts\[1\]"):
        COHERE.encode(call(Message.user("look", part)))


def test_text_and_images_keep_their_order():
    (message,) = sent(Message.user("a", IMAGE, "b"))
    assert message["content"] == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA==", "detail": "low"}},
        {"type": "text", "text": "b"},
    ]


@pytest.mark.parametrize("part", [IMAGE, DocumentPart(Blob.from_bytes(b"x", "application/pdf"))], ids=["image", "pdf"])
def test_media_inside_a_tool_result_are_refused_with_their_path(part: Any):
    results = Message.tool(ToolResult("c", (TextPart("a"), part)))
    with pytest.raises(UnsupportedContentError, match=r"messages\[2\].parts\[0\].content"):
        COHERE.encode(call(Message.user("x"), Message.assistant(CALL), results))


def test_existing_document_object_in_a_tool_result_is_kept():
    messages = sent(Message.user("x"), Message.assistant(CALL), Message.tool(ToolResult("c", (DOCUMENT,))))
    assert messages[2]["content"] == [{"type": "document", "document": {"data": {"title": "A"}, "id": "d1"}}]


def test_second_system_message_stays_in_place():
    messages = sent(Message.system("a"), Message.user("b"), Message.system("c"), Message.user("d"))
    assert [message["role"] for message in messages] == ["system", "user", "system", "user"]


def test_text_with_tool_calls_is_the_tool_plan_and_arguments_are_unchanged():
    said = Message.assistant("I will look.", CALL)
    assert sent(Message.user("x"), said, DONE)[1] == {
        "role": "assistant",
        "tool_plan": "I will look.",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.10}'}}],
    }
    moved = call(Message.user("x"), Message.assistant(CALL, "I looked."), DONE)
    assert losses(moved) == {"messages[1].parts[1]": ("reordered", 0)}


def test_reasoning_is_sent_back_in_order_to_its_model_only():
    own, others = (ReasoningPart("Hm.", origin=f"cohere/{model}") for model in ("m", "n"))
    blocks = sent(Message.user("a"), Message.assistant("b", own, "c"))[1]["content"]
    assert [block["type"] for block in blocks] == ["text", "thinking", "text"]
    moved = call(Message.user("a"), Message.assistant(others, "b"))
    assert losses(moved) == {"messages[1].parts[0]": ("reasoning_left_out", None)}


def test_citations_are_sent_back_with_their_text():
    cited = TextPart("abc", (Citation("d1", "A", "so", 0, 2),))
    source = {"type": "document", "id": "d1", "document": {"title": "A", "snippet": "so"}}
    citation = {"start": 0, "end": 2, "text": "ab", "sources": [source]}
    assert sent(Message.user("a"), Message.assistant(cited))[1]["citations"] == [
        citation | {"type": "TEXT_CONTENT", "content_index": 0}
    ]
    planned = sent(Message.user("a"), Message.assistant(cited, CALL), DONE)
    assert planned[1]["citations"] == [citation | {"type": "PLAN"}]


def test_texts_separated_by_a_cache_point_are_joined():
    apart = call(Message.user(TextPart("a", cache=CachePoint()), "b"))
    assert body_of(apart)["messages"][0]["content"] == "ab"
    assert losses(apart) == {"messages[0].parts[0].cache": ("cache_left_out", None)}


def test_opaque_parts_of_other_providers_are_left_out():
    assert losses(call(Message("user", (OpaquePart("x", "y"), TextPart("a"))))) == {
        "messages[0].parts[0]": ("part_left_out", None)
    }
    with pytest.raises(UnsupportedContentError, match="no field for any part"):
        COHERE.encode(call(Message("user", (OpaquePart("x", "y"),))))


def test_hosted_tools_are_refused():
    with pytest.raises(UnsupportedContentError, match="web_search"):
        COHERE.encode(call(hosted_tools=(HostedTool("web_search"),)))


# Options of parts and messages


def test_item_options_are_written_into_their_objects():
    tone = {"cohere": {"tone": "dry"}}
    user = Message("user", (TextPart("a", provider_options=tone), TextPart("b")), {"cohere": {"name": "Ann"}})
    said = Message.assistant(replace(CALL, provider_options=tone))
    result = Message.tool(ToolResult("c", (TextPart("x"),), provider_options=tone))
    first, second, third = sent(user, said, result)
    texts = [{"type": "text", "text": "a", "tone": "dry"}, {"type": "text", "text": "b"}]
    assert first == {"role": "user", "content": texts, "name": "Ann"}
    assert (second["tool_calls"][0]["tone"], third["tone"], third["content"]) == ("dry", "dry", "x")


def test_item_options_of_plans_and_other_providers_have_a_warning_and_field_conflicts_are_refused():
    own, others = {"cohere": {"tone": "dry"}}, {"xai": {"a": 1}}
    planned = call(Message.user("x"), Message.assistant(TextPart("p", provider_options=own), CALL), DONE)
    assert losses(planned) == {"messages[1].parts[0].provider_options.cohere": ("options_left_out", None)}
    foreign = call(Message("user", (TextPart("a", provider_options=others), TextPart("b"))))
    assert losses(foreign) == {"messages[0].parts[0].provider_options.xai": ("other_provider_options", None)}
    assert body_of(foreign)["messages"][0]["content"] == "ab"
    with pytest.raises(InvalidInputError) as caught:
        COHERE.encode(call(Message("assistant", (TextPart("a"),), {"cohere": {"tool_plan": "b"}})))
    assert caught.value.path == "messages[0].provider_options.cohere.tool_plan"


# Options


def test_sampling_has_the_formats_field_names():
    body = body_of(call(sampling=Sampling(5, 0.5, 0.9, 40, 1, ("x",), 0.1, 0.2, 0)))
    own = {"max_tokens": 5, "temperature": 0.5, "p": 0.9, "k": 40, "seed": 1, "stop_sequences": ["x"]}
    own |= {"presence_penalty": 0.1, "frequency_penalty": 0.2, "logprobs": True, "stream": False}
    assert {name: value for name, value in body.items() if name not in ("model", "messages")} == own
    assert losses(call(sampling=Sampling(top_logprobs=3))) == {"sampling.top_logprobs": ("alternatives_left_out", 0)}


@pytest.mark.parametrize(
    ("thinking", "body", "warned"),
    [
        ("off", {"type": "disabled"}, {}),
        ("medium", {"type": "enabled"}, {}),
        (500, {"type": "enabled", "token_budget": 500}, {}),
        ("low", {"type": "enabled"}, {"thinking": ("thinking_changed", "medium")}),
        (0, {"type": "disabled"}, {"thinking": ("thinking_changed", "off")}),
    ],
)
def test_thinking_is_a_budget_or_a_switch(thinking: Any, body: Any, warned: dict[str, Any]):
    asked = call(thinking=thinking)
    assert body_of(asked)["thinking"] == body
    assert losses(asked) == warned


def test_strict_tools_are_all_or_none():
    for strict in (True, False):
        assert (
            body_of(call(tools=(ToolSpec("f", strict=strict), ToolSpec("g", strict=strict))))["strict_tools"] is strict
        )
    mixed = call(tools=(ToolSpec("f", strict=True), ToolSpec("g")))
    assert "strict_tools" not in body_of(mixed)
    assert losses(mixed) == {"tools[0].strict": ("unsupported_option", None)}


@pytest.mark.parametrize(
    ("choice", "word", "warned"),
    [
        (ToolChoice("required"), "REQUIRED", {}),
        (ToolChoice("none"), "NONE", {}),
        (ToolChoice("auto"), None, {"tool_choice": ("no_effect", None)}),
        (ToolChoice("tool", "f"), "REQUIRED", {"tool_choice": ("tool_choice_changed", {"mode": "required"})}),
    ],
    ids=lambda value: getattr(value, "mode", None),
)
def test_tool_choice_is_encoded(choice: ToolChoice, word: str | None, warned: dict[str, Any]):
    asked = call(tool_choice=choice)
    assert body_of(asked).get("tool_choice") == word
    assert losses(asked) == warned


def test_schema_is_sent_as_json_object():
    schema = {"title": "Answer", "type": "object"}
    asked = call(output=OutputSchema("Answer", schema))
    assert body_of(asked)["response_format"] == {"type": "json_object", "json_schema": schema}
    assert losses(asked) == {}


def test_provider_options_are_merged_and_conflicts_reported():
    body = body_of(call(provider_options={"cohere": {"safety_mode": "OFF", "documents": ["a"]}}))
    assert (body["safety_mode"], body["documents"]) == ("OFF", ["a"])
    for options in ({"p": 1}, {"stream": True}, {"thinking": {"type": "disabled"}}):
        with pytest.raises(InvalidInputError) as caught:
            COHERE.encode(call(provider_options={"cohere": options}))
        assert caught.value.path == f"provider_options.cohere.{next(iter(options))}"
    assert set(losses(call(provider_options={"x": {"a": 1}}, parallel_tool_calls=False, modalities=("text",)))) == {
        "provider_options.x",
        "parallel_tool_calls",
        "modalities",
    }
