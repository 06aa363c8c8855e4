"""State while a request is written, in the order in which it is sent: the provider, warnings, and cache points."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstractcore.schema import CallWarning

from ...common.thinking import CacheTimes


@dataclass(frozen=True, slots=True)
class RequestState:
    """The state of one request. `provider` is the one whose files, options and opaque parts are sent."""

    provider: str
    warnings: list[CallWarning]
    cache_times: CacheTimes = field(default_factory=CacheTimes)
