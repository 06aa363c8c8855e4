"""What a run may use, and what it has used."""

from __future__ import annotations

from typing import Final

from abstractcore.errors import InvalidInputError

from .programs import Program
from .records import Limits, Spent

_NEAR: Final = 0.8
"""The share of a limit at which the ledger gets a warning."""


def limits_of(program: Program | None) -> Limits:
    """Returns the limits of runs of a program that are started without others: its attribute `limits`, if it has one.

    Raises `InvalidInputError` for an attribute of another type.
    """
    limits = getattr(program, "limits", None) or Limits()
    if not isinstance(limits, Limits):
        raise InvalidInputError(f"expected Limits, got {type(limits).__name__}", path="program.limits")
    return limits


def exceeded(limits: Limits, spent: Spent, seconds: float) -> str | None:
    """Returns which limit a run has reached, `seconds` after its creation, as a message; None without one."""
    for name, limit, used in _pairs(limits, spent, seconds):
        if used >= limit:
            return f"the run has used {used:,g} {name} of {limit:,g}"
    return None


def warnings(limits: Limits, before: Spent, after: Spent) -> list[str]:
    """Returns the names of the limits of which 80 % were reached between two states, apart from that of time."""
    reached = {name for name, limit, used in _pairs(limits, before, 0) if used >= _NEAR * limit}
    now = [name for name, limit, used in _pairs(limits, after, 0) if used >= _NEAR * limit]
    return [name for name in now if name not in reached]


def _pairs(limits: Limits, spent: Spent, seconds: float) -> list[tuple[str, float, float]]:
    pairs = (
        ("steps", limits.steps, spent.steps),
        ("tokens", limits.tokens, spent.tokens),
        ("dollars", limits.dollars, spent.dollars),
        ("seconds", limits.seconds, seconds),
    )
    return [(name, float(limit), float(used)) for name, limit, used in pairs if limit is not None]
