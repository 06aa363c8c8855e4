"""The service tier and the region that a call asks for in its provider's options, for its price.

OpenAI, Groq, Mistral, xAI and Anthropic: `service_tier`; OpenAI also `background_options.completion_window`
(developers.openai.com/api/docs/guides/flex-processing); Anthropic: `speed` and `inference_geo`
(platform.claude.com/docs/en/build-with-claude/fast-mode, /data-residency); Gemini: `serviceTier`; Bedrock:
`serviceTier.type` and `performanceConfig.latency` (Converse in the API reference).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from abstractcore.ports import Endpoint, KnownUrl, Terms
from abstractcore.schema import NO_OPTIONS, ModelCall

if TYPE_CHECKING:
    from abstractcore.schema import OperationInput

_TIER_FIELDS = ("service_tier", "serviceTier")


def request_terms(provider: str, usual: Terms, given: ModelCall | OperationInput) -> Terms:
    """Returns what a call, or an input with `provider_options` of its own, asks for in its options for `provider`;
    `usual` is what applies without them.
    """
    options = cast("Mapping[str, Any] | None", getattr(given, "provider_options", NO_OPTIONS).get(provider))
    if not options:
        return usual
    window = _text(_member(options.get("background_options"), "completion_window"))
    return Terms(
        _tier(options),
        _text(options.get("inference_geo")) or usual.region,
        None if window is None else f"background_{window}",
    )


def region_of_host(endpoint: Endpoint, usual_url: str | None) -> str | None:
    """Returns the label that the host of an endpoint has and the vendor's usual one does not, as "eu" in
    eu.api.openai.com and api.eu.mistral.ai; None unless it differs by one label.
    """
    if usual_url is None or not isinstance(endpoint, KnownUrl):
        return None
    usual, labels = _labels(usual_url), _labels(endpoint.url)
    added = [i for i in range(len(labels)) if labels[:i] + labels[i + 1 :] == usual]
    return labels[added[0]] if added else None


def _labels(url: str | None) -> list[str]:
    return (urlsplit(url or "").hostname or "").split(".")


def _tier(options: Mapping[str, Any]) -> str | None:
    if options.get("speed") == "fast":
        return "fast"
    for name in _TIER_FIELDS:
        value = options.get(name)
        tier = _text(value) or _text(_member(value, "type"))
        if tier:
            return tier
    latency = _text(_member(options.get("performanceConfig"), "latency"))
    return latency if latency == "optimized" else None


def _member(value: object, name: str) -> object:
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
