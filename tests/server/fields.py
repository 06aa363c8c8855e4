"""Writes the tables of fields in docs/server-fields.md: what the server does with each field of each route.

`python -m` runs it.

The fields are those of the vendors' client packages and of the listed API references, each with a value that is not its
default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from abstractcore import InvalidInputError, ModelCall
from abstractcore.registry import Registry
from abstractcore_server.calls.jobs import without
from abstractcore_server.context import RouteTable
from abstractcore_server.dialects import ClientDialect
from abstractcore_server.requests import RequestHead
from abstractcore_server.routes import ROUTES

PAGE = Path(__file__).parents[2] / "docs" / "server-fields.md"
_TABLE = re.compile(r"(<!-- fields of (\S+), by `make docs` -->\n).*?(?=<!-- end -->)", re.DOTALL)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION: dict[str, Any] = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CONTENTS: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}

_OPENAI_SAMPLING: dict[str, Any] = {
    "frequency_penalty": 0.5,
    "logit_bias": {"50256": -100},
    "max_tokens": 100,
    "n": 2,
    "presence_penalty": 0.5,
    "seed": 7,
    "stop": ["END"],
    "stream": True,
    "stream_options": {"include_usage": True},
    "temperature": 0.5,
    "top_p": 0.5,
    "user": "someone",
}
_OPENAI_CACHE: dict[str, Any] = {
    "metadata": {"a": "b"},
    "moderation": {"model": "omni-moderation-latest"},
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "explicit"},
    "prompt_cache_retention": "24h",
    "safety_identifier": "s",
    "service_tier": "flex",
    "store": True,
}

FIELDS: Mapping[str, Mapping[str, Any]] = {
    "/v1/chat/completions": {
        **CHAT,
        **_OPENAI_SAMPLING,
        **_OPENAI_CACHE,
        "audio": {"voice": "alloy", "format": "wav"},
        "function_call": "auto",
        "functions": [{"name": "weather", "parameters": SCHEMA}],
        "logprobs": True,
        "max_completion_tokens": 100,
        "modalities": ["text", "audio"],
        "parallel_tool_calls": False,
        "prediction": {"type": "content", "content": "x"},
        "reasoning_effort": "high",
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}},
        "tool_choice": "required",
        "tools": [FUNCTION],
        "top_logprobs": 3,
        "verbosity": "low",
        "web_search_options": {"search_context_size": "low"},
    },
    "/v1/completions": {
        "model": "m",
        "prompt": "hi",
        **_OPENAI_SAMPLING,
        "best_of": 2,
        "echo": True,
        "logprobs": 3,
        "suffix": "x",
    },
    "/v1/responses": {
        "model": "m",
        "input": "hi",
        **_OPENAI_CACHE,
        "access_programs": {"a": "b"},
        "background": True,
        "background_options": {"a": "b"},
        "context_management": [{"type": "compaction", "compact_threshold": 1000}],
        "conversation": "conv_1",
        "image": {"a": "b"},
        "include": ["file_search_call.results"],
        "instructions": "Be brief.",
        "max_output_tokens": 100,
        "max_tool_calls": 3,
        "parallel_tool_calls": False,
        "previous_response_id": "resp_1",
        "prompt": {"id": "pmpt_1"},
        "reasoning": {"effort": "high"},
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "temperature": 0.5,
        "text": {"format": {"type": "json_schema", "name": "x", "schema": SCHEMA, "strict": True}},
        "tool_choice": "required",
        "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA}],
        "top_logprobs": 3,
        "top_p": 0.5,
        "truncation": "auto",
        "user": "someone",
    },
    "/v1/messages": {
        **CHAT,
        "betas": ["x"],
        "cache_control": {"type": "ephemeral"},
        "container": "container_1",
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
        "diagnostics": {"a": "b"},
        "inference_geo": "us",
        "max_tokens": 100,
        "mcp_servers": [{"type": "url", "url": "https://mcp.example", "name": "x"}],
        "metadata": {"user_id": "someone"},
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "service_tier": "auto",
        "speed": "fast",
        "stop_sequences": ["END"],
        "stream": True,
        "system": "Be brief.",
        "temperature": 0.5,
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "tool_choice": {"type": "any"},
        "tools": [{"name": "weather", "input_schema": SCHEMA}],
        "top_k": 3,
        "top_p": 0.5,
        "user_profile_id": "u",
        "workspace_id": "w",
    },
    "/v1beta/models/{model}:generateContent": {
        **CONTENTS,
        "cachedContent": "cachedContents/1",
        "generationConfig.audioTimestamp": True,
        "generationConfig.candidateCount": 2,
        "generationConfig.frequencyPenalty": 0.5,
        "generationConfig.imageConfig": {"aspectRatio": "1:1"},
        "generationConfig.logprobs": 3,
        "generationConfig.maxOutputTokens": 100,
        "generationConfig.mediaResolution": "MEDIA_RESOLUTION_LOW",
        "generationConfig.presencePenalty": 0.5,
        "generationConfig.responseJsonSchema": SCHEMA,
        "generationConfig.responseLogprobs": True,
        "generationConfig.responseMimeType": "application/json",
        "generationConfig.responseModalities": ["TEXT", "IMAGE"],
        "generationConfig.responseSchema": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}},
        "generationConfig.seed": 7,
        "generationConfig.speechConfig": {"languageCode": "de-DE"},
        "generationConfig.stopSequences": ["END"],
        "generationConfig.temperature": 0.5,
        "generationConfig.thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024},
        "generationConfig.topK": 3,
        "generationConfig.topP": 0.5,
        "labels": {"a": "b"},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "serviceTier": "flex",
        "store": True,
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": SCHEMA}]}],
    },
    "/v2/chat": {
        **CHAT,
        "citation_options": {"mode": "fast"},
        "documents": ["A text."],
        "frequency_penalty": 0.5,
        "k": 3,
        "logprobs": True,
        "max_tokens": 100,
        "p": 0.5,
        "presence_penalty": 0.5,
        "priority": 3,
        "response_format": {"type": "json_object", "json_schema": SCHEMA},
        "safety_mode": "OFF",
        "seed": 7,
        "stop_sequences": ["END"],
        "stream": True,
        "strict_tools": True,
        "temperature": 0.5,
        "thinking": {"type": "enabled", "token_budget": 1024},
        "tool_choice": "REQUIRED",
        "tools": [FUNCTION],
    },
    "/api/chat": {
        **CHAT,
        "format": SCHEMA,
        "keep_alive": "5m",
        "logprobs": True,
        "stream": False,
        "think": True,
        "tools": [FUNCTION],
        "top_logprobs": 3,
        "options.frequency_penalty": 0.5,
        "options.min_p": 0.1,
        "options.num_ctx": 8192,
        "options.num_predict": 100,
        "options.presence_penalty": 0.5,
        "options.repeat_penalty": 1.1,
        "options.seed": 7,
        "options.stop": ["END"],
        "options.temperature": 0.5,
        "options.top_k": 3,
        "options.top_p": 0.5,
    },
    "/api/generate": {
        "model": "m",
        "prompt": "hi",
        "context": [1, 2],
        "format": SCHEMA,
        "height": 512,
        "images": ["iVBORw0KGgo="],
        "keep_alive": "5m",
        "logprobs": True,
        "options.temperature": 0.5,
        "raw": True,
        "steps": 5,
        "stream": False,
        "suffix": "x",
        "system": "Be brief.",
        "template": "x",
        "think": True,
        "top_logprobs": 3,
        "width": 512,
    },
}
"""By route, each field with a value."""
_ALONE: Mapping[str, Mapping[str, Any]] = {
    "function_call": {"functions": [{"name": "weather", "parameters": SCHEMA}]},
    "tool_choice": {"tools": True},
    "toolConfig": {"tools": True},
    "parallel_tool_calls": {"tools": True},
    "strict_tools": {"tools": True},
    "top_logprobs": {"logprobs": True},
    "generationConfig.logprobs": {"generationConfig.responseLogprobs": True},
    "generationConfig.responseJsonSchema": {"generationConfig.responseMimeType": "application/json"},
    "generationConfig.responseSchema": {"generationConfig.responseMimeType": "application/json"},
}
"""What some fields need beside them; True is the value of the table."""
_OF_SERVER = frozenset({"model", "stream"})


class Outcome(NamedTuple):
    """What the server does with a field: for models whose providers have the API of the route, and for others."""

    own: str
    others: str


def outcomes(path: str) -> Iterator[tuple[str, Outcome]]:
    """Yields each field of a route with its outcome."""
    for name in FIELDS[path]:
        yield name, outcome(path, name)


def outcome(path: str, name: str) -> Outcome:
    """Returns what the server does with a field, as the wire format's `parse` and the dialect say."""
    found = RouteTable(ROUTES).find(RequestHead("POST", path.replace("{model}", "m"), "alt=sse", {}))
    assert found is not None
    dialect, plain = found.route.dialect, _without_field(path, name)
    try:
        call = _call(dialect, found.request, _with_field(path, name))
    except InvalidInputError:
        return Outcome("refused", "refused")
    before = None if plain is None else _call(dialect, found.request, plain)
    if name in _OF_SERVER | dialect.own_fields:
        return Outcome("the server's", "the server's")
    if before is None or _content(call) != _content(before):
        return Outcome("carried", "carried")
    if _options(call, dialect) != _options(before, dialect):
        if name in dialect.state_fields:
            return Outcome("carried", "done by the server")
        needed = name.partition(".")[0] in dialect.needed_fields
        return Outcome("carried", "refused" if needed else "left out, with a warning")
    return Outcome("no effect", "no effect")


