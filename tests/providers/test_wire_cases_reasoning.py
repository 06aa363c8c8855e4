"""Reasoning is sent back unchanged with the next call, sync and async; never to another provider."""

from __future__ import annotations

import json
from typing import Any

import pytest

from abstractcore import Message, ToolResult
from tests.chaos_server import answer
from tests.providers.formats.anthropic_messages import wire as anthropic
from tests.providers.formats.bedrock_converse import wire as bedrock
from tests.providers.formats.gemini import wire as gemini
from tests.providers.formats.gemini_interactions import wire as interactions
from tests.providers.formats.openai_responses import wire as responses
from tests.providers.wire_streams import answered_with, served

SIGNATURE = "c2lnbmF0dXJl"
ANTHROPIC = [
    {"type": "thinking", "thinking": "First, the place.", "signature": "sig-1"},
    {"type": "redacted_thinking", "data": "EuYBsecret"},
    {"type": "text", "text": "Let me look."},
    {"type": "thinking", "thinking": "Two calls.", "signature": "sig-2"},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
]
BEDROCK: list[dict[str, Any]] = [
    {"reasoningContent": {"reasoningText": {"text": "First, the place.", "signature": "sig-1"}}},
    {"reasoningContent": {"redactedContent": "c2VjcmV0"}},
    {"text": "Let me look."},
    {"reasoningContent": {"reasoningText": {"text": "Two calls.", "signature": "sig-2"}}},
    {"toolUse": {"toolUseId": "toolu_1", "name": "f", "input": {"a": 1}}},
    {"toolUse": {"toolUseId": "toolu_2", "name": "g", "input": {}}},
]
GEMINI = [
    {"text": "First, the place.", "thought": True},
    {"text": "Let me look."},
    {"functionCall": {"id": "toolu_1", "name": "f", "args": {"a": 1}}, "thoughtSignature": SIGNATURE},
    {"functionCall": {"id": "toolu_2", "name": "g", "args": {}}},
]
RESPONSES: list[dict[str, Any]] = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "First, the place."}],
        "encrypted_content": "gAAAAAsecret",
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "toolu_1",
        "name": "f",
        "arguments": '{"a":1}',
        "status": "completed",
    },
    {
        "type": "function_call",
        "id": "fc_2",
        "call_id": "toolu_2",
        "name": "g",
        "arguments": "{}",
        "status": "completed",
    },
]
INTERACTIONS: list[dict[str, Any]] = [
    {"type": "thought", "signature": "c2lnbmF0dXJl", "summary": [{"type": "text", "text": "First, the place."}]},
    {"type": "model_output", "content": [{"type": "text", "text": "Let me look."}]},
    {"type": "function_call", "id": "toolu_1", "name": "f", "arguments": {"a": 1}},
    {"type": "function_call", "id": "toolu_2", "name": "g", "arguments": {}},
]
BODIES: dict[str, Any] = {
    "anthropic_messages": anthropic.message(*ANTHROPIC, model="claude-sonnet-4-5-20250929", stop_reason="tool_use"),
    "bedrock_converse": bedrock.reply_with(*BEDROCK),
    "gemini": gemini.chunk(*GEMINI, finish="STOP"),
    "gemini_interactions": {
        "id": "v1",
        "status": "requires_action",
        "model": "gemini-3-flash-preview-09",
        "steps": INTERACTIONS,
    },
    "openai_responses": responses.completed(*RESPONSES, model="gpt-5.6-2026-07-01"),
}
"""Whole answers, whose models have another name than they are called by."""
RESULTS = Message.tool(ToolResult.text("toolu_1", "one"), ToolResult.text("toolu_2", "two"))


def streamed(format: str) -> bytes:
    """The answer of `BODIES` as its vendor streams it."""
    if format == "anthropic_messages":
        return served(format, [*anthropic_stream(), *anthropic.end("tool_use", output_tokens=5)])
    if format == "bedrock_converse":
        return served(format, [bedrock.START, *bedrock_stream(), {"messageStop": {"stopReason": "tool_use"}}])
    if format == "gemini":
        chunks = [gemini.chunk(part) for part in GEMINI]
        return served(format, [*chunks, gemini.chunk(finish="STOP")])
    if format == "gemini_interactions":
        return served(format, interactions_stream())
    done = [responses.done(item, index) for index, item in enumerate(RESPONSES)]
    return served(format, [responses.begin(), *done, {"type": "response.completed", "response": BODIES[format]}])


