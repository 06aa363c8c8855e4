"""`ChoiceMasses`: how much probability each choice has, as far as the reported tokens tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_TOLERANCE = 0.01
"""Probabilities that could be further off are not given; means neither, as a part of the range of scores."""


class ChoiceMasses:
    """The probability of each name: `own` is that of the tokens that only this name continues with, `shared` that of
    tokens that each of several names continues with, `unreported` that of all tokens that were not reported.

    What was not reported belongs to the names that no reported token leads to; if there are none, to no name.
    """

    def __init__(
        self, own: Mapping[str, float], shared: Sequence[tuple[Sequence[str], float]], unreported: float
    ) -> None:
        reached = {name for names, _ in shared for name in names}
        unseen = [name for name, mass in own.items() if mass == 0 and name not in reached]
        self._own = own
        self._unreported = unreported if unseen else 0.0
        self._shared = [*shared, (unseen, unreported)] if self._unreported else shared
        self._total = sum(own.values()) + sum(mass for _, mass in self._shared)

    def probabilities(self) -> dict[str, float] | None:
        """Returns the probabilities that are known to within a hundredth; None if nothing is."""
        if not self._total > self._unreported:
            return None
        return {name: value for name in self._own if (value := self._known(name)) is not None}

    def mean(self, values: Mapping[str, int]) -> float | None:
        """Returns the mean of the names' values if it is known to within a hundredth of their range."""
        if not self._total > self._unreported:
            return None
        lowest = highest = sum(mass * values[name] for name, mass in self._own.items())
        for names, mass in self._shared:
            lowest += mass * min(values[name] for name in names)
            highest += mass * max(values[name] for name in names)
        distance = max(values.values()) - min(values.values())
        is_known = (highest - lowest) / self._total / 2 <= _TOLERANCE * distance
        return (lowest + highest) / self._total / 2 if is_known else None

    def _known(self, name: str) -> float | None:
        own = self._own[name]
        possible = [(names, mass) for names, mass in self._shared if name in names]
        lowest = own / self._total
        highest = (own + sum(mass for _, mass in possible)) / self._total
        if own:  # what was not reported may be no choice at all
            highest = max(highest, own / (self._total - self._unreported))
        middle = (own + sum(mass / len(names) for names, mass in possible)) / self._total
        return middle if max(highest - middle, middle - lowest) <= _TOLERANCE else None