def _call(dialect: ClientDialect, request: RequestHead, data: Mapping[str, Any]) -> ModelCall:
    format = _registry().wire_format(dialect.format).transpiler()
    return format.parse(dialect.read(request, json.dumps(data).encode()).wire).call


def _content(call: ModelCall) -> ModelCall:
    return call.with_(provider_options={})


def _options(call: ModelCall, dialect: ClientDialect) -> Any:
    return without(call.provider_options.get(call.provider, {}), dialect.own_fields)


def _with_field(path: str, name: str) -> dict[str, Any]:
    plain = _without_field(path, name) or {key: FIELDS[path][key] for key in required(path)}
    return _nested({**_flat(plain), name: FIELDS[path][name]})


def _without_field(path: str, name: str) -> dict[str, Any] | None:
    """Returns the smallest request without a field, but with what the field needs; None if it is required."""
    if name in required(path):
        return None
    alone = _ALONE.get(name, {}).items()
    beside = {key: FIELDS[path].get(key, value) if value is True else value for key, value in alone}
    return _nested({**{key: FIELDS[path][key] for key in required(path)}, **beside})


def required(path: str) -> list[str]:
    """The fields that each request needs."""
    return [name for name in ("model", "messages", "contents", "prompt", "input") if name in list(FIELDS[path])[:2]]


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        nested = name in ("generationConfig", "options")
        flat |= {f"{name}.{key}": item for key, item in value.items()} if nested else {name: value}
    return flat


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in flat.items():
        outer, dot, inner = name.partition(".")
        if dot:
            data.setdefault(outer, {})[inner] = value
        else:
            data[name] = value
    return data


_kept: list[Registry] = []


def _registry() -> Registry:
    if not _kept:
        _kept.append(Registry.from_entry_points())
    return _kept[0]


def page() -> str:
    """The page with its tables as they are to be."""
    return _TABLE.sub(lambda found: found[1] + _table(found[2]), PAGE.read_text(encoding="utf-8"))


def _table(path: str) -> str:
    groups: dict[Outcome, list[str]] = {}
    for name, found in outcomes(path):
        groups.setdefault(found, []).append(f"`{name}`")
    rows = [f"| {', '.join(names)} | {own} | {others} |" for (own, others), names in groups.items()]
    return "\n".join(["", "| fields | models of this API | other models |", "|---|---|---|", *rows, "", ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