def anthropic_stream() -> list[Any]:
    events: list[Any] = [{"type": "message_start", "message": {**BODIES["anthropic_messages"], "content": []}}]
    for index, block in enumerate(ANTHROPIC):
        kind: Any = block["type"]
        deltas: list[dict[str, Any]] = []
        begun = dict(block)
        if kind == "thinking":
            begun = {"type": kind, "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in two_chunks(str(block["thinking"]))]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif kind == "text":
            begun = {"type": kind, "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in two_chunks(str(block["text"]))]
        elif kind == "tool_use":
            begun = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in two_chunks(json.dumps(block["input"]))]
        events += anthropic.block(index, *deltas, **begun)
    return events


def bedrock_stream() -> list[Any]:
    frames: list[Any] = []
    for index, block in enumerate(BEDROCK):
        ((kind, value),) = block.items()
        if kind == "toolUse":
            frames.append(bedrock.start(index, toolUse={"toolUseId": value["toolUseId"], "name": value["name"]}))
            frames += [bedrock.delta(index, toolUse={"input": p}) for p in two_chunks(json.dumps(value["input"]))]
        elif kind == "text":
            frames += [bedrock.delta(index, text=piece) for piece in two_chunks(value)]
        elif "redactedContent" in value:
            frames.append(bedrock.delta(index, reasoningContent=value))
        else:
            text = value["reasoningText"]
            frames += [bedrock.delta(index, reasoningContent={"text": piece}) for piece in two_chunks(text["text"])]
            frames.append(bedrock.delta(index, reasoningContent={"signature": text["signature"]}))
        frames.append(bedrock.stop(index))
    return frames


def interactions_stream() -> list[Any]:
    """The steps of the answer; a call's arguments and a thought come in deltas."""
    frames = [interactions.CREATED]
    for index, step in enumerate(INTERACTIONS):
        begun = {name: value for name, value in step.items() if name not in ("type", "summary", "signature")}
        if step["type"] == "thought":
            (summary,) = step["summary"]
            deltas = [interactions.delta(index, "thought_summary", content=summary)]
            deltas.append(interactions.delta(index, "thought_signature", signature=step["signature"]))
        elif step["type"] == "function_call":
            begun["arguments"] = {}
            text = json.dumps(step["arguments"])
            deltas = [interactions.delta(index, "arguments_delta", arguments=piece) for piece in two_chunks(text)]
        else:
            deltas = []
        frames += [interactions.start(index, step["type"], **begun), *deltas, interactions.stop(index)]
    return [*frames, interactions.completed("requires_action")]


def two_chunks(text: str) -> list[str]:
    middle = len(text) // 2
    return [text[:middle], text[middle:]]


def sent_back(format: str, body: Any) -> Any:
    """What a request holds of the assistant's answer, without the ids of items, which are optional."""
    if format == "openai_responses":
        kept = ("type", "summary", "encrypted_content", "call_id", "name", "arguments")
        items = [item for item in body["input"] if item.get("type") in ("reasoning", "function_call")]
        return [{name: item[name] for name in kept if name in item} for item in items]
    if format == "gemini":
        return body["contents"][1]["parts"]
    if format == "gemini_interactions":
        return [step for step in body["input"] if step["type"] not in ("user_input", "function_result")]
    return body["messages"][1]["content"]


EXPECTED = {
    "anthropic_messages": ANTHROPIC,
    "bedrock_converse": BEDROCK,
    "gemini": GEMINI,
    "gemini_interactions": INTERACTIONS,
    "openai_responses": sent_back("openai_responses", {"input": RESPONSES}),
}


def first_answer(call_style, server, llm, format: str, *, stream: bool) -> Message:
    """The assistant's message of a first call."""
    if not stream:
        server.script(answer(BODIES[format]))
        return call_style.generate(llm, "hi").reply.message()
    server.script(streamed(format))
    with call_style.stream(llm, "hi") as stream_of_answer:
        list(stream_of_answer)
    return stream_of_answer.response.reply.message()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", BODIES)
def test_answer_is_sent_back_in_order_with_signatures_and_redacted_blocks(call_style, server, llm_of, format, stream):
    """Order, signatures and redacted blocks come back exactly as received on the next call (think, redacted, text,
    think, two tools); Gemini's thought signatures on tool calls and OpenAI's encrypted items, too.
    """
    llm = llm_of(format)
    said = first_answer(call_style, server, llm, format, stream=stream)
    server.script(answered_with(format))
    response = call_style.generate(llm, messages=[Message.user("hi"), said, RESULTS])
    assert sent_back(format, server.requests[1].json) == EXPECTED[format]
    assert not [warning for warning in response.warnings if warning.path.startswith("messages")]


SECRETS = ("sig-1", "sig-2", "secret", "c2VjcmV0", SIGNATURE, "First, the place.", "Two calls.")
MOVES = [(one, other) for one in BODIES for other in BODIES if one != other]


@pytest.mark.parametrize(("format", "other"), MOVES)
def test_conversation_moved_to_another_provider_drops_reasoning_with_a_warning(
    call_style, server, llm_of, format, other
):
    """A conversation moved to another provider leaves them out, with a warning."""
    said = first_answer(call_style, server, llm_of(format), format, stream=True)
    server.script(answered_with(other))
    response = call_style.generate(llm_of(other), messages=[Message.user("hi"), said, RESULTS])
    body = server.requests[1].body.decode()
    assert [secret for secret in SECRETS if secret in body] == []
    left_out = {warning.path for warning in response.warnings if warning.sent is None}
    reasoning = [f"messages[1].parts[{i}]" for i, part in enumerate(said.parts) if part.type == "reasoning"]
    assert reasoning
    assert set(reasoning) <= left_out
    assert "toolu_1" in body
