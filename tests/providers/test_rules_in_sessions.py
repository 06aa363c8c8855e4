"""Unsupported options, from `create_llm` to the server: removed from the request, shown by plans, refused if strict."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import LLM, ToolSpec, UnsupportedContentError, UnsupportedOptionError
from tests.chaos_server import answer
from tests.providers.wire_streams import answered_with

TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})
CREDENTIALS = {"aws_access_key_id": "A", "aws_secret_access_key": "S"}
BEDROCK = {"region": "us-east-1", "credentials": CREDENTIALS, "api_key": None}
OLD_CLAUDE = "us.anthropic.claude-opus-4-1-20250805-v1:0"
LOST, CHANGED = "unsupported_option", "thinking_changed"

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = {
    "chat": (
        "openai_chat",
        {"model": "gpt-5-mini"},
        {"temperature": 0.5, "seed": 7},
        {"seed": 7},
        [(LOST, "sampling.temperature")],
    ),
    "chat-tools": (
        "openai_chat",
        {"model": "gpt-6-sol"},
        {"tools": [TOOL], "thinking": "high"},
        {"reasoning_effort": "none"},
        [(CHANGED, "thinking")],
    ),
    "azure": (
        "openai_chat",
        {"provider": "azure", "model": "gpt-5-mini"},
        {"temperature": 0.5, "seed": 7},
        {"seed": 7},
        [(LOST, "sampling.temperature")],
    ),
    "openrouter": (
        "openai_chat",
        {"provider": "openrouter", "model": "anthropic/claude-opus-4.7"},
        {"temperature": 0.5, "max_output_tokens": 9},
        {"max_tokens": 9},
        [(LOST, "sampling.temperature")],
    ),
    "responses": (
        "openai_responses",
        {"model": "gpt-5-mini"},
        {"temperature": 0.5, "max_output_tokens": 9},
        {"max_output_tokens": 9, "include": ["reasoning.encrypted_content"]},
        [(LOST, "sampling.temperature")],
    ),
    "anthropic": (
        "anthropic_messages",
        {"model": "claude-opus-4-5"},
        {"temperature": 0.5, "thinking": 9000, "max_output_tokens": 5000, "tools": [TOOL], "tool_choice": "required"},
        {"thinking": {"type": "enabled", "budget_tokens": 4999}, "tool_choice": {"type": "auto"}, "max_tokens": 5000},
        [(CHANGED, "thinking"), (LOST, "sampling.temperature"), ("tool_choice_changed", "tool_choice")],
    ),
    "bedrock": (
        "bedrock_converse",
        {"model": OLD_CLAUDE, **BEDROCK},
        {"temperature": 0.5, "thinking": 9000, "max_output_tokens": 5000},
        {
            "inferenceConfig": {"maxTokens": 5000},
            "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 4999}},
        },
        [(CHANGED, "thinking"), (LOST, "sampling.temperature")],
    ),
}
"""Format, options of the LLM, options of the call, expected fields of the request, and expected warnings."""


@pytest.fixture
def llm(llm_of: Callable[..., LLM], server: Any) -> Callable[[str], LLM]:
    def llm(case: str) -> LLM:
        format, made, *_ = CASES[case]
        if made.get("provider") == "azure":
            made = {**made, "base_url": f"{server.url}/openai/v1"}
        return llm_of(format, **made)

    return llm


@pytest.mark.parametrize("case", CASES)
def test_unsupported_options_are_removed_and_plan_and_response_warn_alike(
    call_style: Any, server: Any, llm: Callable[[str], LLM], case: str
):
    format, _, options, fields, warned = CASES[case]
    server.script(answered_with(format))
    made = llm(case)
    plan = made.plan("hi", **options)
    assert server.requests == []
    assert [(each.code, each.path) for each in plan.warnings] == warned
    response = call_style.generate(made, "hi", **options)
    assert response.warnings == plan.warnings
    (request,) = server.requests
    body = json.loads(request.body)
    assert {name: body.get(name) for name in fields} == fields
    assert "temperature" not in body


@pytest.mark.parametrize("case", CASES)
def test_strict_call_sends_nothing_and_strict_plan_raises_the_same_error(
    call_style: Any, server: Any, llm: Callable[[str], LLM], case: str
):
    *_, options, _, warned = CASES[case]
    made = llm(case)
    with pytest.raises(UnsupportedOptionError) as of_call:
        call_style.generate(made, "hi", strict=True, **options)
    with pytest.raises(UnsupportedOptionError) as of_plan:
        made.plan("hi", strict=True, **options)
    assert str(of_plan.value) == str(of_call.value)
    assert all(f"[{code} at {path}]" in str(of_plan.value) for code, path in warned)
    assert server.requests == []


def test_plan_and_call_refuse_unsupported_tools_alike(call_style: Any, server: Any, llm_of: Callable[..., LLM]):
    made = llm_of("openai_chat", model="gpt-6-astra")
    with pytest.raises(UnsupportedContentError, match="accepts no tools at the provider 'openai'") as of_call:
        call_style.generate(made, "hi", tools=[TOOL])
    with pytest.raises(UnsupportedContentError) as of_plan:
        made.plan("hi", tools=[TOOL])
    assert str(of_plan.value) == str(of_call.value)
    assert server.requests == []


def test_token_count_of_a_strict_call_ignores_sampling(call_style: Any, server: Any, llm_of: Callable[..., LLM]):
    server.script(answer(b'{"input_tokens": 12}', content_type="application/json"))
    made = llm_of("anthropic_messages", model="claude-opus-5-5", strict=True, temperature=0.5)
    count = made.count_tokens("hi") if call_style.name == "sync" else call_style.run(made.acount_tokens("hi"))
    assert count == 12
    with pytest.raises(UnsupportedOptionError, match=r"sampling\.temperature"):
        made.plan("hi")
