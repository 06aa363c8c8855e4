"""`EvidenceMap`: the evidence for the values of a typed answer, by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .. import schema
from .immutable import Immutable
from .json_values import check_items


@dataclass(frozen=True, slots=True, eq=True)
class EvidenceMap(Immutable, Mapping[str, "schema.Evidence"]):
    """The evidence for each value of an answer, by its path: "total", "items[0].price"; "value" if it is one value."""

    entries: tuple[schema.Evidence, ...] = ()
    _by_path: dict[str, schema.Evidence] = field(
        init=False, repr=False, compare=False, default_factory=dict[str, "schema.Evidence"]
    )

    def __post_init__(self) -> None:
        if self.entries == ():  # the default of every response, which needs no `Evidence`
            return
        object.__setattr__(self, "entries", check_items(self.entries, schema.Evidence, "entries"))
        self._by_path.update((each.path, each) for each in self.entries)

    def __getitem__(self, path: str) -> schema.Evidence:
        return self._by_path[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_path)

    def __len__(self) -> int:
        return len(self._by_path)

    @property
    def doubtful(self) -> tuple[schema.Evidence, ...]:
        """What is not verified, or has a quote without the value: each has a `reason`."""
        return tuple(each for each in self.entries if each.reason is not None)
