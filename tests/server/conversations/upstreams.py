"""Upstreams: a model of each wire format, its replies as its API reference has them, and the rules for its requests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from abstractcore.testing.http_server import LAST_CHUNK, answer, chunk, stream_head

Body = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of a function. Without an `id`, the vendor sends none, or must have one: then it is made of the name."""

    name: str
    arguments: str = "{}"
    id: str | None = None


@dataclass(frozen=True)
class Said:
    """What a model says in one reply. `fields` are added to the reply as fields that no API reference has."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Upstream:
    """A vendor. `model` is its model as clients of the server name it, `format` its wire format.

    `whole` returns a reply as JSON, `events` as the pieces of a stream; `rules` yields what is wrong with the messages
    of a request.
    """

    model: str
    format: str
    whole: Callable[[Said], Body]
    events: Callable[[Said], list[bytes]]
    rules: Callable[[Body], Iterator[str]]
    content_type: str = "text/event-stream"

    @property
    def provider(self) -> str:
        """The name of the provider."""
        return self.model.partition("/")[0]

    @property
    def own_name(self) -> str:
        """The name that the vendor has for the model."""
        return self.model.partition("/")[2]

    def reply(self, said: Said, *, stream: bool) -> bytes:
        """Returns the HTTP response."""
        if not stream:
            return answer(self.whole(said))
        return stream_head(content_type=self.content_type) + b"".join(map(chunk, self.events(said))) + LAST_CHUNK


def _event(data: Body) -> bytes:
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def _repeated(ids: Sequence[str], what: str) -> Iterator[str]:
    yield from (f"{what} ids must be unique: {id}" for id in {*ids} if list(ids).count(id) > 1)


_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_LONGEST_ID = 64


def _anthropic(said: Said) -> Body:
    content: list[Body] = []
    if said.thinking:
        content.append({"type": "thinking", "thinking": said.thinking, "signature": "c2lnbmVk"})
    if said.text:
        content.append({"type": "text", "text": said.text})
    for call in said.calls:
        named = {"id": call.id or f"toolu_{call.name}", "name": call.name}
        content.append({"type": "tool_use", **named, "input": _object(call.arguments)})
    return {
        "id": "vendor_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": content,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 8},
        **said.fields,
    }


def _object(arguments: str) -> Any:
    """Returns arguments as an object, an empty one if they are not JSON: then only streams can have them."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


def _anthropic_events(said: Said) -> list[bytes]:
    whole = _anthropic(said)
    content, reason = whole.pop("content"), whole.pop("stop_reason")
    arguments = iter([call.arguments for call in said.calls])
    events: list[Body] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for index, block in enumerate(content):
        begin: Body = {**block}
        pieces: list[Body]
        if block["type"] == "thinking":
            begin |= {"thinking": "", "signature": ""}
            pieces = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        elif block["type"] == "text":
            begin["text"] = ""
            pieces = [{"type": "text_delta", "text": block["text"]}]
        else:
            begin["input"] = {}
            pieces = [{"type": "input_json_delta", "partial_json": next(arguments)}]
        events.append({"type": "content_block_start", "index": index, "content_block": begin})
        events += ({"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces)
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": reason, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": end, "usage": {"output_tokens": 8}}, {"type": "message_stop"}]
    return [*map(_event, events)]


def _anthropic_rules(body: Body) -> Iterator[str]:
    """platform.claude.com: ids match a pattern and are unique, results follow their calls, thinking comes first."""
    ids: list[str] = []
    open_ids: list[str] = []
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_ids):
            yield f"tool_use ids were found without tool_result blocks: {open_ids}, {results}"
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        ids += open_ids
        kinds = [block["type"] for block in blocks]
        if "thinking" in kinds and kinds[0] != "thinking":
            yield f"Expected `thinking`, but found {kinds[0]!r}"
    yield from _repeated(ids, "tool_use")
    yield from (f"String should match pattern: {id}" for id in ids if not _ANTHROPIC_ID.fullmatch(id))


def _chat(said: Said) -> Body:
    message: Body = {"role": "assistant", "content": said.text or None}
    if said.thinking:
        message["reasoning_content"] = said.thinking
    if said.calls:
        message["tool_calls"] = [_chat_call(call) for call in said.calls]
    reason = "tool_calls" if said.calls else "stop"
    return {
        "id": "vendor_01",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 8, "total_tokens": 20},
        **said.fields,
    }


