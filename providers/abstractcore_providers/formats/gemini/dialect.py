"""Differences between servers and models of this format, as data."""

from __future__ import annotations

from dataclasses import dataclass

from ...common.billing_table import BillingTable
from .usage import GEMINI_API


@dataclass(frozen=True, slots=True)
class Dialect:
    """One vendor's variant of the format.

    `provider` is the key of `provider_options`. With `media_in_results`, images and documents are inside a tool's
    result, which models since Gemini 3 accept; otherwise next to it, in the same message. With `signed_calls`, a turn's
    first tool call must have a signature, as those models require. With `count_wrapped`, tokens are counted for a
    request that is wrapped in a field, as in the Gemini API.

    Where model names are below a `publisher`, as on Vertex AI, it is the one of names without a publisher. `parent` is
    the prefix of resource names, such as `projects/p/locations/l`. `billing` are the fields of a reply with its service
    tier.
    """

    provider: str = "google"
    media_in_results: bool = True
    signed_calls: bool = False
    count_wrapped: bool = True
    publisher: str = ""
    parent: str = ""
    billing: BillingTable = GEMINI_API
