"""The store of a command, and which calls it is about."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstractcore import InvalidInputError

if TYPE_CHECKING:
    from abstractcore.traces import TraceStore


@dataclass(frozen=True, slots=True)
class CallChoice:
    """The options that choose calls. `tags` are texts such as "team=office"."""

    since: str | None = None
    until: str | None = None
    model: str | None = None
    tags: tuple[str, ...] = ()
    failed: bool = False
    limit: int = 20
    text: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Returns them as arguments of `TraceStore.calls`; raises `InvalidInputError` for a tag without a value."""
        tags: dict[str, str] = {}
        for tag in self.tags:
            name, equals, value = tag.partition("=")
            if not name or not equals:
                raise InvalidInputError(f"{tag!r:.60} is not a tag", path="--tag", hint="Write --tag NAME=VALUE.")
            tags[name] = value
        return {
            "since": self.since,
            "until": self.until,
            "model": self.model,
            "tags": tags,
            "failed": True if self.failed else None,
            "limit": self.limit,
            "text": self.text,
        }


@contextmanager
def opened(place: str | None, **bounds: Any) -> Generator[TraceStore]:
    """Yields the store of a place; raises `ConfigurationError` if no traces are kept there."""
    from abstractcore.traces import TraceStore

    store = TraceStore.existing(place or None, **bounds)
    try:
        yield store
    finally:
        store.close()
