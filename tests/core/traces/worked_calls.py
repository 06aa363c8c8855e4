"""Worked calls: what providers send for each of them, and what it costs, reckoned by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from tests.chaos_server import (
    CUT,
    HANG,
    LAST_CHUNK,
    RESET,
    Step,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    failure,
    raw_answer,
    stream_head,
)
from tests.providers.test_costs import chat, claude

Kind: TypeAlias = Literal[
    "whole",
    "stream",
    "left",
    "loop",
    "typed",
    "embed",
    "media",
    "caption",
    "caption streamed",
    "transcribe",
    "listen",
    "ask",
    "tool that asks",
    "background",
]

PRICE: Final = {
    "rates": {
        "input": "2",
        "cache_read": "0.5",
        "cache_write": "2.5",
        "input_audio": "20",
        "input_image": "4",
        "output": "10",
        "reasoning": "12",
        "output_audio": "40",
    },
    "when": [
        {"input_over": 200_000, "times": "2"},
        {"tier": ["flex"], "times": "0.5"},
        {"tier": ["fast"], "times": "3"},
    ],
}
"""Dollars per million tokens."""
FREE: Final = {"rates": {"input": "0", "output": "0"}}


@dataclass(frozen=True)
class Worked:
    """A call: its replies, and what it costs. `estimated` says whether about something was spent beside it."""

    name: str
    model: str
    replies: tuple[bytes | Step | tuple[Any, ...], ...]
    known: str | None
    """In dollars; None for what is not reckoned by hand here, or is not known."""
    kind: Kind = "whole"
    estimated: bool = False
    unknown: int = 0
    price: Any = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _tokens(prompt: int, output: int, *, cached: int = 0, written: int = 0, **parts: int) -> dict[str, Any]:
    into = {"cached_tokens": cached, "cache_write_tokens": written}
    into |= {f"{name}_tokens": parts[f"{name}_in"] for name in ("audio", "image") if f"{name}_in" in parts}
    out = {f"{name}_tokens": parts[f"{name}_out"] for name in ("reasoning", "audio") if f"{name}_out" in parts}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": into,
        "completion_tokens_details": out,
    }


def _gemini(usage: dict[str, Any]) -> tuple[bytes, bytes]:
    body = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}],
        "modelVersion": "m",
        "responseId": "r",
        "usageMetadata": usage,
    }
    data = f"data: {json.dumps(body)}\r\n\r\n".encode()
    return answer(body), stream_head() + chunk(data) + LAST_CHUNK


def _responses(usage: dict[str, Any] | None, status: str = "completed") -> bytes:
    part: dict[str, Any] = {"type": "output_text", "text": "hi", "annotations": []}
    message: dict[str, Any] = {
        "type": "message",
        "id": "o",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    body = {"id": "r", "object": "response", "created_at": 0, "status": status, "model": "m"}
    return answer({**body, "output": [message] if usage else [], "usage": usage})


def _tool_call(name: str = "translate") -> bytes:
    function = {"name": name, "arguments": "{}"}
    body = completion_body("", "tool_calls")
    body["choices"][0]["message"]["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    return answer(body)


CHAT: Final = "openai-compatible/m"
CLAUDE: Final = "anthropic/m"
GOOGLE: Final = "google/m"
ROUTER: Final = "openrouter/m"
_CLAUDE: Final = {"input_tokens": 1_000, "cache_read_input_tokens": 4_000, "output_tokens": 100}
_WRITTEN: Final = {"input_tokens": 1_000, "cache_creation_input_tokens": 2_000, "output_tokens": 100}
_GEMINI: Final = {"promptTokenCount": 5_000, "cachedContentTokenCount": 4_000, "candidatesTokenCount": 100}
_HEARD: Final = {
    "promptTokenCount": 1_100,
    "candidatesTokenCount": 100,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}, {"modality": "AUDIO", "tokenCount": 1_000}],
}


def _both(name: str, model: str, replies: tuple[bytes, bytes], known: str | None, **more: Any) -> list[Worked]:
    """A call whole and streamed."""
    return [
        Worked(name, model, (replies[0],), known, **more),
        Worked(f"{name}, streamed", model, (replies[1],), known, "stream", **more),
    ]


_CAPTION: Final = completion("A red barn.")
_UNCOUNTED: Final = answer({**completion_body("A red barn."), "usage": None})
_TRANSCRIPT: Final = answer(
    {"text": "Good morning.", "duration": 7.0, "segments": [], "usage": {"type": "duration", "seconds": 7}}
)

# Millionths of a dollar: the tokens of each kind times its price.
WORKED: Final = [
    # 1000 x 2 + 100 x 10
    *_both("plain", CHAT, chat("m", _tokens(1_000, 100)), "0.003"),
    # 1000 x 2 + 4000 x 0.5 + 100 x 10
    *_both("cached", CHAT, chat("m", _tokens(5_000, 100, cached=4_000)), "0.005"),
    # 1000 x 2 + 2000 x 2.5 + 100 x 10
    *_both("cache written", CHAT, chat("m", _tokens(3_000, 100, written=2_000)), "0.008"),
    # 1000 x 2 + 4000 x 0.5 + 2000 x 2.5 + 100 x 10
    *_both("cached and written", CHAT, chat("m", _tokens(7_000, 100, cached=4_000, written=2_000)), "0.01"),
    # 1000 x 2 + 100 x 10 + 900 x 12
    *_both("reasoning", CHAT, chat("m", _tokens(1_000, 1_000, reasoning_out=900)), "0.0138"),
    # 100 x 2 + 1000 x 20 + 100 x 10
    *_both("heard", CHAT, chat("m", _tokens(1_100, 100, audio_in=1_000)), "0.0212"),
    # 1000 x 2 + 100 x 10 + 500 x 40
    *_both("spoken", CHAT, chat("m", _tokens(1_000, 600, audio_out=500)), "0.023"),
    # twice 250000 x 2 + 100 x 10
    *_both("long context", CHAT, chat("m", _tokens(250_000, 100)), "1.002"),
    # half of 1000 x 2 + 100 x 10
    *_both("flex", CHAT, chat("m", _tokens(1_000, 100), service_tier="flex"), "0.0015"),
    # three times 1000 x 2 + 100 x 10
    *_both("fast", CHAT, chat("m", _tokens(1_000, 100), service_tier="fast"), "0.009"),
    # three times 2 x (250000 x 2 + 100 x 10)
    *_both("long and fast", CHAT, chat("m", _tokens(250_000, 100), service_tier="fast"), "3.006"),
    # input_tokens is without what is cached: 1000 x 2 + 4000 x 0.5 + 100 x 10
    *_both("claude, cached", CLAUDE, claude("m", _CLAUDE), "0.005"),
    # 1000 x 2 + 2000 x 2.5 + 100 x 10
    *_both("claude, cache written", CLAUDE, claude("m", _WRITTEN), "0.008"),
    # 1000 x 2 + 4000 x 0.5 + 100 x 10
    *_both("gemini, cached", GOOGLE, _gemini(_GEMINI), "0.005"),
    # thoughts are not among the candidates: 1000 x 2 + 100 x 10 + 500 x 12
    *_both(
        "gemini, thinking",
        GOOGLE,
        _gemini({"promptTokenCount": 1_000, "candidatesTokenCount": 100, "thoughtsTokenCount": 500}),
        "0.009",
    ),
    # 100 x 2 + 1000 x 20 + 100 x 10
    *_both("gemini, heard", GOOGLE, _gemini(_HEARD), "0.0212"),
    # 1000 x 2 + 4000 x 0.5 + 100 x 10 + 900 x 12
    Worked(
        "responses",
        "openai-responses/m",
        (
            _responses(
                {
                    "input_tokens": 5_000,
                    "input_tokens_details": {"cached_tokens": 4_000},
                    "output_tokens": 1_000,
                    "output_tokens_details": {"reasoning_tokens": 900},
                    "total_tokens": 6_000,
                }
            ),
        ),
        "0.0158",
    ),
    # made in the background, and read twice: 1000 x 2 + 100 x 10, when it is finished
    Worked(
        "in the background",
        "openai-responses/m",
        (
            _responses(None, "queued"),
            _responses(None, "in_progress"),
            _responses({"input_tokens": 1_000, "output_tokens": 100, "total_tokens": 1_100}),
        ),
        "0.003",
        "background",
        unknown=1,
    ),
    # what the vendor reports counts, whatever its tokens would cost
    *_both("reported", ROUTER, chat("m", {**_tokens(1_000, 100), "cost": 0.0123456789}), "0.0123456789"),
    *_both("reported as free", ROUTER, chat("m", {**_tokens(1_000, 100), "cost": 0}), "0"),
    *_both("of a free model", CHAT, chat("m", _tokens(1_000, 100)), "0", price=FREE),
    *_both(
        "of a model without a price",
        "openai-compatible/n",
        chat("n", _tokens(1_000, 100)),
        None,
        unknown=1,
        price="none",
    ),
    *_both("on a tier without a price", CHAT, chat("m", _tokens(1, 1), service_tier="scale"), None, unknown=1),
    # three of input and two of output: 3 x 2 + 2 x 10
    Worked("retried", CHAT, (failure(503, retry_after="0"), completion()), "0.000026"),
    Worked("retried after a lost request", CHAT, (CUT, completion()), "0.000026", estimated=True),
    Worked("reset, then answered", CHAT, (RESET, completion()), "0.000026", estimated=True),
    Worked("lost", CHAT, (CUT, CUT), None, estimated=True),
    Worked("refused", CHAT, (failure(400),), None, unknown=1),
    Worked("refused twice", CHAT, (failure(500), failure(500)), None, unknown=1),
    Worked("timed out", CHAT, (HANG,), None, estimated=True, options={"timeout": 0.05}),
    Worked("error with status 200", CHAT, (answer({"error": {"message": "no", "code": 401}}),), None, unknown=1),
    Worked("no JSON", CHAT, (raw_answer(b"{"), raw_answer(b"{")), None, estimated=True),
    Worked("without usage", CHAT, (answer({**completion_body(), "usage": None}),), None, estimated=True),
    Worked("stream without usage", CHAT, (chat("m", {})[1],), None, "stream", estimated=True),
    Worked("cut stream", CHAT, ((stream_head() + chunk(delta("a b c")), CUT),), None, "stream", estimated=True),
    Worked("abandoned stream", CHAT, ((stream_head() + chunk(delta("a b c")), HANG),), None, "left", estimated=True),
    # two answers of 3 x 2 + 2 x 10, and a run for 25 cents
    Worked("priced tool", CHAT, (_tool_call(), completion()), "0.250052", "loop"),
    Worked("two runs of it", CHAT, (_tool_call(), _tool_call(), completion()), "0.500078", "loop"),
    Worked("a tool without a price", CHAT, (_tool_call("clock"), completion()), "0.000052", "loop"),
    Worked("lost round", CHAT, (_tool_call(), CUT, completion()), "0.250052", "loop", estimated=True),
    Worked("loop that fails", CHAT, (_tool_call(), failure(400)), "0.250026", "loop", unknown=1),
    Worked("corrected", CHAT, (completion("no"), completion('{"value": 1}')), "0.000052", "typed"),
    Worked(
        "corrected twice",
        CHAT,
        (*[completion("no")] * 2, completion('{"value": 1}')),
        "0.000078",
        "typed",
        options={"output_retries": 2},
    ),
    # five tokens for 2 dollars a million
    Worked("embedding", "vendor/m", (answer({"data": [{"embedding": [0.5, 1.0]}]}),), "0.00001", "embed"),
    Worked("spoken and drawn", CHAT, (completion(),), "0.000026", "media", unknown=1),
    # Calls that are made for others have records of their own.
    # twice 3 x 2 + 2 x 10
    Worked("caption", CHAT, (completion("A red barn."), completion()), "0.000052", "caption"),
    Worked("caption, streamed answer", CHAT, (_CAPTION, chat("m", _tokens(3, 2))[1]), "0.000052", "caption streamed"),
    Worked("caption without usage", CHAT, (_UNCOUNTED, completion()), "0.000026", "caption", estimated=True),
    Worked("caption retried", CHAT, (CUT, _CAPTION, completion()), "0.000052", "caption", estimated=True),
    Worked("answer lost after its caption", CHAT, (_CAPTION, CUT, CUT), "0.000026", "caption", estimated=True),
    Worked("caption refused", CHAT, (failure(400),), "0", "caption", unknown=1),
    # 7 seconds for 0.006 dollars a minute
    Worked("transcript", CHAT, (_TRANSCRIPT,), "0.0007", "transcribe"),
    Worked("transcript refused", CHAT, (failure(400),), "0", "transcribe", unknown=1),
    Worked("recording", CHAT, (_TRANSCRIPT, completion()), "0.000726", "listen"),
    *(
        Worked(f"backend, {backend}", CHAT, replies, known, "ask", estimated, unknown, options={"backend": backend})
        for backend, replies, known, estimated, unknown in (
            ("async", (completion(),), "0.000026", False, 0),
            ("sync", (completion(),), "0.000026", False, 0),
            ("charged", (completion(),), "0.010026", False, 0),
            ("unpriced", (completion(),), "0.000026", False, 1),
            ("failing", (completion(),), "0.000026", False, 0),
            ("unanswered", (CUT, CUT), None, True, 0),
            ("tools", (_tool_call(), completion()), "0.250052", False, 0),
        )
    ),
    Worked("tool that asks", CHAT, (_tool_call("ask"), completion(), completion()), "0.000078", "tool that asks"),
]
