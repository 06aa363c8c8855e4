"""Sums of the token counts of several answers, as objects of any API."""

from __future__ import annotations

from typing import Any, cast


def summed(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Returns the sum of two objects with counts, whatever their depth."""
    return one | {name: _sum(one.get(name), value) for name, value in other.items()}


def _sum(mine: object, value: object) -> object:
    if isinstance(mine, dict) and isinstance(value, dict):
        return summed(cast("dict[str, Any]", mine), cast("dict[str, Any]", value))
    if isinstance(mine, int | float) and isinstance(value, int | float):
        return mine + value
    return value if mine is None else mine  # pyright: ignore[reportUnknownVariableType]
