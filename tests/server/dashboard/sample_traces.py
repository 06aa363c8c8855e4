"""Traces to show: many calls of several models over days, and one loop with a picture, a tool run and a retry."""

from __future__ import annotations

import io
import random
import wave
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from abstractcore import Blob, ImagePart, TextPart
from abstractcore.schema import (
    AttemptRecord,
    AudioPart,
    CallRecord,
    CallWarning,
    ErrorRecord,
    InteractionRecord,
    MediaDecision,
    Message,
    ModelCall,
    ModelReply,
    ReasoningPart,
    ToolCall,
    ToolRecord,
    ToolResult,
    TraceRecord,
    Usage,
)
from abstractcore.traces import TraceStore
from tests.core.traces.stores import a_call, write

HOSTILE = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>'
LOOP = "a" * 32
HOSTILE_TRACE = "d" * 32
_MODELS = [
    ("openai", "gpt-5.4", "0.0125"),
    ("anthropic", "claude-sonnet-4-6", "0.0093"),
    ("openai", "gpt-5.4-mini", "0.0011"),
]
_TEAMS = ["office", "support", "research"]
_QUESTIONS = ["When does the meeting start?", "Summarise this invoice.", "Which parcel is late?"]
_BATCH = 5_000


def many_calls(store: TraceStore, number: int, *, until: float, days: float = 7.0) -> None:
    """Writes `number` calls of the `days` before `until`: the same ones each time, but for their times."""
    calls = _calls(number, until, days)
    for start in range(0, number, _BATCH):
        write(store, *(next(calls) for _ in range(min(_BATCH, number - start))))


def _calls(number: int, until: float, days: float) -> Iterator[CallRecord]:
    chance = random.Random(7)
    for index in range(number):
        provider, model, price = chance.choice(_MODELS)
        size = chance.lognormvariate(0, 0.8)
        usage = Usage(int(800 * size), int(250 * size))
        kind = chance.random()
        changed: dict[str, Any] = {"cost": f"{Decimal(price) * int(100 * size) / 100}"}
        if kind < 0.03:
            error = ErrorRecord("RateLimitError", "too many requests", 429)
            changed = {"cost": None, "outcome": "failed", "error": error, "reply": None}
        elif kind < 0.06:
            changed = {"cost": None, "estimated": f"{Decimal(price) / 2}", "outcome": "abandoned"}
        yield a_call(
            chance.choice(_QUESTIONS),
            at=until - days * 86_400 * (number - index) / number,
            provider=provider,
            model=model,
            seconds=0.6 * size + chance.random(),
            usage=usage,
            tags={"team": chance.choice(_TEAMS)},
            **changed,
        )


def one_loop(
    store: TraceStore, picture: bytes, sound: bytes, *, at: float, id: str = LOOP, model: str = "gpt-5.4"
) -> None:
    """Writes a loop of two calls and a tool run: a picture is described, and a price looked up."""
    image = ImagePart(Blob.from_bytes(picture, "image/png", name="receipt.png"))
    asked = Message("user", (TextPart("What did we pay for this, in euros?"), image))
    wanted = ToolCall(f"{id}-call", "exchange_rate", '{"from": "USD", "to": "EUR"}')
    result = ToolResult(wanted.id, (TextPart("0.92"),))
    decision = MediaDecision(
        "messages[0].parts[1]", "receipt.png", "image/png", "image", "native", "the model takes images"
    )
    attempts = (
        AttemptRecord(1, at + 0.1, 0.7, 503, None, "ServerError: overloaded"),
        AttemptRecord(2, at + 1.2, 1.6, 200, "req_2"),
    )
    call = ModelCall(model, (asked,), "openai")
    spoken = AudioPart(Blob.from_bytes(sound, "audio/wav", name="answer.wav"), "It was 11.50 euros.")
    first = a_call(
        at=at + 0.05,
        parent_id=id,
        provider="openai",
        model=model,
        cost="0.0052",
        seconds=2.8,
        seconds_to_first=1.9,
        call=call,
        reply=ModelReply((ReasoningPart("The receipt is in dollars."), wanted), "tool_calls"),
        usage=Usage(1_240, 46),
        media=(decision,),
        attempts=attempts,
        warnings=(CallWarning("retried", "", "the first attempt failed"),),
        tags={"team": "office"},
    )
    second = a_call(
        at=at + 3.6,
        parent_id=id,
        provider="openai",
        model=model,
        cost="0.0049",
        seconds=1.7,
        call=replace(call, messages=(asked, Message("assistant", (wanted,)), Message("tool", (result,)))),
        reply=ModelReply((TextPart("It was 11.50 euros."), spoken), "stop"),
        usage=Usage(1_310, 22),
        tags={"team": "office"},
    )
    tool = ToolRecord(
        f"{id[:-1]}b",
        id,
        "exchange_rate",
        wanted.id,
        "function",
        "done",
        at + 2.9,
        0.6,
        arguments={"from": "USD", "to": "EUR"},
        result=result,
        cost=Decimal("0.01"),
    )
    loop = InteractionRecord(
        id, None, "tools", "openai", model, "done", False, at, 5.4, None, 2, 1, "answered", tags={"team": "office"}
    )
    write(store, first, tool, second, loop)
    store.score(id, "good", 1, comment="checked by hand")


