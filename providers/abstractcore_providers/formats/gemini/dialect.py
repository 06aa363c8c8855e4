"""Differences between servers and models of this format, as data."""

from __future__ import annotations

from dataclasses import dataclass

from ...common.response_bodies import BillingTable
from .usage import GEMINI_API

RESULT_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses"."""


@dataclass(frozen=True, slots=True)
class GenerateContentDialect:
    """One vendor's variant of the format, for one model.

    `provider` is the key of `provider_options`. Files of the types `media_in_results` are inside a tool's result, which
    models since Gemini 3 accept; others are next to it, in the same message. With `signed_calls`, a turn's first tool
    call must have a signature, as those models require. With `count_wrapped`, tokens are counted for a request that is
    wrapped in a field, as in the Gemini API.

    Where model names are below a `publisher`, as on Vertex AI, it is the one of names without a publisher. `parent` is
    the prefix of resource names, such as `projects/p/locations/l`. `billing` are the fields of a reply with its service
    tier.

    `hosted_with_functions` is whether hosted tools are allowed beside functions; with `server_side_calls`, such a
    request must ask for the calls of hosted tools. `explicit_cache` is whether the model has cached contents.
    """

    provider: str = "google"
    media_in_results: frozenset[str] = RESULT_TYPES
    signed_calls: bool = False
    count_wrapped: bool = True
    publisher: str = ""
    parent: str = ""
    billing: BillingTable = GEMINI_API
    hosted_with_functions: bool = True
    server_side_calls: bool = False
    explicit_cache: bool = True
