"""Encoding calls as requests: parts, options, warnings, refusals."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    Citation,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    OutputSchema,
    Part,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    VideoPart,
)
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import COMPATIBLE, LLAMA_CPP
from tests.providers.formats.openai_chat.wire import CHAT, body_of, call

PNG = Blob.from_bytes(b"png", "image/png")
PDF = Blob.from_bytes(b"%PDF", "application/pdf", name="a.pdf")
WAV = Blob.from_bytes(b"wav", "audio/wav")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
NO_PARAMETERS = {**SCHEMA, "description": "No parameters."}


def content(*parts: Any) -> Any:
    return body_of(call(Message.user(*parts)))["messages"][0]["content"]


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (
            ImagePart(PNG, "low"),
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded(b'png')}", "detail": "low"}},
        ),
        (
            ImagePart(Blob.from_url("https://a/b", "image/png")),
            {"type": "image_url", "image_url": {"url": "https://a/b"}},
        ),
        (AudioPart(WAV), {"type": "input_audio", "input_audio": {"data": encoded(b"wav"), "format": "wav"}}),
        (
            AudioPart(Blob.from_bytes(b"mp3", "audio/mp3")),
            {"type": "input_audio", "input_audio": {"data": encoded(b"mp3"), "format": "mp3"}},
        ),
        (
            DocumentPart(PDF),
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{encoded(b'%PDF')}"},
            },
        ),
        (
            DocumentPart(Blob.from_provider_file("openai", "file-1", "application/pdf")),
            {"type": "file", "file": {"file_id": "file-1"}},
        ),
    ],
    ids=["image", "image by url", "wav", "mp3", "pdf", "pdf by id"],
)
def test_media_are_encoded(part: Part, written: Any):
    assert content("look", part) == [{"type": "text", "text": "look"}, written]


def test_file_is_read_when_it_is_encoded(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(b"png")
    (image,) = content(ImagePart(Blob.from_file(tmp_path / "a.png", "image/png")))
    assert image["image_url"]["url"].endswith(encoded(b"png"))


@pytest.mark.parametrize(
    ("part", "what"),
    [
        (VideoPart(Blob.from_bytes(b"", "video/mp4")), r"messages\[1\].parts\[1\].*does not support video"),
        (AudioPart(Blob.from_bytes(b"", "audio/flac")), "does not support audio/flac"),
        (DocumentPart(Blob.from_bytes(b"", "text/markdown")), "does not support text/markdown"),
        (ImagePart(Blob.from_artifact("0" * 64, "image/png", 1)), "is artifact 0000.*, whose bytes are not available"),
        (
            ImagePart(Blob.from_provider_file("openai", "f", "image/png")),
            "is provider file f, whose bytes are not",
        ),
        (
            DocumentPart(Blob.from_url("https://a/b", "application/pdf")),
            "is url https://a/b, whose bytes are not",
        ),
        (DocumentPart(Blob.from_provider_file("xai", "f", "application/pdf")), "is stored by 'xai', not by 'openai'"),
    ],
    ids=["video", "flac", "markdown", "artifact", "image by id", "pdf by url", "file of another"],
)
def test_unsupported_content_is_refused_with_its_path(part: Any, what: str):
    with pytest.raises(UnsupportedContentError, match=what):
        CHAT.encode(call(Message.user("hi"), Message.user("look", part)))


def test_image_in_a_tool_result_is_refused_with_its_call():
    asked = Message.assistant(ToolCall("c1", "look"))
    with pytest.raises(
        UnsupportedContentError, match=r"messages\[1\].parts\[0\].content\[1\]: .* 'c1' has image"
    ) as caught:
        CHAT.encode(call(asked, Message.tool(ToolResult("c1", (TextPart("see"), ImagePart(PNG))))))
    assert caught.value.hint == "Put it into a user message after the result."


def test_system_messages_stay_in_place():
    messages = (Message.system("a"), Message.user("b"), Message.system("c"), Message.user("d"), Message.system("e"))
    assert body_of(call(*messages))["messages"] == [
        {"role": role, "content": text}
        for role, text in [("system", "a"), ("user", "b"), ("system", "c"), ("user", "d"), ("system", "e")]
    ]


def test_conversation_with_tools_is_encoded():
    asked = Message.assistant("I'll look.", ToolCall("c1", "f", '{"a": 1.10}'), ToolCall("c2", "g", "{broken"))
    tool_message = Message.tool(ToolResult.text("c2", "two"), ToolResult("c1", ()))
    assert body_of(call(Message.user("hi"), asked, tool_message))["messages"][1:] == [
        {
            "role": "assistant",
            "content": "I'll look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.10}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{broken"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
    ]


def test_every_option_has_its_field():
    options = call(
        sampling=Sampling(10, 0, 0.5, None, 0, ("x",), 1, -1, 0),
        tools=(ToolSpec("f", "F.", SCHEMA, True), ToolSpec("g")),
        tool_choice=ToolChoice("tool", "f"),
        parallel_tool_calls=False,
        output=OutputSchema("o", SCHEMA, "O.", False),
        thinking="off",
        modalities=("text", "audio"),
        stream=True,
        provider_options={"openai": {"user": "u", "response_format": None, "audio": {"voice": "ash"}}},
        tags={"a": "b"},
        parent_id="p",
        trace_context={"a": "b"},
        strict=True,
        media_policy={"image": "native"},
    )
    body = body_of(options)
    del body["model"], body["messages"]
    assert CHAT.encode(options).warnings == ()
    assert body == {
        "max_completion_tokens": 10,
        "temperature": 0,
        "top_p": 0.5,
        "seed": 0,
        "stop": ["x"],
        "presence_penalty": 1,
        "frequency_penalty": -1,
        "logprobs": True,
        "top_logprobs": 0,
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "F.", "parameters": SCHEMA, "strict": True}},
            {"type": "function", "function": {"name": "g", "parameters": NO_PARAMETERS}},
        ],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "parallel_tool_calls": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "o", "schema": SCHEMA, "strict": False, "description": "O."},
        },
        "reasoning_effort": "none",
        "modalities": ["text", "audio"],
        "stream": True,
        "stream_options": {"include_usage": True},
        "user": "u",
        "audio": {"voice": "ash"},
    }


def test_minimal_call_has_no_options():
    assert json.loads(CHAT.encode(call()).request.body).keys() == {"model", "messages"}


def test_dialect_has_its_own_names_and_options():
    options = call(sampling=Sampling(10, top_k=5), thinking="low")
    assert body_of(options, OpenAIChat(COMPATIBLE)).keys() == {"model", "messages", "max_tokens"}
    assert body_of(options, OpenAIChat(LLAMA_CPP))["top_k"] == 5


ANSWER = (
    TextPart("a", (Citation("s"),)),
    ReasoningPart("r", "sig"),
    ToolCall("c", "f", signature="s"),
    TextPart("b"),
    OpaquePart("p", "k"),
)


@pytest.mark.parametrize(
    ("fields", "warnings"),
    [
        ({"sampling": Sampling(top_k=5)}, [("unsupported_option", "sampling.top_k", 5, None)]),
        ({"thinking": 1024}, [("unsupported_option", "thinking", 1024, None)]),
        (
            {"provider_options": {"anthropic": {"a": 1}}},
            [("other_provider_options", "provider_options.anthropic", None, None)],
        ),
        (
            {"messages": (Message("assistant", ANSWER), Message.tool(ToolResult.text("c", "no", is_error=True)))},
            [
                ("part_left_out", "messages[0].parts[1]", None, None),
                ("part_left_out", "messages[0].parts[4]", None, None),
                ("reordered", "messages[0].parts[3]", 3, 1),
                ("citations_left_out", "messages[0].parts[0].citations", None, None),
                ("signature_left_out", "messages[0].parts[2].signature", None, None),
                ("error_flag_left_out", "messages[1].parts[0].is_error", None, None),
            ],
        ),
        (
            {
                "messages": (
                    Message.user(TextPart("hi", cache=CachePoint(300))),
                    Message.assistant(ToolCall("c", "t", cache=CachePoint())),
                    Message.tool(ToolResult("c", (TextPart("x", cache=CachePoint()),), cache=CachePoint())),
                ),
                "tools": (ToolSpec("t", cache=CachePoint()),),
            },
            [
                ("cache_ttl_left_out", "messages[0].parts[0].cache.ttl", 300, None),
                ("cache_left_out", "messages[1].parts[0].cache", None, None),
                ("cache_left_out", "messages[2].parts[0].content[0].cache", None, None),
                ("cache_left_out", "tools[0].cache", None, None),
            ],
        ),
        (
            {"messages": (Message.user("hi", OpaquePart("p", "k"), AudioPart(WAV, "words", "a1")),)},
            [
                ("part_left_out", "messages[0].parts[1]", None, None),
                ("transcript_left_out", "messages[0].parts[2].transcript", None, None),
                ("id_left_out", "messages[0].parts[2].id", None, None),
            ],
        ),
        (
            {"messages": (Message.assistant(AudioPart(WAV, "words", "a1"), AudioPart(WAV, id="a2"), AudioPart(WAV)),)},
            [
                ("part_left_out", "messages[0].parts[1]", None, None),
                ("part_left_out", "messages[0].parts[2]", None, None),
                (
                    "sent_by_reference",
                    "messages[0].parts[0].blob",
                    None,
                    {"form": "provider_file", "media_type": "audio/wav", "location": "a1", "provider": "openai"},
                ),
                ("transcript_left_out", "messages[0].parts[0].transcript", None, None),
            ],
        ),
    ],
    ids=["top_k", "thinking", "options", "assistant", "cache", "user", "speech"],
)
def test_unsupported_options_have_a_warning(fields: dict[str, Any], warnings: list[tuple[str, str, Any, Any]]):
    messages = fields.pop("messages", ())
    found = CHAT.encode(call(*messages, **fields)).warnings
    assert [(warning.code, warning.path, warning.requested, warning.sent) for warning in found] == warnings
    assert all(warning.message for warning in found)


def test_earlier_audio_answer_is_referenced_by_id():
    (message,) = body_of(call(Message.assistant(AudioPart(WAV, id="a1"))))["messages"]
    assert message == {"role": "assistant", "audio": {"id": "a1"}}


def test_empty_message_is_left_out():
    body = body_of(call(Message.user("hi"), Message.assistant(ReasoningPart("r")), Message.user("go on")))
    assert [message["content"] for message in body["messages"]] == ["hi", "go on"]


def test_empty_call_is_refused():
    with pytest.raises(UnsupportedContentError, match="no field for any part"):
        CHAT.encode(call(Message.user(OpaquePart("p", "k"))))


@pytest.mark.parametrize(
    "option",
    [
        {"model": "n"},
        {"messages": []},
        {"max_tokens": 5},
        {"temperature": 1},
        {"stream": True},
        {"stream_options": {}},
        {"reasoning_effort": "low"},
        {"response_format": {"type": "json_schema"}},
    ],
    ids=lambda option: next(iter(option)),
)
def test_provider_option_with_a_call_field_is_refused(option: dict[str, Any]):
    with pytest.raises(InvalidInputError, match="has a field for this") as caught:
        CHAT.encode(call(provider_options={"openai": option}))
    assert caught.value.path == f"provider_options.openai.{next(iter(option))}"


@pytest.mark.parametrize(
    "option", [{"reasoning_effort": "extreme"}, {"response_format": {"type": "json_object"}}, {"n": 2}]
)
def test_provider_option_without_a_call_field_is_sent(option: dict[str, Any]):
    body = body_of(call(provider_options={"openai": option}))
    assert body.items() >= option.items()


def test_request_is_immutable():
    request = CHAT.encode(call()).request
    with pytest.raises(TypeError):
        request.headers["authorization"] = "x"  # type: ignore[index]
    assert CHAT.encode(call()).request.headers == {"content-type": "application/json"}
