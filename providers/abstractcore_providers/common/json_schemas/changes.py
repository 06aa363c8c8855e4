"""What was changed in a schema, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .rules import Effect

_MOST_SHOWN = 8


class Change(NamedTuple):
    """One rewriting, with its place in the schema, as in `$.properties.size.oneOf`."""

    place: str
    what: str
    effect: Effect


@dataclass(slots=True)
class Changes:
    """The changes of one schema, in the order in which they were made, and how many schemas it is made of."""

    made: list[Change] = field(default_factory=list[Change])
    parts: int = 0

    def begin_again(self) -> None:
        """Forget everything."""
        self.made.clear()
        self.parts = 0

    def same(self, place: str, what: str) -> None:
        """It means the same as before."""
        self.made.append(Change(place, what, "same"))

    def narrower(self, place: str, what: str) -> None:
        """Less is accepted, and nothing that was not before."""
        self.made.append(Change(place, what, "narrower"))

    def looser(self, place: str, what: str) -> None:
        """More is accepted."""
        self.made.append(Change(place, what, "looser"))

    @property
    def effect(self) -> Effect:
        """The worst of all."""
        effects = {change.effect for change in self.made}
        return "looser" if "looser" in effects else "narrower" if "narrower" in effects else "same"

    def __str__(self) -> str:
        """What loosens the schema, or all if nothing does."""
        told = [change for change in self.made if change.effect == "looser"] or self.made
        shown = "; ".join(f"{change.place} {change.what}" for change in told[:_MOST_SHOWN])
        left = len(told) - _MOST_SHOWN
        return f"{shown}; and {left} more" if left > 0 else shown
