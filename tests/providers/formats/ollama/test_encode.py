"""Encoding calls as requests: parts, options, warnings, refusals."""

from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    NO_OPTIONS,
    AudioPart,
    Blob,
    CachePoint,
    DocumentPart,
    HostedTool,
    ImagePart,
    Message,
    ModelCall,
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
from abstractcore_providers.formats.ollama import OllamaChat
from tests.providers.formats.ollama.generated import PNG
from tests.providers.formats.ollama.wire import OLLAMA, body_of, call

IMAGE = ImagePart(Blob.from_bytes(PNG, "image/png"))


def losses(call: ModelCall) -> dict[str, tuple[str, Any]]:
    """The code and what was sent, by path."""
    return {warning.path: (warning.code, warning.sent) for warning in OLLAMA.encode(call).warnings}


# Content


@pytest.mark.parametrize(
    "part",
    [
        AudioPart(Blob.from_bytes(b"x", "audio/wav")),
        VideoPart(Blob.from_bytes(b"x", "video/mp4")),
        DocumentPart(Blob.from_bytes(b"x", "application/pdf")),
        ImagePart(Blob.from_url("https://a/b.png", "image/png")),
    ],
    ids=lambda part: part.type,
)
def test_unsupported_content_is_refused_with_its_path(part: Any):
    with pytest.raises(UnsupportedContentError, match=r"messages\[0\].parts\[1\]"):
        OLLAMA.encode(call(Message.user("look", part)))


def test_images_precede_the_text():
    encoded = OLLAMA.encode(call(Message.user(IMAGE, "look")))
    assert encoded.warnings == ()
    assert losses(call(Message.user("look", IMAGE))) == {"messages[0].parts[1]": ("reordered", 0)}


def test_image_inside_a_tool_result_is_sent():
    asked = Message.assistant(ToolCall("c", "look"))
    sent = body_of(call(Message.user("x"), asked, Message.tool(ToolResult("c", (IMAGE, TextPart("here"))))))
    assert sent["messages"][2]["images"]
    assert (sent["messages"][2]["tool_name"], sent["messages"][2]["content"]) == ("look", "here")


def test_second_system_message_stays_in_place():
    sent = body_of(call(Message.system("a"), Message.user("b"), Message.system("c"), Message.user("d")))
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "system", "user"]


def test_reasoning_is_sent_back_to_its_model_only():
    own, others = (ReasoningPart("Hm.", origin=f"ollama/{model}") for model in ("m", "n"))
    sent = call(Message.user("a"), Message.assistant(own, "b"), Message.user("c"))
    assert body_of(sent)["messages"][1]["thinking"] == "Hm."
    moved = call(Message.user("a"), Message.assistant(others, "b"), Message.user("c"))
    assert "thinking" not in body_of(moved)["messages"][1]
    assert losses(moved) == {"messages[1].parts[0]": ("reasoning_left_out", None)}


def turn(*calls: ToolCall, options: Any = NO_OPTIONS) -> tuple[Message, ...]:
    """A question, calls, and their results."""
    results = (ToolResult.text(call.id, "b") for call in calls)
    return (Message.user("a"), Message("assistant", calls, options), Message.tool(*results))


def test_arguments_are_sent_unchanged():
    body = OLLAMA.encode(call(*turn(ToolCall("c", "f", '{"a": 1.10}'), ToolCall("d", "f", "{ }")))).request.body
    assert b'"arguments":{"a": 1.10}' in body
    assert b'"arguments":{ }' in body


@pytest.mark.parametrize(
    ("text", "sent"), [('{"a":\n1.10}', '{"a":1.1}'), ("{broken", "{}"), ("", "{}"), (" {}", "{}")]
)
def test_arguments_that_cannot_be_sent_unchanged_have_a_warning(text: str, sent: str):
    said = call(*turn(ToolCall("c", "f", text)))
    assert losses(said) == {"messages[1].parts[0].arguments_text": ("arguments_rewritten", sent)}


def test_item_options_are_written_into_their_objects():
    def own(**options: Any) -> Any:
        return {"ollama": options, "another": {"a": 1}}

    asked = ToolCall("c", "f", provider_options=own(odd=1))
    result = ToolResult("c", (TextPart("b", provider_options=own(lost=1)),), provider_options=own(cost=2))
    said = Message("assistant", (asked,), own(mood="calm"))
    given = call(Message("user", (TextPart("a"),), own(name="Ann")), said, Message.tool(result))
    written = body_of(given)["messages"]
    assert [written[0]["name"], written[1]["mood"], written[2]["cost"]] == ["Ann", "calm", 2]
    assert written[1]["tool_calls"][0]["odd"] == 1
    places = ["messages[0]", "messages[1]", "messages[1].parts[0]", "messages[2].parts[0]"]
    others = {f"{place}.provider_options.another" for place in [*places, "messages[2].parts[0].content[0]"]}
    assert set(losses(given)) == {*others, "messages[2].parts[0].content[0].provider_options.ollama"}


