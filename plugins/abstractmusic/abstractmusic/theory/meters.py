"""`Meter`: a time signature, its beats and their strength. Time is counted in sixteenths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from abstractcore import InvalidInputError

SIXTEENTHS_PER_QUARTER = 4
_UNITS = (2, 4, 8)
_MOST_BEATS = 12
_ODD_GROUPS = {5: (4, 6), 7: (4, 4, 6)}
"""Beats of 5/8 and 7/8, in sixteenths."""


@dataclass(frozen=True)
class Meter:
    """A time signature. Raises `InvalidInputError` for signatures other than 1 to 12 over 2, 4 or 8."""

    count: int = 4
    unit: int = 4

    def __post_init__(self) -> None:
        if self.unit not in _UNITS or not 1 <= self.count <= _MOST_BEATS:
            raise InvalidInputError(
                f"{self.count}/{self.unit} cannot be composed in",
                path="meter",
                hint="Write 1 to 12 over 2, 4 or 8: '3/4'.",
            )

    @classmethod
    def parse(cls, text: str) -> Meter:
        """Returns the meter of a text such as `6/8`. Raises `InvalidInputError`."""
        found = re.fullmatch(r"\s*(\d{1,2})\s*/\s*(\d{1,2})\s*", text[:40])
        if found is None:
            raise InvalidInputError(f"no time signature is written {text[:40]!r}", path="meter", hint="Like '3/4'.")
        return cls(int(found[1]), int(found[2]))

    @property
    def name(self) -> str:
        """As in `6/8`."""
        return f"{self.count}/{self.unit}"

    @property
    def bar(self) -> int:
        """Sixteenths in a bar."""
        return self.count * 16 // self.unit

    @cached_property
    def beats(self) -> tuple[int, ...]:
        """The lengths of the beats of a bar, in sixteenths: dotted quarters in 6/8."""
        if self.unit == 8 and self.count % 3 == 0:
            return (6,) * (self.count // 3)
        if self.unit == 8 and self.count in _ODD_GROUPS:
            return _ODD_GROUPS[self.count]
        return (16 // self.unit,) * self.count

    @property
    def pulse(self) -> int:
        """The sixteenths that the tempo counts: a dotted quarter in 6/8, else the written unit, or a quarter in 5/8."""
        return self.beats[0]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the beats begin in the bar, in sixteenths."""
        return tuple(sum(self.beats[:index]) for index in range(len(self.beats)))

    def strength(self, position: int) -> int:
        """Returns the weight of a position in the bar: 3 for its beginning, 2 for its middle, 1 for beats, else 0."""
        position %= self.bar
        if position == 0:
            return 3
        if position not in self.starts:
            return 0
        return 2 if len(self.beats) % 2 == 0 and position == self.starts[len(self.beats) // 2] else 1
