"""`CachePoint`: how far into a call a provider is asked to keep what it has read."""

from __future__ import annotations

from dataclasses import dataclass

from .base_error import SchemaError
from .immutable import Immutable
from .json_values import check_count


@dataclass(frozen=True, slots=True)
class CachePoint(Immutable):
    """Everything up to and with the part or tool that holds it is to be kept, for `ttl` seconds.

    None leaves the time to the provider. It marks what is sent: a reply has none.
    """

    ttl: int | None = None

    def __post_init__(self) -> None:
        if self.ttl is not None and check_count(self.ttl, "ttl") == 0:
            raise SchemaError("must be at least 1 second", "ttl")


def check_cache(cache: object) -> None:
    """Raise `SchemaError` for what is neither a `CachePoint` nor None."""
    if cache is not None and not isinstance(cache, CachePoint):
        raise SchemaError(f"expected a CachePoint, got {type(cache).__name__}", "cache")
