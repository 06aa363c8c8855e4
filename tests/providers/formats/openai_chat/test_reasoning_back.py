"""Reasoning in vendor-specific fields, received and sent back."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    Message,
    ModelCall,
    ModelReply,
    ReasoningDelta,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    accumulate,
)
from abstractcore.testing import check_call_losses, check_encode_again, check_laws, strategies
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_chat.decode import read_detail, write_detail
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.properties import examples
from tests.providers.formats.openai_chat import generated
from tests.providers.formats.openai_chat.wire import chunk, decoded, events, request, response

CHATS = {preset.name: OpenAIChat(preset.dialect) for preset in VENDORS if preset.dialect.has_chat}
ROUTER, MISTRAL, DEEPSEEK = CHATS["openrouter"], CHATS["mistral"], CHATS["deepseek"]
ASKED = ToolCall("call_abcd1", "f")


def reply_of(chat: OpenAIChat, message: dict[str, Any]) -> ModelReply:
    return chat.decode(response({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}))


def sent_back(chat: OpenAIChat, *parts: Any, model: str = "m", call: ToolCall = ASKED) -> Any:
    """The assistant's message of the next request, after a tool's result."""
    return json.loads(chat.encode(next_call(chat, *parts, model=model, call=call)).request.body)["messages"][0]


def next_call(chat: OpenAIChat, *parts: Any, model: str = "m", call: ToolCall = ASKED) -> ModelCall:
    result = Message.tool(ToolResult.text(call.id, "1"))
    return ModelCall(model, (Message.assistant(*parts, call), result), chat.dialect.provider)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", ["openrouter", "mistral", "deepseek", "fireworks", "vllm", "groq", "openai-compatible"]
)
def test_laws_hold_for_the_models_own_reasoning(name: str):
    def owned(call: ModelCall) -> ModelCall:
        origin = f"{name}/{call.model}"
        return call.with_(
            messages=tuple(
                replace(m, parts=[replace(p, origin=origin) if isinstance(p, ReasoningPart) else p for p in m.parts])
                for m in call.messages
            )
        )

    calls = strategies.calls(name, generated.content(), strategies.text_parts(), options=strategies.item_options(name))
    check_laws(CHATS[name], name, calls=calls.map(owned), max_examples=15)


DETAILS: list[dict[str, Any]] = [
    {"type": "reasoning.summary", "summary": "In short.", "id": "s", "format": "openai-responses-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": "gAAA==", "id": "rs_1", "format": "openai-responses-v1", "index": 0},
    {
        "type": "reasoning.text",
        "text": "Hm.",
        "signature": None,
        "id": None,
        "format": "anthropic-claude-v1",
        "index": 1,
    },
    {"type": "reasoning.text", "text": "So.", "signature": "sig", "format": "anthropic-claude-v1", "index": 2},
    {"type": "reasoning.text", "text": "", "signature": "sig2", "format": "anthropic-claude-v1", "index": 3},
    {"type": "reasoning.new", "text": "?", "data": "d", "more": {"x": [1.5, None]}, "index": 4},
    {"type": "reasoning.encrypted", "data": "redacted"},
    {"type": "reasoning.text", "text": "plain"},
    {"type": "reasoning.text", "signature": "alone"},
]


def test_reasoning_details_are_parts_in_order_and_sent_back_unchanged():
    payload = {"reasoning": "In short.Hm.So.", "reasoning_details": DETAILS, "content": "Yes."}
    reply = reply_of(ROUTER, payload)
    assert [part.text for part in reply.parts if isinstance(part, ReasoningPart)] == [
        "In short.",
        "",
        "Hm.",
        "So.",
        "",
        "?",
        "",
        "plain",
        "",
    ]
    assert reply.parts[1] == replace(reply.parts[1], redacted_data="gAAA==", origin="openrouter/m")
    assert reply.text == "Yes."
    back = sent_back(ROUTER, *reply.parts)
    assert back["reasoning_details"] == DETAILS
    assert (back["content"], "reasoning" in back) == ("Yes.", False)
    call = next_call(ROUTER, *reply.parts)
    encoded = ROUTER.encode(call)
    assert encoded.warnings == ()
    assert ROUTER.parse(encoded.request).call.messages == call.messages


def test_reasoning_details_are_not_sent_to_another_model_or_vendor():
    reply = reply_of(ROUTER, {"reasoning_details": DETAILS, "content": "Yes."})
    assert "reasoning_details" not in sent_back(ROUTER, *reply.parts, model="another")
    count = sum(isinstance(part, ReasoningPart) for part in reply.parts)
    for call in (next_call(ROUTER, *reply.parts, model="another"), next_call(DEEPSEEK, *reply.parts)):
        warnings = CHATS[call.provider].encode(call).warnings
        assert [warning.code for warning in warnings] == ["part_left_out"] * count


def test_plain_signature_is_the_vendors_own():
    (part, _) = reply_of(
        ROUTER, {"reasoning_details": [{"type": "reasoning.text", "text": "a", "signature": "s"}], "content": "b"}
    ).parts
    assert part == ReasoningPart("a", "s", origin="openrouter/m")


@examples(80)
@given(strategies.reasoning_parts("openrouter/m").filter(lambda part: bool(part.text) or not part.is_plain))
def test_part_is_restored_from_its_detail(part: ReasoningPart):
    assert read_detail(write_detail(part), part.origin) == part


@pytest.mark.parametrize("signature", ['{"type":"reasoning.text","signature":"s"}', "{", "{}", '{"a":1}', '{"a": 1}'])
def test_signature_that_looks_like_ours_is_kept(signature: str):
    part = ReasoningPart("a", signature, origin="openrouter/m")
    assert read_detail(write_detail(part), part.origin) == part


def piece(**fields: Any) -> Any:
    return chunk(reasoning=fields.get("text") or fields.get("summary"), reasoning_details=[fields])


def test_streamed_details_accumulate_to_complete_ones():
    stream = [
        piece(type="reasoning.summary", summary="In ", format="f", index=0),
        piece(type="reasoning.summary", summary="short.", format="f", index=0),
        piece(type="reasoning.encrypted", data="gAAA", id="rs_1", format="f", index=0),
        piece(type="reasoning.text", text="Hm", format="f", index=1, signature=None),
        piece(type="reasoning.text", text=".", format="f", index=1),
        chunk(content="Yes"),
        piece(type="reasoning.text", signature="sig", format="f", index=1),
        piece(type="reasoning.encrypted", data="x", id="tool_1", format="f", index=2),
        chunk("stop", content="."),
    ]
    details = [
        {"type": "reasoning.summary", "summary": "In short.", "format": "f", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "format": "f", "index": 0},
        {"type": "reasoning.text", "text": "Hm.", "format": "f", "index": 1, "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "x", "id": "tool_1", "format": "f", "index": 2},
    ]
    deltas = list(decoded([events(stream)], ROUTER))
    whole = reply_of(ROUTER, {"reasoning_details": details, "content": "Yes."})
    assert accumulate(deltas).parts == whole.parts
    assert sent_back(ROUTER, *whole.parts)["reasoning_details"] == details
    assert [delta.text for delta in deltas if isinstance(delta, ReasoningDelta)] == ["In ", "short.", "Hm", "."]


def detail_like() -> SearchStrategy[dict[str, Any]]:
    packed = ["{}", '{"type":"reasoning.text"}', '{"signature":"{}","type":"reasoning.text"}']
    values = st.none() | st.sampled_from(["", "x", "reasoning.text", *packed]) | strategies.json_values()
    types = st.sampled_from(["reasoning.text", "reasoning.summary", "reasoning.encrypted", "x"])
    fields = st.sampled_from(["text", "summary", "data", "signature", "id", "index"])
    return st.builds(lambda kind, rest: {"type": kind, **rest}, types, st.dictionaries(fields, values, max_size=4))


@pytest.mark.parametrize("details", [None, [], {}, "x", [5], [{}], [{"type": 5, "text": 6, "data": 7}]])
def test_invalid_details_are_ignored(details: Any):
    reply = reply_of(ROUTER, {"reasoning_details": details, "content": "Yes."})
    assert reply.text == "Yes."
    stream = [chunk(reasoning_details=details), chunk("stop", content="Yes.")]
    assert accumulate(decoded([events(stream)], ROUTER)).parts == reply.parts


def is_bare_text(detail: dict[str, Any]) -> bool:
    """Whether an object is a text and nothing else, as a plain part is."""
    if detail.keys() != {"type", "text"} or detail["type"] != "reasoning.text":
        return False
    return isinstance(detail["text"], str) and detail["text"] != ""


def with_bare_texts_joined(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Plain reasoning in several parts is one part, as it is one object where it is streamed: nothing parts it."""
    joined: list[dict[str, Any]] = []
    for detail in details:
        if joined and is_bare_text(joined[-1]) and is_bare_text(detail):
            joined[-1] = {**detail, "text": joined[-1]["text"] + detail["text"]}
        else:
            joined.append(detail)
    return joined


