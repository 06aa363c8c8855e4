"""Lists of models, in the shape that a client reads: OpenAI's, Anthropic's, Codex's, Google's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import ModelNotFoundError
from abstractcore.schema import WireResponse

from .dialects import ANTHROPIC
from .exchange import Exchange
from .model_facts import ModelFacts, facts_of, listed_facts

_JSON = {"content-type": "application/json"}
_CODEX_PARAMETER = "client_version"
_CODEX_LEVELS = ("minimal", "low", "medium", "high", "xhigh")
_CODEX_INSTRUCTIONS = (
    "You are a coding agent that works in a terminal on the user's machine. Read the code before you change it, make "
    "the smallest change that does what was asked, run what checks it, and say briefly what you did."
)
_MOST_ANTHROPIC = 1000


async def models(exchange: Exchange) -> WireResponse:
    """Lists the models in the shape of OpenAI, or of Anthropic for its clients."""
    query = exchange.request.query_values()
    if _of_anthropic(exchange):
        return await anthropic_models(exchange)
    if _of_google(exchange):
        return await gemini_models(exchange)
    listed = listed_facts(exchange)
    if _CODEX_PARAMETER in query:
        found = {"models": [_codex_model(facts, number) for number, facts in enumerate(listed)]}
    else:
        found = {"object": "list", "data": [_openai_model(facts) for facts in listed]}
    return WireResponse(200, exchange.headers(_JSON), to_json(found))


async def model(exchange: Exchange) -> WireResponse:
    """Returns a model; raises `ModelNotFoundError`."""
    shape = _anthropic_model if _of_anthropic(exchange) else _gemini_model if _of_google(exchange) else _openai_model
    return _one(exchange, exchange.request.parameters["model"], shape)


async def gemini_models(exchange: Exchange) -> WireResponse:
    """Lists the models in Google's shape."""
    found = {"models": [_gemini_model(facts) for facts in listed_facts(exchange)]}
    return WireResponse(200, exchange.headers(_JSON), to_json(found))


async def gemini_model(exchange: Exchange) -> WireResponse:
    """Returns a model in Google's shape."""
    return _one(exchange, exchange.request.parameters["model"], _gemini_model)


async def anthropic_models(exchange: Exchange) -> WireResponse:
    """Answers with a page of the list in Anthropic's shape."""
    query = exchange.request.query_values()
    listed = [_anthropic_model(facts) for facts in listed_facts(exchange)]
    ids = [each["id"] for each in listed]
    limit = query.get("limit", "20")
    size = min(int(limit), _MOST_ANTHROPIC) if limit.isdecimal() and len(limit) < 6 else 20
    if query.get("before_id") in ids:
        end = ids.index(query["before_id"])
        start = max(0, end - size)
    else:
        start = ids.index(query["after_id"]) + 1 if query.get("after_id") in ids else 0
        end = start + size
    page = listed[start:end]
    found = {
        "data": page,
        "has_more": end < len(listed) if query.get("before_id") not in ids else start > 0,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }
    return WireResponse(200, exchange.headers(_JSON), to_json(found))


def _of_anthropic(exchange: Exchange) -> bool:
    return "anthropic-version" in exchange.request.headers


def _of_google(exchange: Exchange) -> bool:
    return "x-goog-api-key" in exchange.request.headers


def _one(exchange: Exchange, name: str, shape: Callable[[ModelFacts], dict[str, Any]]) -> WireResponse:
    facts = facts_of(exchange.state, name, exchange.dialect.vendors + ANTHROPIC.vendors)
    if not exchange.grant.allows(name) and not exchange.grant.allows(f"{facts.provider}/{facts.model}"):
        raise ModelNotFoundError(f"the model {name[:200]!r} does not exist here")
    return WireResponse(200, exchange.headers(_JSON), to_json(shape(facts)))


def _openai_model(facts: ModelFacts) -> dict[str, Any]:
    """Returns a model as OpenAI lists it, with further fields by the names that OpenRouter gives them."""
    profile = facts.profile
    return {
        "id": facts.name,
        "object": "model",
        "created": 0,
        "owned_by": facts.provider,
        "context_length": profile.context_tokens,
        "max_completion_tokens": profile.max_output_tokens,
        "architecture": {"input_modalities": facts.inputs, "output_modalities": facts.outputs},
        "supported_parameters": _parameters(facts),
        "reasoning_levels": facts.levels,
        "pricing": dict(facts.prices),
    }


def _parameters(facts: ModelFacts) -> list[str]:
    tools = ["tools", "tool_choice"] if facts.has_tools else []
    reasoning = ["reasoning_effort"] if facts.levels else []
    return ["max_tokens", *reasoning, "response_format", "stop", *tools]


def _anthropic_model(facts: ModelFacts) -> dict[str, Any]:
    return {
        "type": "model",
        "id": facts.name,
        "display_name": facts.name,
        "created_at": "1970-01-01T00:00:00Z",
        "max_input_tokens": facts.profile.context_tokens,
        "max_tokens": facts.profile.max_output_tokens,
    }


def _gemini_model(facts: ModelFacts) -> dict[str, Any]:
    profile = facts.profile
    limits = {"inputTokenLimit": profile.context_tokens, "outputTokenLimit": profile.max_output_tokens}
    return {
        "name": f"models/{facts.name}",
        "version": "1",
        "displayName": facts.name,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        "thinking": bool(facts.levels),
        **{name: tokens for name, tokens in limits.items() if tokens is not None},
    }


def _codex_model(facts: ModelFacts, number: int) -> dict[str, Any]:
    """Returns a model as Codex reads it (`ModelInfo` in codex-rs/protocol/src/openai_models.rs)."""
    levels = [level for level in facts.levels if level in _CODEX_LEVELS]
    return {
        "slug": facts.name,
        "display_name": facts.name,
        "description": None,
        "default_reasoning_level": "medium" if "medium" in levels else None,
        "supported_reasoning_levels": [{"effort": level, "description": level} for level in levels],
        "shell_type": "shell_command",
        "visibility": "list",
        "supported_in_api": True,
        "priority": number,
        "upgrade": None,
        "base_instructions": _CODEX_INSTRUCTIONS,
        "supports_reasoning_summaries": bool(levels),
        "support_verbosity": False,
        "default_verbosity": None,
        "apply_patch_tool_type": None,
        "truncation_policy": {"mode": "bytes", "limit": 10_000},
        "supports_parallel_tool_calls": facts.profile.parallel_tools is not False,
        "context_window": facts.profile.context_tokens,
        "experimental_supported_tools": [],
        "input_modalities": [kind for kind in facts.inputs if kind in ("text", "image")],
    }
