"""Cache points, both ways. How long they keep, and whether tools have them, differs by model.

Source: the Amazon Bedrock User Guide, "Prompt caching for faster model inference", and the models' own pages there.
"""

from __future__ import annotations

import re

from abstractcore.schema import CachePoint, CallWarning

from ...common.cache_times import CACHE_TIMES, CacheTimes
from ...common.json_reading import Object

_AMAZON = re.compile(r"(?:^|[./])amazon\.")
_BRIEF = re.compile(r"(?:^|[./])(?:amazon\.|anthropic\.claude-(?:3-|opus-4-1|(?:opus|sonnet)-4-2))")
"""Models that keep for five minutes only."""


def cache_times_of(model: str) -> CacheTimes:
    """The times for which a model keeps what it has read, for the points of one request."""
    return CacheTimes(CACHE_TIMES["5m" if _BRIEF.search(model) else "1h"])


def fit_tool_cache(
    cache: CachePoint | None, path: str, model: str, times: CacheTimes, warnings: list[CallWarning]
) -> CachePoint | None:
    """The cache point of a tool as it is sent. Not every maker's models take one."""
    if cache is None or not _AMAZON.search(model):
        return times.fit(cache, path, warnings)
    warnings.append(CallWarning("cache_left_out", f"{path}.cache", "Amazon's models take none between tools"))
    return None


def write_cache(cache: CachePoint) -> Object:
    """A cache point, which stands after what it marks."""
    point: Object = {"type": "default"}
    if cache.ttl is not None:
        point["ttl"] = next(name for name, time in CACHE_TIMES.items() if time == cache.ttl)
    return {"cachePoint": point}


def read_cache(point: Object) -> CachePoint:
    """The cache point in a `cachePoint` object."""
    return CachePoint(CACHE_TIMES.get(str(point.get("ttl"))))
