"""Token counts in a vendor's usage object, read and written with one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstractcore.schema import TOKEN_COUNTS, Billing, Usage

from .json_reading import MAX_COUNT, Object
from .unread_values import note_unread

_TOTAL = "total"


class UsageTable:
    """The counts of `Usage` by their names in a vendor's object, in the order in which they are written.

    A name may be nested: `input_tokens_details.cached_tokens`. `total` is written but not read. `missing` are the
    counts that the vendor does not have. With `cache_apart`, the vendor's input count excludes tokens read from and
    written to a cache. Raises `TypeError` for a name that is not a count, or is nested deeper than once.
    """

    __slots__ = ("_cache_apart", "_groups", "_input", "_read", "missing", "names")

    def __init__(self, names: Mapping[str, str], *, cache_apart: bool = False) -> None:
        unknown = names.keys() - {*TOKEN_COUNTS, _TOTAL}
        if unknown:
            raise TypeError(f"not a count: {sorted(unknown)}")
        if any(field_name.count(".") > 1 for field_name in names.values()):
            raise TypeError(f"nested deeper than once: {sorted(names.values())}")
        groups: dict[str, list[tuple[str, str]]] = {}
        for ours, field_name in names.items():
            group, _, theirs = field_name.rpartition(".")
            groups.setdefault(group, []).append((ours, theirs))
        self._groups = tuple(groups.items())
        self._read = tuple((group, [pair for pair in pairs if pair[0] != _TOTAL]) for group, pairs in groups.items())
        self._cache_apart = cache_apart
        self._input = names.get("input", "")
        self.missing = tuple(name for name in TOKEN_COUNTS if name not in names)
        self.names = frozenset(field_name.partition(".")[0] for field_name in names.values())
        """The vendor's top-level names."""

    def read(self, data: Object, billing: Billing | None = None) -> Usage:
        """Reads the counts; None for those that are not reported or not integers of at least zero."""
        counts: dict[str, Any] = {}
        for group, names in self._read:
            holder = data.get(group) if group else data
            if isinstance(holder, dict):
                for ours, theirs in names:
                    count = holder.get(theirs)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
                    if type(count) is int and 0 <= count < MAX_COUNT:  # pyright: ignore[reportUnknownArgumentType]
                        counts[ours] = count
                    elif count is not None:
                        note_unread(theirs, "a count", count)
            elif holder is not None:
                note_unread(group, "an object", holder)
        if self._cache_apart and "input" in counts:
            counts["input"] += counts.get("cached", 0) + counts.get("cache_written", 0)
        return Usage(**counts, billing=billing)

    def write(self, usage: Usage) -> Object:
        """Returns the object of the reported counts."""
        written: Object = {}
        for group, names in self._groups:
            holder = {} if group else written
            for ours, theirs in names:
                count = getattr(usage, ours)
                if count is not None:
                    holder[theirs] = count
            if group and holder:
                written[group] = holder
        if self._cache_apart and usage.input is not None:
            written[self._input] = usage.input - (usage.cached or 0) - (usage.cache_written or 0)
        return written
