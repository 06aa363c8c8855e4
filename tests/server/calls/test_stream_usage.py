"""Streamed usage is that of whole answers, for clients of every API and every shape in which a vendor ends a stream.

The answers are those of the vendors' API references, which the constants name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx2
import pytest

from tests.chaos_server import DONE, LAST_CHUNK, answer, chunk, delta, event, stream_head
from tests.server.accounts import Accounts
from tests.server.serving import Served, serving

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
CONTENTS: dict[str, Any] = {"contents": [{"parts": [{"text": "hi"}]}]}
COUNTS = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
Shape = tuple[str, Sequence[bytes], Mapping[str, Any]]
"""The model, the pieces of a stream, and the whole answer."""


def chat(*pieces: bytes, **usage: Any) -> Shape:
    """An answer of a server with OpenAI's API (https://platform.openai.com/docs/api-reference/chat-streaming)."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    body = {"id": "c-1", "object": "chat.completion", "model": "m-1", "choices": [choice], **usage}
    return "openai-compatible/m", [*pieces, DONE], body


def claude(start: dict[str, int], end: dict[str, int]) -> Shape:
    """An answer of Anthropic's (https://platform.claude.com/docs/en/build-with-claude/streaming): the counts of
    `message_delta` are those of the whole answer.
    """
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    open_ends: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None}
    text = {"type": "text_delta", "text": "hello"}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, **open_ends, "usage": start}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": text},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": end},
        {"type": "message_stop"},
    ]
    pieces = [f"event: {each['type']}\n".encode() + event(each) for each in events]
    whole: dict[str, Any] = {**head, **ended, "content": [{"type": "text", "text": "hello"}], "usage": {**start, **end}}
    return "anthropic/claude-sonnet-4-5", pieces, whole


def gemini(*counts: dict[str, int] | None) -> Shape:
    """An answer of Gemini's (https://ai.google.dev/api/generate-content): a chunk for each of `counts`."""
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}], "modelVersion": "g"}
        for text in ("hello", *[""] * (len(counts) - 1))
    ]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    for each, count in zip(chunks, counts, strict=True):
        each |= {"usageMetadata": count} if count else {}
    whole: dict[str, Any] = {**chunks[0], "usageMetadata": counts[-1]}
    whole["candidates"] = [{**whole["candidates"][0], "finishReason": "STOP"}]
    return "google/gemini-2.5-flash", [event(each) for each in chunks], whole


def cohere(usage: dict[str, Any]) -> Shape:
    """An answer of Cohere's (https://docs.cohere.com/reference/chat-stream)."""
    text = {"message": {"content": {"text": "hello"}}}
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant", "content": []}}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
        {"type": "content-delta", "index": 0, "delta": text},
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}},
    ]
    pieces = [f"event: {each['type']}\n".encode() + event(each) for each in events]
    message = {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}
    whole: dict[str, Any] = {"id": "c", "finish_reason": "COMPLETE", "message": message, "usage": usage}
    return "cohere/command-a-03-2025", [*pieces, DONE], whole


def ollama(**counts: int) -> Shape:
    """An answer of Ollama's (https://docs.ollama.com/api/chat): the last line is `done`, and has no text, or some."""
    lines = [
        {"model": "llama3.2", "message": {"role": "assistant", "content": text}, "done": done, **more}
        for text, done, more in (("hello", False, {}), ("", True, {"done_reason": "stop", **counts}))
    ]
    whole: dict[str, Any] = {**lines[1], "message": lines[0]["message"]}
    return "ollama/llama3.2", [json.dumps(line).encode() + b"\n" for line in lines], whole


