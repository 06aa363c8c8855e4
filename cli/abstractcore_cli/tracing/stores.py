"""The store of a command, and which calls it is about."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from abstractcore import InvalidInputError
from abstractcore.registry import did_you_mean, nearest_names

from ..given_options import repeated_in_hints
from ..tags import tags_of

if TYPE_CHECKING:
    from abstractcore.traces import TraceStore

_VARIABLE: Final = "ABSTRACTCORE_TRACES_STORE"
_MOST_NAMES: Final = 8
_SEARCHED: Final = 10_000
"""How many ids are compared with one that is not stored."""


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
        """Returns them as arguments of `TraceStore.calls`; raises what `filters` raises."""
        return {**self.filters(), "limit": self.limit, "text": self.text}

    def filters(self) -> dict[str, Any]:
        """Returns those about columns, which sums have too; raises `InvalidInputError` for a tag without a value, or
        with two of them.
        """
        return {
            "since": self.since,
            "until": self.until,
            "model": self.model,
            "tags": tags_of(self.tags),
            "failed": True if self.failed else None,
        }

    def why_none(self, store: TraceStore) -> str:
        """Returns why no call matches: a tag, a value of one or a model that no call has, and those that calls have."""
        for name, value in self.filters()["tags"].items():
            if lacking := lacking_tag(store, name):
                return f"No call matches; {lacking}"
            if value not in (values := store.names(f"tag:{name}")):
                return f"No call matches; stored values of the tag {name}: {_nearest(value, values)}"
        if self.model is not None:
            models = store.names("model")
            if self.model not in models and self.model.partition("/")[2] not in models:
                return f"No call matches; stored models: {_nearest(self.model, models)}"
        return "No call matches." if self.text is None else "No call matches. Only content kept in full is found."


def lacking_tag(store: TraceStore, name: str) -> str | None:
    """Returns the tags that calls have; None if one is named so."""
    tags = store.names("tag")
    return None if name in tags else f"stored tags: {_nearest(name, tags)}"


def _nearest(name: str, known: Sequence[str]) -> str:
    """Returns the first names, the nearest first."""
    if not known:
        return "none"
    names = sorted(known, key=lambda each: -SequenceMatcher(None, name.lower(), each.lower()).ratio())
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def record_id(store: TraceStore, beginning: str) -> str:
    """Returns the id of a record that is named by it, or by its beginning; raises `InvalidInputError` with the nearest
    ids if there is none, or several.
    """
    ids = store.ids(beginning, limit=_MOST_NAMES + 1) if beginning else []
    if beginning in ids or len(ids) == 1:
        return beginning if beginning in ids else ids[0]
    if ids:
        more = " and more" if len(ids) > _MOST_NAMES else ""
        hint = f"Write more of one: {', '.join(ids[:_MOST_NAMES])}{more}."
        raise InvalidInputError(f"several records have ids that begin with {beginning!r:.60}", path="ID", hint=hint)
    latest = store.calls(limit=_SEARCHED)
    known = {call.trace_id for call in latest} | {call.parent_id for call in latest if call.parent_id}
    near = nearest_names(beginning, known)
    hint = did_you_mean(near) if near else "Run `abstractcore traces list`."
    raise InvalidInputError(f"no record {beginning!r:.60} is stored", path="ID", hint=hint)


@contextmanager
def opened(place: str | None, **bounds: Any) -> Generator[TraceStore]:
    """Yields the store of a place; raises `ConfigurationError` if no traces are kept there."""
    from abstractcore.traces import TraceStore

    store = TraceStore.existing(place or None, **bounds)
    try:
        with repeated_in_hints("traces", "--store", place, _VARIABLE):
            yield store
    finally:
        store.close()