def _chat_call(call: Call) -> Body:
    named = {} if call.id is None else {"id": call.id}
    return {**named, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat_events(said: Said) -> list[bytes]:
    whole = {**_chat(said), "object": "chat.completion.chunk"}
    usage = whole.pop("usage")
    (choice,) = whole.pop("choices")
    message = choice["message"]
    for index, call in enumerate(message.get("tool_calls", ())):
        call["index"] = index
    chunks: list[Body] = [
        {**whole, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**whole, "choices": [], "usage": usage},
    ]
    return [*map(_event, chunks), b"data: [DONE]\n\n"]


def _chat_rules(body: Body) -> Iterator[str]:
    """platform.openai.com: results follow their calls; an id has at most 64 characters."""
    ids: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool" and message["tool_call_id"] not in ids:
            yield f"messages with role 'tool' must be a response to a preceding message: {message}"
        ids += (call["id"] for call in message.get("tool_calls") or ())
    yield from _repeated(ids, "tool call")
    yield from (f"string too long: {id}" for id in ids if len(id) > _LONGEST_ID)


def _responses(said: Said) -> Body:
    output: list[Body] = []
    if said.thinking:
        summary = [{"type": "summary_text", "text": said.thinking}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAAA+x/=="})
    if said.text:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        head = {"type": "message", "id": f"msg_{len(said.text)}", "role": "assistant", "status": "completed"}
        output.append({**head, "content": content})
    for call in said.calls:
        id = call.id or f"call_{call.name}"
        named = {"id": f"fc_{id}", "call_id": id, "name": call.name, "arguments": call.arguments}
        output.append({"type": "function_call", "status": "completed", **named})
    return {
        "id": "vendor_01",
        "object": "response",
        "created_at": 1_750_000_000,
        "status": "completed",
        "model": "gpt-5.6-2026-10-01",
        "output": output,
        "usage": {"input_tokens": 12, "output_tokens": 8, "total_tokens": 20},
        **said.fields,
    }


def _responses_events(said: Said) -> list[bytes]:
    whole = _responses(said)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Body] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(whole["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        started = {**item, "status": "in_progress"}
        if item["type"] == "function_call":
            started["arguments"] = ""
            kind, delta = "response.function_call_arguments.delta", item["arguments"]
        elif item["type"] == "message":
            started["content"] = []
            kind, delta = "response.output_text.delta", said.text
            at["content_index"] = 0
        else:
            started |= {"summary": [], "encrypted_content": ""}
            kind, delta = "response.reasoning_summary_text.delta", said.thinking
            at["summary_index"] = 0
        events.append({"type": "response.output_item.added", "output_index": index, "item": started})
        if item["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            events.append({"type": "response.content_part.added", **at, "part": part})
        elif item["type"] == "reasoning":
            part = {"type": "summary_text", "text": ""}
            events.append({"type": "response.reasoning_summary_part.added", **at, "part": part})
        events.append({"type": kind, **at, "delta": delta})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [_event({**event, "sequence_number": number}) for number, event in enumerate(events)]


def _responses_rules(body: Body) -> Iterator[str]:
    """platform.openai.com: each output has its call; ids are unique, and have at most 64 characters."""
    items = body["input"] if isinstance(body["input"], list) else []
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    yield from _repeated(calls, "call")
    yield from (f"No tool call found for function call output with call_id {id}" for id in {*results} - {*calls})
    yield from (f"No tool output found for function call {id}" for id in {*calls} - {*results})
    yield from (f"string too long: {id}" for id in calls if len(id) > _LONGEST_ID)
    named = [item["id"] for item in items if item.get("id")]
    yield from _repeated([id for id in named if not id.startswith("rs_")], "item")


def _gemini(said: Said) -> Body:
    parts: list[Body] = []
    if said.thinking:
        parts.append({"text": said.thinking, "thought": True})
    if said.text:
        parts.append({"text": said.text})
    for call in said.calls:
        function: Body = {"name": call.name, "args": json.loads(call.arguments)}
        parts.append({"functionCall": function if call.id is None else {"id": call.id, **function}})
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "modelVersion": "gemini-2.5-flash-001",
        "responseId": "vendor_01",
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 8, "totalTokenCount": 20},
        **said.fields,
    }


def _gemini_rules(body: Body) -> Iterator[str]:
    """ai.google.dev: as many responses as calls, in the next turn; ids are unique."""
    ids: list[str] = []
    waiting = 0
    for content in body["contents"]:
        responses = [part for part in content["parts"] if "functionResponse" in part]
        if len(responses) != waiting:
            yield "the number of function response parts is not equal to the number of function call parts"
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        waiting = len(calls)
        ids += (call["id"] for call in calls if "id" in call)
    yield from _repeated(ids, "function call")


def _ollama(said: Said) -> Body:
    message: Body = {"role": "assistant", "content": said.text}
    if said.thinking:
        message["thinking"] = said.thinking
    if said.calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": json.loads(call.arguments)}} for call in said.calls
        ]
    counts = {"prompt_eval_count": 12, "eval_count": 8}
    base = {"model": "qwen3:8b", "created_at": "2026-11-22T00:00:00Z", "message": message, **said.fields}
    return {**base, "done": True, "done_reason": "stop", **counts}


def _ollama_lines(said: Said) -> list[bytes]:
    end = _ollama(said)
    message = {"role": "assistant", "content": ""}
    base = {"model": end["model"], "created_at": end["created_at"]}
    first, last = {**base, "message": end["message"], "done": False}, {**end, "message": message}
    return [f"{json.dumps(line)}\n".encode() for line in (first, last)]


def _ollama_rules(body: Body) -> Iterator[str]:
    """docs.ollama.com: a result names its tool."""
    for message in body["messages"]:
        if message["role"] == "tool" and not (message.get("tool_name") or message.get("tool_call_id")):
            yield f"a result without its tool: {message}"


def _cohere(said: Said) -> Body:
    message: Body = {"role": "assistant"}
    content: list[Body] = []
    if said.thinking:
        content.append({"type": "thinking", "thinking": said.thinking})
    if said.text:
        content.append({"type": "text", "text": said.text})
    if content:
        message["content"] = content
    if said.calls:
        message["tool_calls"] = [_chat_call(call) for call in said.calls]
    usage = {"tokens": {"input_tokens": 12.0, "output_tokens": 8.0}}
    reason = "TOOL_CALL" if said.calls else "COMPLETE"
    return {"id": "vendor_01", "finish_reason": reason, "message": message, "usage": usage, **said.fields}


def _cohere_events(said: Said) -> list[bytes]:
    whole = _cohere(said)
    message = whole["message"]
    events: list[Body] = [{"type": "message-start", "id": whole["id"], "delta": {"message": {"role": "assistant"}}}]
    for index, item in enumerate(message.get("content", ())):
        kind = item["type"]
        empty, piece = {"type": kind, kind: ""}, {kind: item[kind]}
        events += [
            {"type": "content-start", "index": index, "delta": {"message": {"content": empty}}},
            {"type": "content-delta", "index": index, "delta": {"message": {"content": piece}}},
            {"type": "content-end", "index": index},
        ]
    for index, call in enumerate(message.get("tool_calls", ())):
        begun = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        piece = {"function": {"arguments": call["function"]["arguments"]}}
        events += [
            {"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": begun}}},
            {"type": "tool-call-delta", "index": index, "delta": {"message": {"tool_calls": piece}}},
            {"type": "tool-call-end", "index": index},
        ]
    end = {"finish_reason": whole["finish_reason"], "usage": whole["usage"], **said.fields}
    events.append({"type": "message-end", "id": whole["id"], "delta": end})
    return [*map(_event, events)]


UPSTREAMS = (
    Upstream("anthropic/claude-sonnet-4-5", "anthropic_messages", _anthropic, _anthropic_events, _anthropic_rules),
    Upstream("openai-compatible/served-model", "openai_chat", _chat, _chat_events, _chat_rules),
    Upstream("openai-responses/gpt-5.6", "openai_responses", _responses, _responses_events, _responses_rules),
    Upstream("google/gemini-2.5-flash", "gemini", _gemini, lambda said: [_event(_gemini(said))], _gemini_rules),
    Upstream("ollama/qwen3:8b", "ollama", _ollama, _ollama_lines, _ollama_rules, content_type="application/x-ndjson"),
    Upstream("cohere/command-a-03-2025", "cohere_chat", _cohere, _cohere_events, _chat_rules),
)