def hostile_trace(store: TraceStore, *, at: float) -> None:
    """Writes a loop whose texts and names, where they may be any, are HTML."""
    id = HOSTILE_TRACE
    image = ImagePart(Blob.from_bytes(b"no picture", "text/html", name=HOSTILE))
    wanted = ToolCall(HOSTILE, HOSTILE, f'"{HOSTILE}')
    result = ToolResult(HOSTILE, (TextPart(HOSTILE),), is_error=True)
    messages = (
        Message("system", (TextPart(HOSTILE),)),
        Message("user", (TextPart(HOSTILE), image)),
        Message("assistant", (ReasoningPart(HOSTILE), wanted)),
        Message("tool", (result,)),
    )
    decision = MediaDecision("messages[1].parts[1]", HOSTILE, HOSTILE, "image", "native", HOSTILE)
    call = a_call(
        at=at + 0.1,
        parent_id=id,
        provider=HOSTILE,
        model=HOSTILE,
        outcome="failed",
        call=ModelCall(HOSTILE, messages, HOSTILE),
        reply=ModelReply((TextPart(HOSTILE), wanted), "unknown"),
        error=ErrorRecord(HOSTILE, HOSTILE, 500),
        attempts=(AttemptRecord(1, at + 0.1, 0.2, 500, HOSTILE, HOSTILE), AttemptRecord(2, at + 0.3, 0.1, 500)),
        media=(decision,),
        warnings=(CallWarning(HOSTILE, HOSTILE, HOSTILE),),
        tags={HOSTILE: HOSTILE},
    )
    tool = ToolRecord(
        "e" * 32,
        id,
        HOSTILE,
        HOSTILE,
        "mcp",
        "failed",
        at + 0.6,
        0.1,
        server=HOSTILE,
        arguments={HOSTILE: HOSTILE},
        result=result,
        error=ErrorRecord(HOSTILE, HOSTILE),
    )
    loop = InteractionRecord(
        id, None, "tools", HOSTILE, HOSTILE, "failed", False, at, 1.0, None, 1, 1, tags={HOSTILE: HOSTILE}
    )
    write(store, call, tool, loop)
    store.score(id, HOSTILE, 0, comment=HOSTILE)


def long_loop(store: TraceStore, rounds: int, *, at: float, id: str) -> None:
    """Writes a loop of so many rounds of a call and a tool run."""
    records: list[TraceRecord] = []
    for number in range(rounds):
        began = at + number / rounds
        records += [
            a_call(f"Round {number}", at=began, parent_id=id, seconds=0.5 / rounds),
            ToolRecord(
                f"{id[:24]}{number:08x}", id, "lookup", f"{id}-{number}", "function", "done", began, 0.2 / rounds
            ),
        ]
    loop = InteractionRecord(id, None, "tools", "vendor", "small", "done", False, at, 1.0, None, rounds, rounds)
    write(store, *records, loop)


def sample_sound() -> bytes:
    """Returns a WAV file of a tenth of a second."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(24_000)
        sound.writeframes(b"\0\1" * 2_400)
    return file.getvalue()
