"""`CachePoint`: marks the end of a prompt prefix that the provider is asked to cache."""

from __future__ import annotations

from dataclasses import dataclass

from .base_error import SchemaError
from .immutable import Immutable
from .json_values import check_count


@dataclass(frozen=True, slots=True)
class CachePoint(Immutable):
    """Asks the provider to cache the prompt up to and including the part or tool that holds it, for `ttl` seconds.

    With `ttl` None the provider chooses the time. Parts of a reply have no cache point.
    """

    ttl: int | None = None

    def __post_init__(self) -> None:
        if self.ttl is not None and check_count(self.ttl, "ttl") == 0:
            raise SchemaError("must be at least 1 second", "ttl")


def check_cache(cache: object) -> None:
    """Raises `SchemaError` unless `cache` is a `CachePoint` or None."""
    if cache is not None and not isinstance(cache, CachePoint):
        raise SchemaError(f"expected a CachePoint, got {type(cache).__name__}", "cache")
