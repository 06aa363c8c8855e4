"""TTLs of cache points: each has one of two values and does not exceed those of earlier points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from abstractcore.schema import CachePoint, CallWarning

CACHE_TIMES: Mapping[str, int] = MappingProxyType({"5m": 300, "1h": 3600})
"""The vendors' names of the TTLs, which are in seconds."""

_UNSAID = CACHE_TIMES["5m"]
_MOST = CACHE_TIMES["1h"]


@dataclass(slots=True)
class CacheTimes:
    """Adjusts the TTLs of the cache points of one request, in the order in which they are sent: tools, system,
    messages.
    """

    _longest: int = field(default=_MOST, init=False)

    def fit(self, point: CachePoint | None, path: str, warnings: list[CallWarning]) -> CachePoint | None:
        """Returns the cache point of the item at `path` as it is sent, with a warning if its TTL changes."""
        if point is None:
            return None
        if point.ttl is None:
            self._longest = _UNSAID
            return point
        times = CACHE_TIMES.values()
        nearest = next((time for time in times if time >= point.ttl), _MOST)
        sent = min(nearest, self._longest)
        if sent != point.ttl:
            message = f"the supported TTLs are {' and '.join(map(str, times))} seconds"
            if sent != nearest:
                message = "a TTL cannot exceed those before it, in the order of tools, system and messages"
            warnings.append(CallWarning("cache_time_changed", f"{path}.cache.ttl", message, point.ttl, sent))
        self._longest = sent
        return point if sent == point.ttl else CachePoint(sent)
