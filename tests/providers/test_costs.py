"""Costs of responses as vendors send them, by the prices of the catalogue: sync and async, whole and streamed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.concurrency import SystemClock
from tests.chaos_server import DONE, LAST_CHUNK, answer, chunk, event, stream_head

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
"""A Sunday."""


class DatedClock(SystemClock):
    """The clock of this machine on another day."""

    def time_of_day(self) -> float:
        """Returns noon of that day."""
        return NOON.timestamp()


@pytest.fixture
def dated():
    services = Services(environment={}, clock=DatedClock())
    yield services
    services.close()


def chat(model: str, usage: dict[str, Any], **fields: Any) -> tuple[bytes, bytes]:
    """A chat completion, whole and streamed."""
    message = {"role": "assistant", "content": "hi"}
    whole = {"id": "c", "object": "chat.completion", "model": model, "usage": usage, **fields}
    head = {"id": "c", "object": "chat.completion.chunk", "model": model, **fields}
    events = [
        event({**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        event({**head, "choices": [], "usage": usage}),
        DONE,
    ]
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return (
        answer({**whole, "choices": choices}),
        stream_head() + b"".join(map(chunk, events)) + LAST_CHUNK,
    )


def claude(model: str, usage: dict[str, Any]) -> tuple[bytes, bytes]:
    """A message of Claude, whole and streamed."""
    message = {"id": "m", "type": "message", "role": "assistant", "model": model, "stop_reason": None, "content": []}
    text = {"type": "text", "text": "hi"}
    events = [
        {"type": "message_start", "message": {**message, "usage": {**usage, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    pieces = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in events]
    whole = {**message, "content": [text], "stop_reason": "end_turn", "usage": usage}
    return answer(whole), stream_head() + b"".join(map(chunk, pieces)) + LAST_CHUNK


CACHED = {"prompt_tokens": 10_000, "completion_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 4_000}}
ADVICE = {"type": "advisor_message", "model": "claude-opus-5-5", "input_tokens": 5_000, "output_tokens": 1_000}
CASES = {
    "openai, priority": (
        "openai/gpt-6-astra",
        chat("gpt-6-astra", CACHED, service_tier="priority"),
        {"service_tier": "fast"},
        ("0.228", "computed", None),
    ),
    "openai, priority requested and standard served": (
        "openai/gpt-6-astra",
        chat("gpt-6-astra", CACHED, service_tier="default"),
        {"service_tier": "priority"},
        ("0.114", "computed", None),
    ),
    "openai, another model answers": (
        "openai/gpt-6-astra",
        chat("gpt-6-luna", {"prompt_tokens": 1_000_000, "completion_tokens": 0}, service_tier="default"),
        None,
        ("0.2", "computed", None),
    ),
    "openai, scale tier": (
        "openai/gpt-6-astra",
        chat("gpt-6-astra", CACHED, service_tier="scale"),
        None,
        (None, None, "no price is known for the service tier 'scale' of 'gpt-6-astra' at 'openai'"),
    ),
    "openai, a model that nobody knows": (
        "openai/gpt-99",
        chat("gpt-99", CACHED),
        None,
        (None, None, "no price is known for 'gpt-99' at 'openai'"),
    ),
    "deepseek, off-peak": (
        "deepseek/deepseek-flash",
        chat(
            "deepseek-flash", {"prompt_tokens": 100_000, "completion_tokens": 5_000, "prompt_cache_hit_tokens": 60_000}
        ),
        None,
        ("0.00918", "computed", None),
    ),
    "openrouter, reported": (
        "openrouter/openai/gpt-6-sol",
        chat("openai/gpt-6-sol", {"prompt_tokens": 194, "completion_tokens": 2, "cost": 0.95}),
        None,
        ("0.95", "vendor", None),
    ),
    "openrouter, reported zero": (
        "openrouter/openai/gpt-6-sol",
        chat("openai/gpt-6-sol", {"prompt_tokens": 194, "completion_tokens": 2, "cost": 0}),
        None,
        ("0", "vendor", None),
    ),
    "xai, reported": (
        "xai/grok-4.7",
        chat("grok-4.7", {"prompt_tokens": 1, "completion_tokens": 1, "cost_in_usd_ticks": 37_756_000}),
        None,
        ("0.0037756", "vendor", None),
    ),
    "openrouter, with a key of the user's own": (
        "openrouter/openai/gpt-6-sol",
        chat(
            "openai/gpt-6-sol",
            {
                "prompt_tokens": 194,
                "completion_tokens": 2,
                "cost": 0.95,
                "is_byok": True,
                "cost_details": {"upstream_inference_cost": 19},
            },
        ),
        None,
        ("19.95", "vendor", None),
    ),
    "openrouter, with a key of the user's own and an unknown upstream cost": (
        "openrouter/openai/gpt-6-sol",
        chat("openai/gpt-6-sol", {"prompt_tokens": 194, "completion_tokens": 2, "cost": 0.95, "is_byok": True}),
        None,
        (None, None, "no price is known for 'openai/gpt-6-sol' at 'openrouter'"),
    ),
    # 10000*0.1/M + 1000*0.5/M, a summary of more than 100000 tokens for 5 times as much, and 5000*4/M + 1000*20/M
    "anthropic, with a compaction and an advisor": (
        "anthropic/claude-haiku-5-5",
        claude(
            "claude-haiku-5-5",
            {
                "input_tokens": 10_000,
                "output_tokens": 1_000,
                "service_tier": "standard",
                "iterations": [
                    {"type": "compaction", "input_tokens": 200_000, "output_tokens": 4_000},
                    {"type": "message", "input_tokens": 10_000, "output_tokens": 1_000},
                    ADVICE,
                ],
            },
        ),
        None,
        ("0.1515", "computed", None),
    ),
    "anthropic, with an advisor that nobody knows": (
        "anthropic/claude-haiku-5-5",
        claude(
            "claude-haiku-5-5",
            {
                "input_tokens": 10_000,
                "output_tokens": 1_000,
                "service_tier": "standard",
                "iterations": [{**ADVICE, "model": "claude-nobody"}],
            },
        ),
        None,
        ("0.0025", "estimate", None),
    ),
    "anthropic, both times to live, in the US": (
        "anthropic/claude-opus-5-5",
        claude(
            "claude-opus-5-5",
            {
                "input_tokens": 5_000,
                "cache_creation_input_tokens": 25_000,
                "cache_creation": {"ephemeral_5m_input_tokens": 10_000, "ephemeral_1h_input_tokens": 15_000},
                "output_tokens": 2_000,
                "service_tier": "standard",
                "inference_geo": "us",
            },
        ),
        None,
        ("0.253", "computed", None),
    ),
    "anthropic, fast, with a search": (
        "anthropic/claude-opus-5-5",
        claude(
            "claude-opus-5-5-20260922",
            {
                "input_tokens": 20_000,
                "output_tokens": 8_000,
                "speed": "fast",
                "server_tool_use": {"web_search_requests": 2},
            },
        ),
        {"speed": "fast"},
        ("0.5", "computed", None),
    ),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_cost_is_that_of_the_response(call_style, server, dated, case, stream):
    name, (whole, streamed), options, expected = CASES[case]
    provider, _, model = name.partition("/")
    server.script(streamed if stream else whole)
    llm = create_llm(provider, model=model, base_url=f"{server.url}/v1", api_key="k", services=dated)
    given = {} if options is None else {"provider_options": {provider: options}}
    if stream:
        with call_style.stream(llm, "hi", **given) as deltas:
            list(deltas)
        response = deltas.response
    else:
        response = call_style.generate(llm, "hi", **given)
    dollars = None if response.cost is None else f"{response.cost:f}"
    assert (dollars, response.cost_source, response.cost_reason) == expected
    assert bool(response.price_rows) == (response.cost_source in ("computed", "estimate"))
