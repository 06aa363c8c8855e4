"""`/api/chat` and `/api/generate`, which may only load a model, and `/api/tags`, `/api/show`, `/api/ps` and
`/api/version`: models as Ollama lists them (https://docs.ollama.com/api).
"""

from __future__ import annotations

import hashlib
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.schema import WireResponse

from . import calls
from .dialects.base import text_at
from .dialects.ollama import OllamaDialect
from .exchange import Exchange, Reply
from .model_facts import ModelFacts, facts_of, listed_facts

_JSON = {"content-type": "application/json"}
_VERSION = "0.12.6"
"""The version of Ollama whose API this is. Clients refuse servers that they think too old."""
_NO_TIME = "1970-01-01T00:00:00Z"


async def answer(exchange: Exchange) -> Reply:
    """Calls a model; returns its reply, whole or as a stream. A request without messages or a prompt is answered at
    once: clients load a model with it, or unload it, which happens here when the model is called.
    """
    job = await calls.read(exchange)
    loaded = cast("OllamaDialect", exchange.dialect).loaded(job.asked, job.stamp)
    return await calls.answer_of(job) if loaded is None else WireResponse(200, exchange.headers(_JSON), loaded)


async def tags(exchange: Exchange) -> WireResponse:
    """Lists the models."""
    found = {"models": [_tag(facts) for facts in listed_facts(exchange)]}
    return WireResponse(200, exchange.headers(_JSON), to_json(found))


async def running(exchange: Exchange) -> WireResponse:
    """Lists no models: which are in memory is not known."""
    return WireResponse(200, exchange.headers(_JSON), b'{"models":[]}')


async def version(exchange: Exchange) -> WireResponse:
    """Returns the version of Ollama's API."""
    return WireResponse(200, exchange.headers(_JSON), to_json({"version": _VERSION}))


async def show(exchange: Exchange) -> WireResponse:
    """Returns what is known about a model; raises `ModelNotFoundError`."""
    data = await exchange.read_object()
    name = text_at(data, "model" if "model" in data else "name")
    facts = facts_of(exchange.state, name.removesuffix(":latest"), exchange.dialect.vendors)
    exchange.grant.check_model(facts.name, f"{facts.provider}/{facts.model}")
    context = facts.profile.context_tokens
    found = {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _details(facts),
        "model_info": {"general.architecture": facts.provider}
        | ({f"{facts.provider}.context_length": context} if context else {}),
        "capabilities": _capabilities(facts),
        "modified_at": _NO_TIME,
    }
    return WireResponse(200, exchange.headers(_JSON), to_json(found))


def _capabilities(facts: ModelFacts) -> list[str]:
    """Returns what a model can do, in Ollama's words."""
    can = {
        "completion": True,
        "tools": facts.has_tools,
        "vision": "image" in facts.inputs,
        "thinking": bool(facts.levels),
    }
    return [name for name, is_true in can.items() if is_true]


def _tag(facts: ModelFacts) -> dict[str, Any]:
    digest = hashlib.sha256(f"{facts.provider}/{facts.model}".encode()).hexdigest()
    names = {"name": facts.name, "model": facts.name}
    return {**names, "modified_at": _NO_TIME, "size": 0, "digest": digest, "details": _details(facts)}


def _details(facts: ModelFacts) -> dict[str, Any]:
    family = facts.provider
    return {
        "parent_model": "",
        "format": "",
        "family": family,
        "families": [family],
        "parameter_size": "",
        "quantization_level": "",
    }
