"""Parsing requests of clients."""

import json
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    Blob,
    DocumentPart,
    HostedTool,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    OutputSchema,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    WireRequest,
)
from tests.providers.formats.anthropic_messages.wire import MESSAGES, ORIGIN, request

ASKED: Any = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]}
ANSWERED: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "8 °C"}]}
USER = {"role": "user", "content": "hi"}


def parsed(*messages: Any, **fields: Any) -> ModelCall:
    found = MESSAGES.parse(request({"messages": messages or (USER,), **fields}))
    assert found.warnings == ()
    return found.call


def parts_of(*content: Any) -> Any:
    return parsed({"role": "user", "content": list(content)}).messages[0].parts


def named(*messages: Any, **fields: Any) -> list[str]:
    """The paths of the warnings."""
    return [warning.path for warning in MESSAGES.parse(request({"messages": messages or (USER,), **fields})).warnings]


def test_content_may_be_text_or_blocks():
    assert parsed(USER) == parsed({"role": "user", "content": [{"type": "text", "text": "hi"}]})
    assert parsed(USER).messages == (Message.user("hi"),)


def test_system_prompt_is_the_first_message():
    assert parsed(USER, system="a").messages == (Message.system("a"), Message.user("hi"))
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert parsed(USER, system=blocks).messages[:2] == (Message.system("a"), Message.system("b"))


def test_system_message_in_the_conversation_stays_in_place():
    assert [m.role for m in parsed(USER, {"role": "system", "content": "s"}).messages] == ["user", "system"]


def test_tool_results_become_a_separate_message_before_user_content():
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "8 °C", "is_error": True}
    call = parsed(ASKED, {"role": "user", "content": [result, {"type": "text", "text": "and?"}]})
    assert call.messages == (
        Message.assistant(ToolCall("c1", "f", '{"a": 1}')),
        Message.tool(ToolResult("c1", (TextPart("8 °C"),), True)),
        Message.user("and?"),
    )


def test_arguments_keep_their_original_text():
    body = b'{"model": "m", "max_tokens": 9, "messages": [{"role": "assistant", "content": [{"type": "tool_use", '
    body += b'"id": "c1", "name": "f", "input" : {"b": 1.10,  "a": "\\u00fc", "input": {"x": 1}} }]}]}'
    call = MESSAGES.parse(WireRequest("/messages", {}, body)).call
    assert call.messages[0].tool_calls[0].arguments_text == '{"b": 1.10,  "a": "\\u00fc", "input": {"x": 1}}'


def test_reasoning_belongs_to_the_requested_model():
    blocks = [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "a"},
    ]
    assert parsed({"role": "assistant", "content": blocks}).messages[0].parts == (
        ReasoningPart("t", "s", origin=ORIGIN),
        ReasoningPart(redacted_data="d", origin=ORIGIN),
        TextPart("a"),
    )


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
            ImagePart(Blob.from_bytes(b"png", "image/png")),
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://a/b"}},
            ImagePart(Blob.from_url("https://a/b", "image/*")),
        ),
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}, "title": "t"},
            DocumentPart(Blob.from_bytes(b"a", "text/plain", name="t")),
        ),
        (
            {
                "type": "document",
                "source": {"type": "file", "file_id": "f"},
                "citations": {"enabled": True},
                "context": "c",
            },
            DocumentPart(
                Blob.from_provider_file("anthropic", "f", "application/pdf"),
                provider_options={"anthropic": {"citations": {"enabled": True}, "context": "c"}},
            ),
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://a/b"}, "transformations": {}},
            ImagePart(Blob.from_url("https://a/b", "image/*"), provider_options={"anthropic": {"transformations": {}}}),
        ),
        (
            {"type": "document", "source": {"type": "content", "content": "a"}},
            OpaquePart("anthropic", "document", {"source": {"type": "content", "content": "a"}}),
        ),
        ({"type": "container_upload", "file_id": "f"}, OpaquePart("anthropic", "container_upload", {"file_id": "f"})),
    ],
)
def test_each_block_is_a_part(block: Any, part: Any):
    assert parts_of(block) == (part,)


