"""Dialects: vendor-specific fields of this format."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    Citation,
    Message,
    ModelCall,
    ModelReply,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    Usage,
    accumulate,
)
from abstractcore.testing import check_laws, strategies
from abstractcore_providers.formats.openai_chat import ChatDialect, OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import ThinkingFields
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.properties import examples
from tests.providers.answering import answered
from tests.providers.formats.openai_chat import generated
from tests.providers.formats.openai_chat.wire import body_of, call, chunk, decoded, events, request, response

CHATS = {preset.name: OpenAIChat(preset.dialect) for preset in VENDORS if preset.dialect.has_chat}
IDS = st.text("ab0_", min_size=1, max_size=3) | st.text("019", min_size=9, max_size=9) | st.just("é" * 9)


def thinking(chat: OpenAIChat, asked: Any) -> Any:
    body = body_of(call(thinking=asked), chat)
    return {name: value for name, value in body.items() if name not in ("model", "messages")}


def reply_of(chat: OpenAIChat, message: dict[str, Any], **fields: Any) -> ModelReply:
    return chat.decode(response({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], **fields}))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CHATS)
def test_laws_hold_in_every_dialect(name: str):
    calls = strategies.calls(name, generated.content(), strategies.text_parts())
    check_laws(CHATS[name], name, calls=calls, max_examples=5)


@pytest.mark.parametrize(
    ("name", "asked", "sent"),
    [
        ("openai", "off", {"reasoning_effort": "none"}),
        ("openai", "minimal", {"reasoning_effort": "minimal"}),
        ("openai", "xhigh", {"reasoning_effort": "xhigh"}),
        ("openai", "max", {"reasoning_effort": "max"}),
        ("openrouter", "off", {"reasoning": {"effort": "none"}}),
        ("openrouter", "low", {"reasoning": {"effort": "low"}}),
        ("openrouter", 2000, {"reasoning": {"max_tokens": 2000}}),
        ("mistral", "high", {"reasoning_effort": "high"}),
        ("deepseek", "off", {"thinking": {"type": "disabled"}}),
        ("deepseek", "high", {"reasoning_effort": "high"}),
        ("together", "off", {"reasoning": {"enabled": False}}),
        ("together", "low", {"reasoning_effort": "low"}),
        ("vllm", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("vllm", 2000, {"thinking_token_budget": 2000}),
        ("fireworks", 2000, {"reasoning_effort": 2000}),
        ("fireworks", "low", {"reasoning_effort": "low"}),
        ("fireworks", "off", {"reasoning_effort": "none"}),
        ("llama-cpp", "off", {"reasoning_effort": "none"}),
    ],
)
def test_thinking_is_encoded_and_read_in_every_dialect(name: str, asked: Any, sent: dict[str, Any]):
    chat = CHATS[name]
    assert thinking(chat, asked) == sent
    assert chat.parse(chat.encode(call(thinking=asked)).request).call.thinking == asked


@pytest.mark.parametrize(("name", "asked"), [("openai", 2000), ("lmstudio", "low"), ("openai-compatible", "off")])
def test_unsupported_thinking_has_a_warning(name: str, asked: Any):
    (warning,) = CHATS[name].encode(call(thinking=asked)).warnings
    assert (warning.code, warning.path, warning.requested) == ("unsupported_option", "thinking", asked)


@pytest.mark.parametrize(
    ("name", "option", "sent"),
    [
        ("openrouter", {"reasoning": {"effort": "low", "exclude": True}}, True),
        ("openrouter", {"reasoning": {"effort": "low"}}, False),
        ("deepseek", {"thinking": {"type": "enabled"}}, True),
        ("deepseek", {"thinking": {"type": "disabled"}}, False),
        ("openai-compatible", {"reasoning_effort": "low"}, True),
        ("mistral", {"random_seed": 1}, False),
    ],
)
def test_provider_option_without_conflict_is_sent(name: str, option: dict[str, Any], sent: bool):
    asked = call(provider_options={name: option})
    if sent:
        assert body_of(asked, CHATS[name]).items() >= option.items()
    else:
        with pytest.raises(InvalidInputError, match="has a field for this"):
            CHATS[name].encode(asked)


def test_one_of_two_conflicting_thinking_fields_has_a_warning():
    body = {"model": "m", "messages": [], "thinking": {"type": "disabled"}, "reasoning_effort": "high"}
    parsed = CHATS["deepseek"].parse(request({**body, "messages": [{"role": "user", "content": "hi"}]}))
    assert parsed.call.thinking == "off"
    assert [(warning.code, warning.path) for warning in parsed.warnings] == [("field_left_out", "reasoning_effort")]


def test_seed_has_the_vendors_field_name():
    asked = call(sampling=Sampling(seed=7))
    assert body_of(asked, CHATS["mistral"])["random_seed"] == 7
    assert CHATS["mistral"].parse(CHATS["mistral"].encode(asked).request).call.sampling.seed == 7
    with pytest.raises(InvalidInputError) as caught:
        CHATS["mistral"].parse(request({"model": "m", "messages": [], "random_seed": "x"}))
    assert caught.value.path == "random_seed"


def test_mistral_has_top_k_and_logprobs():
    # `ChatCompletionRequest` in the mistralai package has top_k, logprobs and top_logprobs.
    body = body_of(call(sampling=Sampling(top_k=5, top_logprobs=2)), CHATS["mistral"])
    assert (body["top_k"], body["logprobs"], body["top_logprobs"]) == (5, True, 2)


def test_words_of_levels_are_the_vendors():
    fields = ThinkingFields(words={"medium": "default"})
    chat = OpenAIChat(ChatDialect("groq", thinking=fields))
    asked = call(thinking="medium")
    assert thinking(chat, "medium") == {"reasoning_effort": "default"}
    assert chat.parse(chat.encode(asked).request).call.thinking == "medium"


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("openai", "top_k"),
        ("groq", "top_logprobs"),
        ("deepseek", "seed"),
        ("perplexity", "seed"),
        ("lmstudio", "top_logprobs"),
    ],
)
def test_unsupported_options_have_a_warning(name: str, field: str):
    options: dict[str, Any] = {"top_k": 5, "top_logprobs": 2, "seed": 1}
    encoded = CHATS[name].encode(call(sampling=Sampling(**{field: options[field]})))
    assert [(w.code, w.path, w.requested) for w in encoded.warnings] == [
        ("unsupported_option", f"sampling.{field}", options[field])
    ]
    assert json.loads(encoded.request.body).keys() == {"model", "messages"}


def test_top_logprobs_uses_the_vendors_field():
    asked = call(sampling=Sampling(top_logprobs=3))
    body = body_of(asked, CHATS["together"])
    assert (body["logprobs"], "top_logprobs" in body) == (3, False)
    assert CHATS["together"].parse(CHATS["together"].encode(asked).request).call.sampling.top_logprobs == 3
    body = body_of(asked, CHATS["fireworks"])
    assert (body["logprobs"], body["top_logprobs"]) == (True, 3)


def test_unsupported_named_tool_choice_becomes_required_with_a_warning():
    asked = call(tools=(ToolSpec("f"),), tool_choice=ToolChoice("tool", "f"))
    encoded = CHATS["perplexity"].encode(asked)
    assert json.loads(encoded.request.body)["tool_choice"] == "required"
    (warning,) = encoded.warnings
    assert (warning.code, warning.path) == ("tool_choice_changed", "tool_choice")
    assert CHATS["perplexity"].parse(encoded.request).call.tool_choice == ToolChoice("required")


def test_unsupported_parallel_tool_calls_has_a_warning():
    (warning,) = CHATS["together"].encode(call(parallel_tool_calls=False)).warnings
    assert (warning.path, warning.requested) == ("parallel_tool_calls", False)


@st.composite
def conversations(draw: st.DrawFn) -> ModelCall:
    """Turns of tool calls with ids of every kind, and their results."""
    messages: list[Message] = []
    for ids in draw(st.lists(st.lists(IDS, min_size=1, max_size=3, unique=True), min_size=1, max_size=5)):
        messages.append(Message.assistant(*(ToolCall(id, "f") for id in ids)))
        messages.append(Message.tool(*(ToolResult.text(id, f"of {id}") for id in ids)))
        messages.append(Message.user("go on"))
    return call(*messages)


def sent_ids(asked: ModelCall) -> list[str]:
    messages = body_of(asked, CHATS["mistral"])["messages"]
    return [payload["id"] for message in messages for payload in message.get("tool_calls", ())]


@examples(80)
@given(conversations())
def test_tool_call_ids_have_the_prescribed_length_without_collisions(asked: ModelCall):
    ids = sent_ids(asked)
    assert all(len(id) == 9 and id.isascii() and id.isalnum() for id in ids)
    assert len(set(ids)) == len(ids)


@examples(80)
@given(conversations())
def test_tool_results_use_the_replaced_ids(asked: ModelCall):
    again = CHATS["mistral"].parse(CHATS["mistral"].encode(asked).request).call
    assert len(again.messages) == len(asked.messages)
    for before, after, turn in zip(asked.messages, again.messages, [(), *asked.messages], strict=False):
        if before.role == "tool":
            names = dict(zip([c.id for c in turn.tool_calls], [c.id for c in _calls_before(again, after)], strict=True))
            assert [names[part.call_id] for part in before.parts] == [part.call_id for part in after.parts]


def _calls_before(asked: ModelCall, message: Message) -> tuple[ToolCall, ...]:
    return asked.messages[next(i for i, m in enumerate(asked.messages) if m is message) - 1].tool_calls


@examples(40)
@given(conversations())
def test_longer_conversation_keeps_the_replaced_ids(asked: ModelCall):
    longer = asked.with_(messages=answered(*asked.messages, Message.assistant(ToolCall("000000000", "f"))))
    assert sent_ids(longer)[:-1] == sent_ids(asked)


def test_id_of_the_prescribed_length_is_kept_both_ways():
    payload = {"id": "VvvODy9mT", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    reply = reply_of(CHATS["mistral"], {"tool_calls": [payload]})
    assert [part.id for part in reply.tool_calls] == ["VvvODy9mT"]
    assert sent_ids(call(*answered(Message("assistant", reply.parts)))) == ["VvvODy9mT"]


def test_ids_are_unchanged_for_vendors_without_a_rule():
    asked = call(Message.assistant(ToolCall("call_é", "f")), Message.tool(ToolResult.text("call_é", "x")))
    payload, result = body_of(asked)["messages"]
    assert (payload["tool_calls"][0]["id"], result["tool_call_id"]) == ("call_é", "call_é")


THOUGHT = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
    {"type": "text", "text": "Yes."},
]


def test_reasoning_chunks_between_answer_chunks_are_separated():
    parts = (ReasoningPart("Hm.", origin="mistral/m"), TextPart("Yes."))
    assert reply_of(CHATS["mistral"], {"content": THOUGHT}).parts == parts
    chunks = [chunk(content=[THOUGHT[0]]), chunk(content=[THOUGHT[1]]), chunk("stop", content="")]
    assert accumulate(decoded([events(chunks)], CHATS["mistral"])).parts == parts


def test_reasoning_is_sent_back_to_its_model():
    chat, asked = CHATS["deepseek"], ToolCall("c", "f")
    reply = reply_of(chat, {"reasoning_content": "Hm.", "content": "Let me see."})
    own = ModelCall("m", (Message.assistant(*reply.parts, asked), Message.tool(ToolResult.text("c", "1"))), "deepseek")
    encoded = chat.encode(own)
    assert encoded.warnings == ()
    assert json.loads(encoded.request.body)["messages"][0]["reasoning_content"] == "Hm."
    assert chat.parse(encoded.request).call.messages == own.messages
    (warning,) = chat.encode(replace(own, model="another")).warnings
    assert (warning.code, warning.path) == ("part_left_out", "messages[0].parts[0]")


def test_unknown_fields_of_tool_calls_are_sent_back():
    extra = {"extra_content": {"google": {"thought_signature": "abc"}}}
    payload = {"id": "c", "index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}, **extra}
    chat = CHATS["openai-compatible"]
    (part,) = reply_of(chat, {"tool_calls": [payload]}).parts
    assert part == ToolCall("c", "f", provider_options={"openai-compatible": extra})
    assert accumulate(decoded([events([chunk("tool_calls", tool_calls=[payload])])], chat)).parts == (part,)
    sent = body_of(call(*answered(Message("assistant", (part,)))), chat)["messages"][0]["tool_calls"][0]
    assert sent == {name: value for name, value in payload.items() if name != "index"}
    (warning,) = CHATS["openai"].encode(call(*answered(Message("assistant", (part,))))).warnings
    assert warning.path == "messages[0].parts[0].provider_options.openai-compatible"


SOURCES = {
    "citations": ["https://a", "https://b"],
    "search_results": [{"title": "A", "url": "https://a", "date": None}, {"title": "B", "url": "https://b"}],
}


def test_sources_of_an_answer_are_citations():
    expected = (TextPart("So [1].", (Citation("https://a", "A"), Citation("https://b", "B"))),)
    reply = reply_of(CHATS["perplexity"], {"content": "So [1]."}, **SOURCES)
    assert reply.parts == expected
    assert reply.provider_metadata["citations"] == ["https://a", "https://b"]
    chunks = [chunk(content="So [1].") | SOURCES, chunk("stop", content="") | SOURCES]
    assert accumulate(decoded([events(chunks)], CHATS["perplexity"])).parts == expected


def test_plain_urls_are_citations_for_perplexity_only():
    alone = {"citations": ["https://a", 5]}
    (text,) = reply_of(CHATS["perplexity"], {"content": "So."}, **alone).parts
    assert text == TextPart("So.", (Citation("https://a"),))
    assert reply_of(CHATS["openai"], {"content": "So."}, **SOURCES).parts == (TextPart("So."),)


@pytest.mark.parametrize("citations", [(), (Citation("https://c", "C", start=0, end=3),)], ids=["none", "others"])
def test_invalid_sources_are_not_citations(citations: tuple[Citation, ...]):
    chat = CHATS["perplexity"]
    reply = ModelReply((TextPart("So.", citations),), "stop", provider_metadata=SOURCES)
    again = chat.decode(response(chat.render(reply).body))
    assert again.parts == reply.parts


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 32,
                "completion_tokens": 9,
                "total_tokens": 135,
                "completion_tokens_details": {"reasoning_tokens": 94},
            },
            Usage(input=32, output=103, reasoning=94),
        ),
        (
            {
                "prompt_tokens": 32,
                "completion_tokens": 103,
                "total_tokens": 135,
                "completion_tokens_details": {"reasoning_tokens": 94},
            },
            Usage(input=32, output=103, reasoning=94),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, "prompt_cache_hit_tokens": 8},
            Usage(input=9, output=1, cached=8),
        ),
    ],
    ids=["reasoning apart", "reasoning within", "cache hits by another name"],
)
def test_token_counts_follow_the_vendors_meaning(usage: dict[str, Any], expected: Usage):
    assert reply_of(CHATS["xai"], {"content": "x"}, usage=usage).usage == expected


def test_stream_options_are_omitted_where_usage_is_always_sent():
    assert "stream_options" not in body_of(call(stream=True), CHATS["mistral"])
    assert body_of(call(stream=True), OpenAIChat(ChatDialect()))["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("name", "asked", "written"), [("groq", "max", "high"), ("xai", "max", "xhigh"), ("perplexity", "xhigh", "high")]
)
def test_a_level_that_the_api_does_not_have_becomes_the_nearest(name: str, asked: Any, written: str):
    # `reasoning_effort` in the packages groq 1.7, xai-sdk 1.21 and perplexityai 0.46
    encoded = CHATS[name].encode(call(thinking=asked))
    assert json.loads(encoded.request.body)["reasoning_effort"] == written
    assert [(warning.code, warning.sent) for warning in encoded.warnings] == [("thinking_changed", written)]