@pytest.mark.parametrize(
    ("options", "part", "path"),
    [
        ({"content": "x"}, ToolCall("c", "f"), "messages[1].provider_options.ollama.content"),
        (
            {},
            ToolCall("c", "f", provider_options={"ollama": {"id": "d"}}),
            "messages[1].parts[0].provider_options.ollama.id",
        ),
    ],
)
def test_item_option_with_a_schema_field_is_refused(options: Any, part: ToolCall, path: str):
    with pytest.raises(InvalidInputError) as caught:
        OLLAMA.encode(call(*turn(part, options={"ollama": options})))
    assert caught.value.path == path


def test_hosted_tools_are_refused():
    with pytest.raises(UnsupportedContentError, match="web_search"):
        OLLAMA.encode(call(hosted_tools=(HostedTool("web_search"),)))


# Options


def test_sampling_is_in_options():
    sampling = Sampling(5, 0.5, 0.9, 40, 1, ("x",), 0.1, 0.2, 3)
    sent = body_of(call(sampling=sampling))
    assert sent["options"] == {
        "num_predict": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "seed": 1,
        "stop": ["x"],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
    }
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 3)


@pytest.mark.parametrize(
    ("thinking", "sent", "warned"),
    [
        ("off", False, {}),
        ("medium", True, {}),
        ("low", "low", {}),
        ("high", "high", {}),
        ("max", "max", {}),
        ("minimal", "low", {"thinking": ("thinking_changed", "low")}),
        ("xhigh", "max", {"thinking": ("thinking_changed", "max")}),
        (0, False, {"thinking": ("thinking_changed", "off")}),
        (2048, None, {"thinking": ("unsupported_option", None)}),
    ],
)
def test_thinking_is_a_flag_or_a_level(thinking: Any, sent: Any, warned: dict[str, Any]):
    asked = call(thinking=thinking)
    assert body_of(asked).get("think") == sent
    assert losses(asked) == warned


def test_output_schema_is_the_format_and_its_title_the_name():
    schema = {"title": "Answer", "type": "object"}
    assert body_of(call(output=OutputSchema("Answer", schema)))["format"] == schema
    assert losses(call(output=OutputSchema("Answer", schema))) == {}
    assert losses(call(output=OutputSchema("Other", {}, "d", strict=False))) == {
        "output.name": ("name_left_out", "output"),
        "output.description": ("description_left_out", None),
        "output.strict": ("always_strict", True),
    }


def test_unsupported_options_have_a_warning():
    asked = call(
        tools=(ToolSpec("f", strict=True, cache=CachePoint()),),
        tool_choice=ToolChoice("required"),
        parallel_tool_calls=False,
        modalities=("text",),
    )
    assert set(losses(asked)) == {
        "tools[0].cache",
        "tools[0].strict",
        "tool_choice",
        "parallel_tool_calls",
        "modalities",
    }


def test_provider_options_are_merged_and_conflicts_reported():
    given = {"keep_alive": "5m", "options": {"min_p": 0.1, "num_predict": -1}}
    sent = body_of(call(provider_options={"ollama": given}))
    assert (sent["keep_alive"], sent["options"]) == ("5m", given["options"])
    for options, path in (
        ({"stream": True}, "stream"),
        ({"think": True}, "think"),
        ({"options": {"top_k": 1}}, "options.top_k"),
        ({"options": 5}, "options"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            OLLAMA.encode(call(provider_options={"ollama": options}))
        assert caught.value.path == f"provider_options.ollama.{path}"


# The size of the context


def test_every_request_disables_truncation():
    assert {name: body_of(call())[name] for name in ("truncate", "shift")} == {"truncate": False, "shift": False}
    cut = call(provider_options={"ollama": {"truncate": True}})
    assert body_of(cut)["truncate"] is True


def test_small_call_omits_num_ctx():
    assert "options" not in body_of(call(Message.user("x" * 6000)))


@pytest.mark.parametrize(
    ("message", "limit", "size"),
    [
        (Message.user("x" * 7000), None, 8192),
        (Message.user("日" * 6000), None, 16384),
        (Message.user("hi"), 5000, 8192),
        (Message.user(*[ImagePart(Blob.from_bytes(PNG + bytes([i]), "image/png")) for i in range(2)]), None, 8192),
        (Message.user("x" * 200_000), None, 131_072),
    ],
)
def test_large_call_sets_num_ctx(message: Message, limit: int | None, size: int):
    asked = call(message, sampling=Sampling(max_output_tokens=limit))
    assert body_of(asked)["options"]["num_ctx"] == size


def test_num_ctx_changes_rarely_in_a_growing_conversation():
    sizes = {body_of(call(Message.user("x" * 500 * turn))).get("options", {}).get("num_ctx") for turn in range(1, 100)}
    assert sizes == {None, 8192, 16384, 32768}


def test_explicit_context_size_takes_precedence_call_before_provider():
    ours = OllamaChat(context_size=2048)
    assert body_of(call(Message.user("x" * 9000)), ours)["options"] == {"num_ctx": 2048}
    asked = call(provider_options={"ollama": {"options": {"num_ctx": 512}}})
    assert body_of(asked, ours)["options"] == {"num_ctx": 512}


def test_redundant_context_size_has_a_warning():
    asked = call(provider_options={"ollama": {"options": {"num_ctx": 2048}}})
    (warning,) = OllamaChat(context_size=2048).encode(asked).warnings
    assert (warning.code, warning.path) == ("no_effect", "provider_options.ollama.options.num_ctx")
