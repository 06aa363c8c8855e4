"""The rows of `sources/model_facts.jsonl`, as rows of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rows import Row

PROVIDERS = {
    "openai": ("openai", "openai-responses"),
    "azure": ("azure",),
    "anthropic": ("anthropic",),
    "bedrock_converse": ("bedrock",),
    "gemini": ("google",),
    "vertex_ai-language-models": ("vertex",),
    "xai": ("xai",),
    "mistral": ("mistral",),
    "deepseek": ("deepseek",),
    "groq": ("groq",),
    "cohere": ("cohere",),
    "cohere_chat": ("cohere",),
    "cerebras": ("cerebras",),
    "perplexity": ("perplexity",),
    "together_ai": ("together",),
    "fireworks_ai": ("fireworks",),
}
"""Our providers for each of the source's."""
AS_OF = "2026-10-25"
_ACCEPTED = {"vision": "image", "pdf": "application/pdf", "audio_in": "audio", "video_in": "video"}
_REGION = re.compile(r"^(us|eu|apac|global|jp|au|us-gov|ap-[a-z]+-\d|[a-z]{2}-[a-z]+-\d)[./]|^ft:|container")
_WITH_PATHS = ("groq", "together_ai", "fireworks_ai")
"""The source's providers whose ids are paths; at others a path names a region, or the API of another provider."""
_NOT_CHAT = (
    "embed",
    "tts",
    "realtime",
    "transcribe",
    "-image",
    "imagen",
    "lyria",
    "veo",
    "-live",
    "native-audio",
    "ocr",
    "prompt-guard",
)


def facts(path: Path) -> dict[str, dict[str, Row]]:
    """Returns by provider and id what the source says of each model: limits, accepted kinds, date of retirement."""
    found: dict[str, dict[str, Row]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        fact: dict[str, Any] = json.loads(line)
        model = fact["id"]
        if _is_elsewhere(fact) or any(part in model for part in _NOT_CHAT):
            continue
        for provider in PROVIDERS[fact["provider"]]:
            if provider == "openai" and fact["mode"] == "responses":
                continue
            found.setdefault(provider, {})[model] = _row(fact)
    return found


def base_prices(path: Path) -> dict[str, dict[str, Row]]:
    """Returns by provider and id the base prices that the source lists, by our meters."""
    found: dict[str, dict[str, Row]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        fact: dict[str, Any] = json.loads(line, parse_float=str, parse_int=str)
        prices: Row = fact.get("usd_per_million_tokens", {})
        if prices and not _is_elsewhere(fact):
            for provider in PROVIDERS[fact["provider"]]:
                found.setdefault(provider, {})[fact["id"]] = prices
    return found


def _is_elsewhere(fact: Mapping[str, Any]) -> bool:
    """Returns whether an id is of a region, or of another API or provider than that of the row."""
    has_path = "/" in fact["id"] and fact["provider"] not in _WITH_PATHS
    return has_path or _REGION.search(fact["id"]) is not None


def _row(fact: dict[str, Any]) -> Row:
    row: Row = {}
    for ours, theirs in (("context_tokens", "context"), ("max_output_tokens", "max_output")):
        if theirs in fact:
            row[ours] = fact[theirs]
    if "deprecation_date" in fact:
        row["retires"] = fact["deprecation_date"]
    accepts = {kind for feature, kind in _ACCEPTED.items() if feature in fact.get("features", ())}
    if accepts:
        row["accepts"] = sorted(accepts)
    return row
