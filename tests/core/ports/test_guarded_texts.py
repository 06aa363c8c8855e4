"""`with_texts` changes all texts of a call or a reply, and leaves the rest as it is."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import (
    Blob,
    Citation,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from abstractcore.ports import with_texts

IMAGE = ImagePart(Blob.from_bytes(b"x", "image/png"))
CALL = ModelCall(
    "m",
    (
        Message.system("secret"),
        Message.user("a secret", IMAGE),
        Message.assistant(ReasoningPart("secret", signature="s"), ToolCall("1", "t", '{"a": ["secret", 1], "b": {}}')),
        Message.tool(ToolResult.of("1", "secret", IMAGE)),
    ),
)
REPLY = ModelReply(
    (
        ReasoningPart("secret", signature="s", redacted_data="r"),
        TextPart("secret", (Citation("https://example.org", quote="secret"),)),
        ToolCall("1", "t", '{"secret": "\\u0073ecret"}', signature="g"),
        ToolCall("2", "t", "not secret JSON"),
        HostedToolCall("3", "search", '{"q": "secret"}', {"openai": {"query": "secret"}}),
        HostedToolResult("3", (TextPart("secret"),), {"openai": {"output": "secret"}}),
        OpaquePart("openai", "x", {"a": 1}),
    ),
    provider_metadata={"logprobs": {"content": ["secret"]}},
)


def hidden(text: str, kind: str) -> str:
    return text.replace("secret", f"<{kind}>")


def test_all_texts_of_a_call_are_changed():
    changed = with_texts(CALL, hidden)
    system, user, assistant, tool = changed.messages
    assert (system.text, user.text, user.parts[1]) == ("<text>", "a <text>", IMAGE)
    assert assistant.parts[0] == ReasoningPart("<reasoning>")
    assert assistant.tool_calls[0].arguments == {"a": ["<arguments>", 1], "b": {}}
    assert tool.parts == (ToolResult.of("1", "<result>", IMAGE),)
    assert changed.with_(messages=CALL.messages) == CALL


def test_what_may_quote_a_changed_text_of_a_reply_goes_with_it():
    reasoning, text, call, odd, hosted, result, opaque = with_texts(REPLY, hidden).parts
    assert (reasoning, text) == (ReasoningPart("<reasoning>"), TextPart("<text>"))
    assert call == ToolCall("1", "t", '{"<arguments>": "<arguments>"}', signature="g")
    assert odd == ToolCall("2", "t", "not <arguments> JSON")
    assert hosted == HostedToolCall("3", "search", '{"q": "<arguments>"}')
    assert (result, opaque) == (HostedToolResult("3", (TextPart("<result>"),)), REPLY.parts[-1])
    assert with_texts(REPLY, hidden).provider_metadata == {}


@pytest.mark.parametrize("holder", [CALL, REPLY])
def test_what_is_not_changed_is_the_same_object(holder: Any):
    assert with_texts(holder, lambda text, kind: text) is holder


def test_text_may_be_left_out():
    assert with_texts(REPLY, lambda text, kind: "" if kind == "text" else text).parts[1] == REPLY.parts[2]


@pytest.mark.parametrize("arguments", ["[" * 100_000, '{"a": NaN}', '"secret"', "", "{", '{"a": "secret", "a": 1}'])
def test_odd_arguments_are_texts_too(arguments: str):
    reply = ModelReply((ToolCall("1", "t", arguments),))
    (call,) = with_texts(reply, hidden).tool_calls
    assert "secret" not in call.arguments_text


def test_arguments_that_are_changed_can_be_sent():
    reply = ModelReply((ToolCall("1", "t", r'{"a": "secret", "b": "\ud800"}'),))
    (call,) = with_texts(reply, hidden).tool_calls
    assert call.arguments_text == r'{"a": "<arguments>", "b": "\ud800"}'