@examples(80)
@given(st.lists(strategies.json_objects() | detail_like(), max_size=4))
@example([{"type": "reasoning.text", "text": "x"}, {"type": "reasoning.text", "text": "x"}])
@example([{"type": "reasoning.text", "data": "x"}])
@example([{"type": "reasoning.encrypted", "text": "x", "data": "x"}])
@example([{"type": "reasoning.text", "signature": "{}"}])
@example([{"type": "reasoning.text", "signature": '{"signature":"{}","type":"reasoning.text"}', "text": "x"}])
@example([{"type": "reasoning.text", "signature": '{"type": "reasoning.text", "signature": "s"}', "data": "x"}])
def test_arbitrary_objects_as_details_are_sent_back(details: list[dict[str, Any]]):
    reply = reply_of(ROUTER, {"reasoning_details": details, "content": "Yes."})
    parts = [part for part in reply.parts if isinstance(part, ReasoningPart)]
    said = [json.loads(json.dumps(detail)) for detail in details if detail != {"type": "reasoning.text"}]
    assert [write_detail(part) for part in parts] == with_bare_texts_joined(said)


def test_openrouter_reasoning_without_details_is_read():
    reply = reply_of(ROUTER, {"reasoning": "Hm.", "content": "Yes."})
    assert reply.parts == (ReasoningPart("Hm.", origin="openrouter/m"), TextPart("Yes."))
    assert sent_back(ROUTER, *reply.parts)["reasoning_details"] == [{"type": "reasoning.text", "text": "Hm."}]


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}


