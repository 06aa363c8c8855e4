"""The options of `embed` and `rerank`: their types and descriptions, for `help` and editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from .. import ports
from ..schema import JSONObject


class VectorOptions(TypedDict, total=False):
    """The options of requests for vectors and rankings; those of `create_llm` are the defaults."""

    timeout: float | None
    """Timeout in seconds for the whole call including retries; default 600."""
    provider_options: Mapping[str, JSONObject] | None
    """Fields for one provider's request, by the provider's name: sent unchanged."""
    headers: Mapping[str, str] | None
    """Extra HTTP headers, over those of `create_llm`."""
    tags: Mapping[str, str] | None
    """Labels for call records; never sent."""
    parent_id: str | None
    """Id of the parent operation, for call records; never sent."""
    trace_context: Mapping[str, str] | None
    """W3C Trace Context of the caller, for call records."""
    priority: int | None
    """Which calls go first among those that wait for `limits`: the higher one; default 0."""
    strict: bool | None
    """Whether an unsupported option is an error before anything is sent, instead of a warning."""
    interruption: ports.Interruption | None
    """Ends the call from any thread or task: `interruption.set()`; it then raises `CallInterruptedError`."""
