"""The responses of the loopback server: bytes in OpenAI's published format of Chat Completions."""

from __future__ import annotations

import base64
import json
import struct
from itertools import cycle

MODEL = "gpt-4o-mini-2024-07-18"
CHUNKS = 2000
"""Chunks with text in a stream."""
VECTORS = 250
"""Vectors in a response, each of 1,536 numbers."""

_TOKENS = ("The", " speed", " of", " light", " is", " 299", ",", "792", ",", "458", " metres", " a", " second", ".\n\n")
_USAGE = {
    "prompt_tokens": 23,
    "completion_tokens": CHUNKS,
    "total_tokens": CHUNKS + 23,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 0,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}
_EVENTS_A_PIECE = (1, 2, 1, 4, 1, 3)
_CUT_EVERY = 7


def completion() -> bytes:
    """The body of a `chat.completion` with an answer of about 200 tokens."""
    message = {"role": "assistant", "content": "".join(_TOKENS) * 14, "refusal": None, "annotations": []}
    body = {
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1741569952,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": _USAGE,
        "service_tier": "default",
        "system_fingerprint": "fp_44709d6fcb",
    }
    return json.dumps(body, indent=2).encode()


def embeddings() -> bytes:
    """The body of a response with vectors as base64 (https://platform.openai.com/docs/api-reference/embeddings)."""
    vector = base64.b64encode(struct.pack("<f", 1536**-0.5) * 1536).decode()
    rows = [{"object": "embedding", "index": index, "embedding": vector} for index in range(VECTORS)]
    usage = {"prompt_tokens": 25 * VECTORS, "total_tokens": 25 * VECTORS}
    return json.dumps({"object": "list", "data": rows, "model": "text-embedding-3-small", "usage": usage}).encode()


def tool_call() -> bytes:
    """Returns a reply that calls the tool `add`."""
    reply = json.loads(completion())
    function = {"name": "add", "arguments": '{"first": 2, "second": 3}'}
    call = {"id": "call_b1946ac92492d234", "type": "function", "function": function}
    reply["choices"][0]["message"] |= {"content": None, "tool_calls": [call]}
    reply["choices"][0]["finish_reason"] = "tool_calls"
    return json.dumps(reply).encode()


def events() -> list[bytes]:
    """The server-sent events of one stream with usage, and with OpenAI's padding, which hides token lengths."""
    deltas: list[dict[str, object]] = [{"role": "assistant", "content": "", "refusal": None}]
    tokens = cycle(_TOKENS)
    deltas += [{"content": next(tokens)} for _ in range(CHUNKS)]
    lines = [_chunk([_choice(delta, None)], None, "x" * (1 + i % 7)) for i, delta in enumerate(deltas)]
    lines += [_chunk([_choice({}, "stop")], None, "xxxx"), _chunk([], _USAGE, "xxxx"), b"[DONE]"]
    return [b"data: " + line + b"\n\n" for line in lines]


def pieces() -> list[bytes]:
    """A stream split as by networks: one to four events per chunk, and sometimes mid-event."""
    waiting, cut, left = events(), [], b""
    for number, count in enumerate(cycle(_EVENTS_A_PIECE)):
        if not waiting:
            break
        piece, waiting = left + b"".join(waiting[:count]), waiting[count:]
        middle = len(piece) - 90 if number % _CUT_EVERY == 0 and waiting else len(piece)
        cut.append(piece[:middle])
        left = piece[middle:]
    return cut


def _choice(delta: dict[str, object], finish_reason: str | None) -> dict[str, object]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _chunk(choices: list[dict[str, object]], usage: object, padding: str) -> bytes:
    chunk = {
        "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
        "object": "chat.completion.chunk",
        "created": 1741570283,
        "model": MODEL,
        "service_tier": "default",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": choices,
        "usage": usage,
        "obfuscation": padding,
    }
    return json.dumps(chunk, separators=(",", ":")).encode()
