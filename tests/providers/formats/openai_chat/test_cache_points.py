"""Cache points: `prompt_cache_breakpoint` at OpenAI, `cache_control` at OpenRouter, nothing elsewhere."""

from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.formats.openai_chat.wire import body_of, call, request

CHATS = {preset.name: OpenAIChat(preset.dialect) for preset in VENDORS if preset.dialect.has_chat}
OPENAI, OPENROUTER = CHATS["openai"], CHATS["openrouter"]
PNG = Blob.from_bytes(b"\x89PNG", "image/png")
WAV = Blob.from_bytes(b"RIFF", "audio/wav")


def marked(ttl: int | None = None) -> Any:
    point = CachePoint(ttl)
    return call(
        Message("system", (TextPart("rules", cache=point),)),
        Message.user(ImagePart(PNG, cache=point), AudioPart(WAV, cache=point), TextPart("hi", cache=point)),
        Message.assistant(TextPart("I look.", cache=point), ToolCall("c", "f", "{}")),
        Message.tool(ToolResult("c", (TextPart("a"), TextPart("b")), cache=point)),
        tools=(ToolSpec("f", cache=point),),
    )


def left_out(chat: OpenAIChat, asked: Any) -> list[tuple[str, str]]:
    return [(warning.code, warning.path) for warning in chat.encode(asked).warnings]


def test_openai_has_breakpoints_at_all_content():
    body = body_of(marked(), OPENAI)
    point = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    system, user, assistant, tool = body["messages"]
    assert system["content"] == [{"type": "text", "text": "rules", **point}]
    assert [block.keys() - {"type", block["type"]} for block in user["content"]] == [{"prompt_cache_breakpoint"}] * 3
    assert assistant["content"] == [{"type": "text", "text": "I look.", **point}]
    assert tool["content"] == [{"type": "text", "text": "ab", **point}]
    assert left_out(OPENAI, marked()) == [("cache_left_out", "tools[0].cache")]


def test_requests_with_breakpoints_are_of_the_type_that_openai_publishes():
    TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(body_of(marked(1800), OPENAI))


@pytest.mark.parametrize(("ttl", "name"), [(1800, "30m"), (43200, "12h")])
def test_ttl_of_a_breakpoint(ttl: int, name: str):
    content = body_of(call(Message.user(TextPart("hi", cache=CachePoint(ttl)))), OPENAI)["messages"][0]["content"]
    assert content[0]["prompt_cache_breakpoint"] == {"mode": "explicit", "ttl": name}


def test_openrouter_has_cache_control_at_texts_and_tools():
    body = body_of(marked(3600), OPENROUTER)
    control = {"type": "ephemeral", "ttl": "1h"}
    assert body["tools"][0]["cache_control"] == control
    assert body["messages"][0]["content"] == [{"type": "text", "text": "rules", "cache_control": control}]
    assert body["messages"][3]["content"] == [{"type": "text", "text": "ab", "cache_control": control}]
    paths = [path for _, path in left_out(OPENROUTER, marked(3600))]
    assert paths == ["messages[1].parts[0].cache", "messages[1].parts[1].cache"], "images and audio cannot have it"


def test_another_ttl_is_left_out_with_a_warning():
    asked = call(Message.user(TextPart("hi", cache=CachePoint(60))))
    assert left_out(OPENROUTER, asked) == [("cache_ttl_left_out", "messages[0].parts[0].cache.ttl")]
    assert body_of(asked, OPENROUTER)["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize("name", sorted(set(CHATS) - {"openai", "azure", "openrouter"}))
def test_other_vendors_have_no_cache_points(name: str):
    asked = call(Message.user(TextPart("hi", cache=CachePoint())))
    assert body_of(asked, CHATS[name])["messages"] == [{"role": "user", "content": "hi"}]
    assert left_out(CHATS[name], asked) == [("cache_left_out", "messages[0].parts[0].cache")]


@pytest.mark.parametrize("chat", [OPENAI, OPENROUTER], ids=["openai", "openrouter"])
def test_server_reads_cache_points_back(chat: OpenAIChat):
    asked = call(
        Message.user(TextPart("hi", cache=CachePoint())),
        Message.assistant(ToolCall("c", "f", "{}")),
        Message.tool(ToolResult("c", (TextPart("a"),), cache=CachePoint())),
    )
    assert chat.parse(chat.encode(asked).request).call.messages == asked.messages


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"ttl": "9h"}}]}
                ]
            },
            "messages[0].content[0].cache_control.ttl",
        ),
        (
            {
                "messages": [],
                "tools": [{"type": "function", "function": {"name": "f"}, "cache_control": {"ttl": 5}}],
            },
            "tools[0].cache_control.ttl",
        ),
    ],
)
def test_unknown_ttl_is_refused_with_its_path(body: dict[str, Any], path: str):
    with pytest.raises(InvalidInputError) as raised:
        OPENROUTER.parse(request({"model": "m", **body}))
    assert raised.value.path == path