def responses(usage: dict[str, Any]) -> Shape:
    """An answer of OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses-streaming)."""
    part: dict[str, Any] = {"type": "output_text", "text": "hello", "annotations": []}
    item: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.6"}
    whole: dict[str, Any] = {**head, "status": "completed", "output": [item], "usage": usage}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    begun: dict[str, Any] = {**item, "status": "in_progress", "content": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": "hello"},
        {"type": "response.output_text.done", **place, "text": "hello"},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    pieces = [
        f"event: {each['type']}\n".encode() + event({**each, "sequence_number": number})
        for number, each in enumerate(events)
    ]
    return "openai-responses/gpt-5.6", pieces, whole


TEXT, STOP = delta("hello"), delta(finish_reason="stop")
GEMINI = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
SHAPES: dict[str, Shape] = {
    "chat: a chunk without choices": chat(TEXT, STOP, event({"choices": [], "usage": COUNTS}), usage=COUNTS),
    "chat: null until then": chat(
        delta("hello", usage=None),
        delta(finish_reason="stop", usage=None),
        event({"choices": [], "usage": COUNTS}),
        usage=COUNTS,
    ),
    "chat: no field choices": chat(TEXT, STOP, event({"usage": COUNTS}), usage=COUNTS),
    "chat: the chunk with the finish reason": chat(TEXT, delta(finish_reason="stop", usage=COUNTS), usage=COUNTS),
    "chat: the chunk with the last text": chat(delta("hello", "stop", usage=COUNTS), usage=COUNTS),
    "chat: an empty delta behind the finish reason": chat(TEXT, STOP, delta(usage=COUNTS), usage=COUNTS),
    "chat: every chunk, growing": chat(
        delta("hello", usage={"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}),
        delta(finish_reason="stop", usage=COUNTS),
        usage=COUNTS,
    ),
    "chat: twice": chat(
        TEXT, delta(finish_reason="stop", usage=COUNTS), event({"choices": [], "usage": COUNTS}), usage=COUNTS
    ),
    "claude: output in message_delta": claude({"input_tokens": 7, "output_tokens": 1}, {"output_tokens": 3}),
    "claude: all in message_delta": claude(
        {"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 7, "output_tokens": 3}
    ),
    "gemini: every chunk, growing": gemini(
        {"promptTokenCount": 7, "totalTokenCount": 7}, {**GEMINI, "candidatesTokenCount": 1}, GEMINI
    ),
    "gemini: the last chunk": gemini(None, GEMINI),
    "gemini: one chunk": gemini(GEMINI),
    "cohere: message-end": cohere({"tokens": {"input_tokens": 7, "output_tokens": 3}}),
    "cohere: with what is charged": cohere(
        {"billed_units": {"input_tokens": 2, "output_tokens": 3}, "tokens": {"input_tokens": 7, "output_tokens": 3}}
    ),
    "ollama: done": ollama(prompt_eval_count=7, eval_count=3, total_duration=5),
    "responses: response.completed": responses({"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}),
}
UNCOUNTED: dict[str, Shape] = {
    "chat: none": chat(TEXT, STOP),
    "chat: null": chat(delta("hello", usage=None), delta(finish_reason="stop", usage=None), usage=None),
    "ollama: none": ollama(),
}


Counts = tuple[int | None, int | None]


def counts(usage: Any, of_input: str, of_output: str) -> Counts:
    """Returns two counts; None for those that are not there."""
    return (usage.get(of_input), usage.get(of_output)) if usage else (None, None)


def of_chat(data: Any) -> Counts:
    return counts(data.get("usage"), "prompt_tokens", "completion_tokens")


def of_responses(data: Any) -> Counts:
    return counts(data.get("response", data).get("usage"), "input_tokens", "output_tokens")


def of_claude(data: Any) -> Counts:
    return counts(data.get("message", data).get("usage"), "input_tokens", "output_tokens")


def of_gemini(data: Any) -> Counts:
    return counts(data.get("usageMetadata"), "promptTokenCount", "candidatesTokenCount")


def of_cohere(data: Any) -> Counts:
    usage = data.get("delta", data).get("usage")
    return counts(usage and usage.get("tokens"), "input_tokens", "output_tokens")


def of_ollama(data: Any) -> Counts:
    return counts(data, "prompt_eval_count", "eval_count")


CLIENTS: dict[str, tuple[dict[str, Any], Callable[[Any], Counts]]] = {
    "/v1/chat/completions": (ASK, of_chat),
    "/v1/completions": ({"prompt": "hi"}, of_chat),
    "/v1/responses": ({"input": "hi"}, of_responses),
    "/v1/messages": ({**ASK, "max_tokens": 9}, of_claude),
    "/v1beta/models/{model}:generateContent": (CONTENTS, of_gemini),
    "/v2/chat": (ASK, of_cohere),
    "/api/chat": (ASK, of_ollama),
    "/api/generate": ({"prompt": "hi"}, of_ollama),
}
"""For each path a body, and what reads the counts of a whole answer, or of an object of a stream."""


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(accounts: Accounts) -> Iterator[Served]:
    with serving(access=accounts) as served:
        yield served


def counted(http: httpx2.Client, path: str, model: str, *, stream: bool) -> Counts:
    """Asks for an answer; returns its counts: of a stream, the last ones that are given."""
    body, counts_of = CLIENTS[path]
    if "{model}" in path:
        path = path.replace("{model}", model)
        path = path.replace(":generate", ":streamGenerate") + "?alt=sse" if stream else path
    else:
        body = {**body, "model": model, "stream": stream}
        if stream and counts_of is of_chat:
            body["stream_options"] = {"include_usage": True}
    response = http.post(path, json=body)
    assert response.status_code == 200, response.text
    if not stream:
        return counts_of(response.json())
    found: Counts = (None, None)
    for line in response.text.splitlines():
        if (text := line.removeprefix("data: ")).startswith("{"):
            given = counts_of(json.loads(text))
            found = (found[0] if given[0] is None else given[0], found[1] if given[1] is None else given[1])
    return found


def streamed(pieces: Sequence[bytes]) -> bytes:
    return stream_head() + b"".join(map(chunk, pieces)) + LAST_CHUNK


@pytest.mark.parametrize("shape", SHAPES)
def test_streamed_usage_is_that_of_the_whole_answer(
    served: Served, http: httpx2.Client, accounts: Accounts, shape: str
):
    model, pieces, whole = SHAPES[shape]
    found: dict[str, Any] = {}
    for path in CLIENTS:
        served.vendor.script(answer(whole))
        served.vendor.script(streamed(pieces))
        accounts.clear()
        counts = [counted(http, path, model, stream=False), counted(http, path, model, stream=True)]
        settled = [accounts.wait(), accounts.wait()]
        found[path] = (counts, [(each.usage.input, each.usage.output, each.estimated) for each in settled])
    assert found == dict.fromkeys(CLIENTS, ([(7, 3)] * 2, [(7, 3, False)] * 2))


@pytest.mark.parametrize("shape", UNCOUNTED)
def test_usage_that_is_not_reported_is_settled_as_the_same_estimate(
    served: Served, http: httpx2.Client, accounts: Accounts, shape: str
):
    model, pieces, whole = UNCOUNTED[shape]
    for path in CLIENTS:
        served.vendor.script(answer(whole))
        served.vendor.script(streamed(pieces))
        accounts.clear()
        for stream in (False, True):
            counted(http, path, model, stream=stream)
        one, other = accounts.wait(), accounts.wait()
        assert one.estimated, path
        assert one == other, path
