"""Lists of models, in the shape of each API, with what is known of each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.catalogue import FileCatalogue
from abstractcore.errors import ConfigurationError, ModelNotFoundError
from abstractcore.ports import ModelProfile
from abstractcore.schema import WireResponse

from .calls import answers
from .context import Reply, RequestContext, ServerState
from .dialects import ANTHROPIC
from .dialects.base import text_at
from .dialects.ollama import OllamaDialect

_KINDS = ("image", "audio", "video", "document")
_METERS = {"input": "prompt", "output": "completion", "cache_read": "input_cache_read"}
"""Meters of the catalogue, each with the name that clients know."""
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model by the name that clients call it by. `prices` are in dollars a token, as exact numbers in text."""

    name: str
    provider: str
    model: str
    profile: ModelProfile
    prices: Mapping[str, str]

    @property
    def inputs(self) -> list[str]:
        """The kinds of content that it accepts: "text", "image" and others. Files of other kinds are converted."""
        accepted = [kind for kind in _KINDS if any(each.startswith(kind) for each in self.profile.accepts)]
        pdf = ["document"] if "application/pdf" in self.profile.accepts and "document" not in accepted else []
        return ["text", *accepted, *pdf]

    @property
    def outputs(self) -> list[str]:
        """The kinds of content that it produces."""
        return ["text", *sorted(self.profile.produces or ())]

    @property
    def levels(self) -> list[str]:
        """The levels of reasoning that it accepts, in rising order."""
        thinking = self.profile.thinking
        return [] if thinking is None else list(thinking.levels)

    @property
    def has_tools(self) -> bool:
        """Whether it can call tools, if only by the prompt."""
        return self.profile.tools != "never" or self.profile.tool_prompt is not None


def listed_facts(context: RequestContext) -> list[ListedModel]:
    """Returns the models that a client may call, except those that its key may not use."""
    state = context.state
    return [facts_of(state, name) for name in state.llms.listed_names() if context.grant.allows(name)]


def facts_of(state: ServerState, name: str, vendors: tuple[str, ...] = ()) -> ListedModel:
    """Returns the facts of a model; raises `ModelNotFoundError`."""
    llm = state.llms.given_llm(name)
    if llm is not None:
        return ListedModel(name, llm.provider, llm.model, llm.profile, {})
    provider, model = state.llms.known_target_of(name, vendors)
    catalogue = state.services.catalogue
    return ListedModel(name, provider, model, catalogue.profile(provider, model), _prices(state, provider, model))


def _prices(state: ServerState, provider: str, model: str) -> dict[str, str]:
    catalogue = state.services.catalogue
    if not isinstance(catalogue, FileCatalogue):
        return {}
    try:
        rows = catalogue.models(provider).price_rows(model)
    except ConfigurationError:
        return {}
    now = state.services.clock.time_of_day()
    current = next((row for row in rows if row.covers(now)), None)
    if current is None:
        return {}
    rates = ((theirs, current.rates.get(ours)) for ours, theirs in _METERS.items())
    return {name: f"{(rate / _MILLION).normalize():f}" for name, rate in rates if rate is not None}


_JSON = {"content-type": "application/json"}
_CODEX_PARAMETER = "client_version"
_CODEX_LEVELS = ("minimal", "low", "medium", "high", "xhigh")
_CODEX_INSTRUCTIONS = (
    "You are a coding agent that works in a terminal on the user's machine. Read the code before you change it, make "
    "the smallest change that does what was asked, run what checks it, and say briefly what you did."
)
_MOST_ANTHROPIC = 1000


async def models(context: RequestContext) -> WireResponse:
    """Lists the models in the shape of OpenAI, or of Anthropic for its clients."""
    query = context.request.query_values()
    if _of_anthropic(context):
        return await anthropic_models(context)
    if _of_google(context):
        return await gemini_models(context)
    listed = listed_facts(context)
    if _CODEX_PARAMETER in query:
        found = {"models": [_codex_model(facts, number) for number, facts in enumerate(listed)]}
    else:
        found = {"object": "list", "data": [_openai_model(facts) for facts in listed]}
    return WireResponse(200, context.headers(_JSON), to_json(found))


async def model(context: RequestContext) -> WireResponse:
    """Returns a model; raises `ModelNotFoundError`."""
    shape = _anthropic_model if _of_anthropic(context) else _gemini_model if _of_google(context) else _openai_model
    return _one(context, context.request.parameters["model"], shape)


async def gemini_models(context: RequestContext) -> WireResponse:
    """Lists the models in Google's shape."""
    found = {"models": [_gemini_model(facts) for facts in listed_facts(context)]}
    return WireResponse(200, context.headers(_JSON), to_json(found))


async def gemini_model(context: RequestContext) -> WireResponse:
    """Returns a model in Google's shape."""
    return _one(context, context.request.parameters["model"], _gemini_model)


