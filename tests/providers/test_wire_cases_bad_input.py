"""Input that no vendor accepts is a typed error with the path, sync and async, before any request."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from abstractcore import (
    InvalidInputError,
    Message,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    UnsupportedContentError,
)
from abstractcore.schema import (
    Blob,
    ImagePart,
    ModelCall,
    ReasoningPart,
    Sampling,
    SchemaError,
    VideoPart,
    from_data,
)
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.findings import REFUSALS
from tests.providers.wire_streams import answered_with

every_format = pytest.mark.parametrize("format", FORMATS)
HI = Message.user("hi")
ASKED = Message.assistant(ToolCall("call_1", "f"))
BOTH = Message.assistant(TextPart("Let me see."), ToolCall("call_1", "f"), ToolCall("call_2", "g"))
GIVEN = Message.tool(ToolResult.text("call_1", "done"))


@pytest.fixture
def refusal(call_style, server, llm_of):
    """`refusal(format, messages)`: the error in which a call ends that never reaches the server."""

    def refusal(format: str, *messages: Message, options: Any = None, **request: Any) -> Any:
        with pytest.raises(REFUSALS) as caught:
            call_style.generate(llm_of(format, **(options or {})), messages=list(messages), **request)
        assert server.requests == []
        assert caught.value.hint
        return caught.value

    return refusal


# Tool calls and their results


@every_format
@pytest.mark.parametrize(
    "messages",
    [(HI, GIVEN), (HI, ASKED, GIVEN, GIVEN), (HI, ASKED, Message.user("x"), GIVEN), (HI, GIVEN, ASKED)],
    ids=["no call", "twice", "after the user", "before its call"],
)
def test_result_without_its_call_is_refused(call_style, server, llm_of, format, messages):
    """A tool result without its call; a result before its call."""
    with pytest.raises(InvalidInputError, match="call_1") as caught:
        call_style.generate(llm_of(format), messages=list(messages))
    assert caught.value.path.startswith("messages[")
    assert server.requests == []


@every_format
def test_duplicate_call_ids_are_refused(call_style, server, llm_of, format):
    """Two calls with one id."""
    twins = Message.assistant(ToolCall("call_1", "f"), ToolCall("call_1", "g"))
    with pytest.raises(InvalidInputError, match="two tool calls have one id") as caught:
        call_style.generate(llm_of(format), messages=[HI, twins, GIVEN])
    assert caught.value.path == "messages[1]"
    assert server.requests == []


UNANSWERED: dict[str, tuple[tuple[Message, ...], str]] = {
    "at the end": ((HI, ASKED), "messages[1].parts[0]"),
    "in the middle": ((HI, ASKED, Message.user("x")), "messages[1].parts[0]"),
    "one of two": ((HI, BOTH, GIVEN), "messages[1].parts[2]"),
    "after a valid one": ((HI, ASKED, GIVEN, Message.user("x"), ASKED), "messages[4].parts[0]"),
}


@pytest.mark.parametrize("case", UNANSWERED)
@pytest.mark.parametrize("format", [name for name in FORMATS if name != "ollama"])
def test_call_without_its_result_is_refused_with_its_path(refusal, format, case):
    """Unanswered tool calls."""
    messages, path = UNANSWERED[case]
    error = refusal(format, *messages)
    assert isinstance(error, InvalidInputError)
    assert error.path == path
    assert "has no result" in error.message
    assert "Message.tool" in error.hint


@pytest.mark.parametrize("case", UNANSWERED)
def test_ollama_accepts_calls_without_results(call_style, server, llm_of, case):
    """Unanswered tool calls, of the one vendor whose server asks for no results."""
    server.script(answered_with("ollama"))
    assert call_style.generate(llm_of("ollama"), messages=list(UNANSWERED[case][0])).content == "ok"


# Roles


@pytest.mark.parametrize("format", ["anthropic_messages", "bedrock_converse", "gemini"])
def test_system_messages_alone_are_refused_where_a_user_message_is_required(refusal, format):
    """An unsupported role order: system only."""
    error = refusal(format, Message.system("Be brief."))
    assert (error.path, error.hint) == ("messages", "Add a user message.")


FIRST = {
    "bedrock_converse": ((Message.assistant("Hello."), HI), "messages[0]"),
    "gemini": ((ASKED, GIVEN), "messages[0]"),
}


@pytest.mark.parametrize("format", FIRST)
def test_leading_assistant_message_is_refused_where_a_user_message_is_required(refusal, format):
    """An unsupported role order: assistant first."""
    messages, path = FIRST[format]
    assert refusal(format, *messages).path == path


@pytest.mark.parametrize("format", ["bedrock_converse", "gemini"])
def test_calls_outside_the_assistant_turn_are_refused(refusal, format):
    """An unsupported role order: the assistant speaks twice, and calls tools."""
    assert refusal(format, HI, Message.assistant("Well."), ASKED, GIVEN).path == "messages[2]"


LAST: dict[str, tuple[str, dict[str, str]]] = {
    "claude-sonnet-5": ("anthropic_messages", {}),
    "gemini-3.6-flash": ("gemini", {}),
    "mistral-large-latest": ("openai_chat", {"provider": "mistral"}),
    "sonar": ("openai_chat", {"provider": "perplexity"}),
}
"""Models that do not go on with an answer that is begun."""


@pytest.mark.parametrize("model", LAST)
def test_prefill_is_refused_for_models_that_do_not_support_it(refusal, model):
    """An unsupported role order: assistant last, where the vendor refuses it."""
    format, options = LAST[model]
    error = refusal(format, HI, Message.assistant("Well,"), options={"model": model, **options})
    assert error.path == "messages[1]"
    assert "Go on." in error.hint


@every_format
def test_prefill_is_sent_to_models_that_support_it(call_style, server, llm_of, format):
    server.script(answered_with(format))
    assert call_style.generate(llm_of(format), messages=[HI, Message.assistant("Well,")]).content == "ok"


# Schemas and content


@every_format
@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"type": "object", "properties": 5}, {"$ref": "#/$defs/No"}])
def test_schema_that_no_vendor_accepts_is_refused_with_its_path(refusal, format, schema):
    """A schema no vendor takes."""
    error = refusal(format, HI, tools=[ToolSpec("f", "F.", schema)])
    assert error.path.startswith("tools[0].parameters")


@every_format
def test_invalid_base64_is_refused_with_its_path(format):
    """Base64 that isn't, in a conversation that is read from JSON and in a client's request: before any LLM."""
    data = {"role": "user", "parts": [{"type": "image", "blob": {"media_type": "image/png", "data": "not base64!"}}]}
    with pytest.raises(SchemaError, match=r"parts\[0\]\.blob"):
        from_data(Message, data)


PICTURE = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png"))
CLIP = VideoPart(Blob.from_bytes(b"\0\0\0\x18ftypmp42", "video/mp4"))
WITHOUT_VIDEO = [name for name in FORMATS if name not in ("bedrock_converse", "gemini", "gemini_interactions")]


@pytest.mark.parametrize("format", WITHOUT_VIDEO)
def test_unsupported_part_is_refused_with_its_path_despite_accepts(refusal, format):
    """A part that a format cannot express, even if `accepts` declares it."""
    error = refusal(format, Message.user("look", CLIP), options={"accepts": ["video"]})
    assert isinstance(error, UnsupportedContentError)
    assert "messages[0].parts[1]" in error.message


# The laws are not vacuous: they also hold for a call that is refused

FEATURES: dict[str, Callable[[ModelCall], object]] = {
    "several turns": lambda call: len({message.role for message in call.messages}) > 1,
    "tools": lambda call: call.tools,
    "a tool call and its result": lambda call: any(message.role == "tool" for message in call.messages),
    "reasoning": lambda call: any(isinstance(part, ReasoningPart) for part in parts_of(call)),
    "a picture": lambda call: any(isinstance(part, ImagePart) for part in parts_of(call)),
    "a schema": lambda call: call.output,
    "sampling": lambda call: call.sampling != Sampling(),
}


def parts_of(call: ModelCall) -> list[object]:
    return [part for message in call.messages for part in message.parts]


@pytest.mark.exhaustive
@every_format
def test_generated_calls_with_each_feature_are_sent(format):
    """Calls are made, ten at a time, until each feature was sent; how many are refused does not matter."""
    calls = import_module(f"tests.providers.formats.{format}.generated").calls()
    transpiler, missing = FORMATS[format](), set(FEATURES)

    def look(call: ModelCall) -> None:
        found = {feature for feature in missing if FEATURES[feature](call)}
        if found:
            with suppress(*REFUSALS):
                transpiler.encode(call)
                missing.difference_update(found)

    ten = settings(
        max_examples=10,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    for number in range(500):
        seed(number)(ten(given(calls)(look)))()
        if not missing:
            break
    assert missing == set()
