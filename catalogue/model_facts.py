"""The rows of `sources/model_facts.jsonl`, as rows of ours."""

from __future__ import annotations

import json
import re
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
}
"""Our providers for each of the source's."""
AS_OF = "2026-10-25"
_ACCEPTED = {"vision": "image", "pdf": "application/pdf", "audio_in": "audio", "video_in": "video"}
_REGION = re.compile(r"^(us|eu|apac|global|jp|au|us-gov|ap-[a-z]+-\d|[a-z]{2}-[a-z]+-\d)[./]|/|^ft:|container")
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
)


def facts(path: Path) -> dict[str, dict[str, Row]]:
    """Returns by provider and id what the source says of each model: limits, accepted kinds, date of retirement."""
    found: dict[str, dict[str, Row]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        fact: dict[str, Any] = json.loads(line)
        model = fact["id"]
        if _REGION.search(model) or any(part in model for part in _NOT_CHAT):
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
        if prices and not _REGION.search(fact["id"]):
            for provider in PROVIDERS[fact["provider"]]:
                found.setdefault(provider, {})[fact["id"]] = prices
    return found


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