async def anthropic_models(context: RequestContext) -> WireResponse:
    """Answers with a page of the list in Anthropic's shape."""
    query = context.request.query_values()
    listed = [_anthropic_model(facts) for facts in listed_facts(context)]
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
    return WireResponse(200, context.headers(_JSON), to_json(found))


def _of_anthropic(context: RequestContext) -> bool:
    return "anthropic-version" in context.request.headers


def _of_google(context: RequestContext) -> bool:
    return "x-goog-api-key" in context.request.headers


def _one(context: RequestContext, name: str, shape: Callable[[ListedModel], dict[str, Any]]) -> WireResponse:
    facts = facts_of(context.state, name, context.dialect.vendors + ANTHROPIC.vendors)
    if not context.grant.allows(name) and not context.grant.allows(f"{facts.provider}/{facts.model}"):
        raise ModelNotFoundError(f"the model {name[:200]!r} does not exist here")
    return WireResponse(200, context.headers(_JSON), to_json(shape(facts)))


def _openai_model(facts: ListedModel) -> dict[str, Any]:
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


def _parameters(facts: ListedModel) -> list[str]:
    tools = ["tools", "tool_choice"] if facts.has_tools else []
    reasoning = ["reasoning_effort"] if facts.levels else []
    return ["max_tokens", *reasoning, "response_format", "stop", *tools]


def _anthropic_model(facts: ListedModel) -> dict[str, Any]:
    return {
        "type": "model",
        "id": facts.name,
        "display_name": facts.name,
        "created_at": "1970-01-01T00:00:00Z",
        "max_input_tokens": facts.profile.context_tokens,
        "max_tokens": facts.profile.max_output_tokens,
    }


def _gemini_model(facts: ListedModel) -> dict[str, Any]:
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


def _codex_model(facts: ListedModel, number: int) -> dict[str, Any]:
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


_VERSION = "0.12.6"
"""The version of Ollama whose API this is. Clients refuse servers that they think too old."""
_NO_TIME = "1970-01-01T00:00:00Z"


async def ollama_answer(context: RequestContext) -> Reply:
    """Calls a model; returns its reply, whole or as a stream. A request without messages or a prompt is answered at
    once: clients load a model with it, or unload it, which happens here when the model is called.
    """
    job = await answers.read(context)
    loaded = cast("OllamaDialect", context.dialect).loading_answer(job.client_request, job.stamp)
    return await answers.answer_of(job) if loaded is None else WireResponse(200, context.headers(_JSON), loaded)


async def ollama_tags(context: RequestContext) -> WireResponse:
    """Lists the models."""
    found = {"models": [_tag(facts) for facts in listed_facts(context)]}
    return WireResponse(200, context.headers(_JSON), to_json(found))


async def ollama_running(context: RequestContext) -> WireResponse:
    """Lists no models: which are in memory is not known."""
    return WireResponse(200, context.headers(_JSON), b'{"models":[]}')


async def ollama_version(context: RequestContext) -> WireResponse:
    """Returns the version of Ollama's API."""
    return WireResponse(200, context.headers(_JSON), to_json({"version": _VERSION}))


async def ollama_show(context: RequestContext) -> WireResponse:
    """Returns the known facts about a model; raises `ModelNotFoundError`."""
    data = await context.read_object()
    name = text_at(data, "model" if "model" in data else "name")
    facts = facts_of(context.state, name.removesuffix(":latest"), context.dialect.vendors)
    context.grant.check_model(facts.name, f"{facts.provider}/{facts.model}")
    context_tokens = facts.profile.context_tokens
    found = {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _details(facts),
        "model_info": {"general.architecture": facts.provider}
        | ({f"{facts.provider}.context_length": context_tokens} if context_tokens else {}),
        "capabilities": _capabilities(facts),
        "modified_at": _NO_TIME,
    }
    return WireResponse(200, context.headers(_JSON), to_json(found))


def _capabilities(facts: ListedModel) -> list[str]:
    """Returns the capabilities of a model, by Ollama's names."""
    can = {
        "completion": True,
        "tools": facts.has_tools,
        "vision": "image" in facts.inputs,
        "thinking": bool(facts.levels),
    }
    return [name for name, is_true in can.items() if is_true]


def _tag(facts: ListedModel) -> dict[str, Any]:
    digest = hashlib.sha256(f"{facts.provider}/{facts.model}".encode()).hexdigest()
    names = {"name": facts.name, "model": facts.name}
    return {**names, "modified_at": _NO_TIME, "size": 0, "digest": digest, "details": _details(facts)}


def _details(facts: ListedModel) -> dict[str, Any]:
    family = facts.provider
    return {
        "parent_model": "",
        "format": "",
        "family": family,
        "families": [family],
        "parameter_size": "",
        "quantization_level": "",
    }