def test_unknown_fields_become_provider_options():
    asked = {**ASKED, "content": [{**ASKED["content"][0], "caller": {"type": "direct"}}]}
    answered = {**ANSWERED, "content": [{**ANSWERED["content"][0], "toolset_name": "computer"}]}
    said = {"role": "user", "content": [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": "b"}], "y": 2}
    _, call, result, user = parsed(USER, asked, answered, said).messages
    assert call.tool_calls[0].provider_options == {"anthropic": {"caller": {"type": "direct"}}}
    assert result.parts == (
        ToolResult("c1", (TextPart("8 °C"),), provider_options={"anthropic": {"toolset_name": "computer"}}),
    )
    texts = (TextPart("a", provider_options={"anthropic": {"x": 1}}), TextPart("b"))
    assert user == Message("user", texts, {"anthropic": {"y": 2}})


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"role": "user", "content": "a", "x": "\ud800"}, "messages[0].x"),
        ({"role": "user", "content": [{"type": "text", "text": "a", "x": "\ud800"}]}, "messages[0].content[0].x"),
    ],
)
def test_provider_option_that_is_not_json_is_an_error_with_its_path(message: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        parsed(message)
    assert caught.value.path == path


def test_every_option_is_read():
    fields: Any = {
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 4,
        "stop_sequences": ["x"],
        "stream": True,
        "tools": [
            {"name": "f", "description": "F.", "input_schema": {"type": "object"}, "strict": True, "type": "custom"},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
            {"type": "bash_20250124", "name": "bash"},
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {"title": "A b"}}},
        "metadata": {"user_id": "u"},
    }
    assert parsed(**fields) == ModelCall(
        "m",
        (Message.user("hi"),),
        "anthropic",
        tools=(ToolSpec("f", "F.", {"type": "object"}, True),),
        hosted_tools=(HostedTool("web_search", {"max_uses": 2}),),
        tool_choice=ToolChoice("required"),
        parallel_tool_calls=False,
        sampling=Sampling(9, 0.5, 0.9, 4, stop=("x",)),
        output=OutputSchema("A b", {"title": "A b"}),
        thinking="high",
        stream=True,
        provider_options={
            "anthropic": {"metadata": {"user_id": "u"}, "tools": [{"type": "bash_20250124", "name": "bash"}]}
        },
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, (ToolChoice("auto"), None)),
        ({"type": "auto", "disable_parallel_tool_use": False}, (None, True)),
        ({"type": "none"}, (ToolChoice("none"), None)),
        ({"type": "tool", "name": "f"}, (ToolChoice("tool", "f"), None)),
    ],
)
def test_tool_choice_is_read(choice: Any, expected: Any):
    call = parsed(tool_choice=choice, tools=[{"name": "f", "input_schema": {"type": "object"}}])
    assert (call.tool_choice, call.parallel_tool_calls) == expected


def test_beta_header_is_a_provider_option():
    call = MESSAGES.parse(request({"messages": [USER]}, anthropic_beta="a-1, b-2")).call
    assert call.provider_options == {"anthropic": {"betas": ["a-1", "b-2"]}}


@pytest.mark.parametrize(
    ("messages", "fields", "paths"),
    [
        ([USER, {"role": "user", "content": ""}], {}, ["messages[1]"]),
        ([ASKED, {**ANSWERED, "name": "n"}], {}, ["messages[1].name"]),
        ([USER], {"tools": [{"name": "f", "input_schema": {}, "defer_loading": True}]}, ["tools[0].defer_loading"]),
    ],
)
def test_unsupported_fields_have_a_warning(messages: Any, fields: Any, paths: list[str]):
    assert named(*messages, **fields) == paths


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"model": 5}, "model"),
        ({"messages": "hi"}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "bard", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"text": "a"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]}]},
            "messages[0].content[0].source.media_type",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "document",
                                "source": {"type": "base64", "media_type": "application/pdf", "data": "?"},
                            }
                        ],
                    }
                ]
            },
            "messages[0].content[0].source.data",
        ),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f"}]}]},
            "messages[0].content[0].input",
        ),
        (
            {
                "system": "s",
                "messages": [USER, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}],
            },
            "messages[1]",
        ),
        ({"messages": [{**ASKED, "content": ASKED["content"] * 2}]}, "messages[0]"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "x"}}]}
                ]
            },
            "messages[0].content[0].cache_control",
        ),
        (
            {
                "messages": [
                    ASKED,
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "search_result"}]}
                        ],
                    },
                ]
            },
            "messages[1].content[0].content[0].type",
        ),
        ({"max_tokens": 0}, "max_tokens"),
        ({"temperature": "hot"}, "temperature"),
        ({"stop_sequences": [1]}, "stop_sequences[0]"),
        ({"stream": "yes"}, "stream"),
        ({"tools": [5]}, "tools[0]"),
        ({"tools": [{"name": "f"}]}, "tools[0].input_schema"),
        ({"tools": [{"name": "f", "input_schema": {}}, {"name": "f", "input_schema": {}}]}, "tools[1].name"),
        (
            {"tools": [{"name": "f", "input_schema": {}, "cache_control": {"type": "x"}}]},
            "tools[0].cache_control",
        ),
        ({"tool_choice": {"type": "maybe"}}, "tool_choice.type"),
        ({"output_config": {"format": {"type": "json_schema", "schema": 5}}}, "output_config.format.schema"),
    ],
)
def test_invalid_request_is_refused_with_its_path(body: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        MESSAGES.parse(request({"messages": [USER], **body}))
    assert caught.value.path == path


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_body_that_is_not_an_object_is_refused(body: bytes):
    with pytest.raises(InvalidInputError):
        MESSAGES.parse(WireRequest("/messages", {}, body))


def test_reply_with_non_object_arguments_keeps_them_with_a_warning():
    reply = ModelReply((ToolCall("c", "f", "{broken"),), "length", model="m", provider="anthropic")
    (block,) = json.loads(MESSAGES.render(reply).body)["content"]
    assert block["input"] == {"INVALID_JSON": "{broken"}
    assert block["partial_json"] == "{broken"
