"""Cache points, written and read (Amazon Bedrock User Guide, "Prompt caching for faster model inference")."""

from __future__ import annotations

from abstractcore.schema import CachePoint

from ...common.reading import Object
from ...common.thinking import CACHE_TIMES


def write_cache(cache: CachePoint) -> Object:
    """Returns a cache point, which follows the block that it marks."""
    point: Object = {"type": "default"}
    if cache.ttl is not None:
        point["ttl"] = next(name for name, time in CACHE_TIMES.items() if time == cache.ttl)
    return {"cachePoint": point}


def read_cache(point: Object) -> CachePoint:
    """Reads the cache point in a `cachePoint` object."""
    return CachePoint(CACHE_TIMES.get(str(point.get("ttl"))))