def test_mistral_reasoning_is_sent_back_as_a_chunk_before_the_answer():
    reply = reply_of(MISTRAL, {"content": [{**THOUGHT, "closed": True}, {"type": "text", "text": "Yes."}]})
    back = sent_back(MISTRAL, *reply.parts, call=ToolCall("abcdefgh1", "f"))
    assert back["content"] == [THOUGHT, {"type": "text", "text": "Yes."}]
    call = next_call(MISTRAL, *reply.parts, call=ToolCall("abcdefgh1", "f"))
    assert MISTRAL.encode(call).warnings == ()
    assert MISTRAL.parse(MISTRAL.encode(call).request).call == call


@pytest.mark.parametrize("signed", [(False, True), (True, True), (True, False)])
def test_several_reasoning_parts_are_one_chunk_at_mistral(signed: tuple[bool, ...]):
    parts = [ReasoningPart("Hm.", "s" if sign else None, origin="mistral/m") for sign in signed]
    asked = next_call(MISTRAL, *parts, TextPart("Yes."), call=ToolCall("abcdefgh1", "f"))
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm.Hm."}]}
    (body, *_) = json.loads(MISTRAL.encode(asked).request.body)["messages"]
    assert body["content"] == [thought, {"type": "text", "text": "Yes."}]
    check_call_losses(MISTRAL, asked)
    check_encode_again(MISTRAL, asked)


def test_answer_without_reasoning_stays_text_at_mistral():
    assert sent_back(MISTRAL, TextPart("Yes."), call=ToolCall("abcdefgh1", "f"))["content"] == "Yes."


def test_signature_without_a_field_at_mistral_has_a_warning():
    call = next_call(MISTRAL, ReasoningPart("Hm.", "s", origin="mistral/m"), call=ToolCall("abcdefgh1", "f"))
    (warning,) = MISTRAL.encode(call).warnings
    assert warning.path == "messages[0].parts[0].signature"


def test_deepseek_reasoning_is_sent_back_with_its_tool_calls():
    reply = reply_of(DEEPSEEK, {"reasoning_content": "Hm.", "content": "Let me see."})
    assert sent_back(DEEPSEEK, *reply.parts)["reasoning_content"] == "Hm."


def test_deepseek_reasoning_field_is_present_for_tool_calls_without_reasoning():
    assert sent_back(DEEPSEEK)["reasoning_content"] == ""
    call = next_call(DEEPSEEK)
    assert DEEPSEEK.parse(DEEPSEEK.encode(call).request).call == call
    payload = ModelCall("m", (Message.user("hi"), Message.assistant("ho")), "deepseek")
    assert "reasoning_content" not in json.loads(DEEPSEEK.encode(payload).request.body)["messages"][1]


def test_client_may_send_reasoning_chunks_to_any_dialect():
    body = {"model": "m", "messages": [{"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "Yes."}]}]}
    (message,) = CHATS["openai"].parse(request(body)).call.messages
    assert message.parts == (ReasoningPart("Hm.", origin="openai/m"), TextPart("Yes."))
