"""What the page asks for: the parameters of its requests, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast, get_args

from abstractcore.errors import InvalidInputError

_HOUR: Final = 3_600
_RANGES: Final = {"1h": _HOUR, "1d": _HOUR, "7d": 6 * _HOUR, "30d": 24 * _HOUR, "90d": 24 * _HOUR, "all": 24 * _HOUR}
"""The ranges of time, each with the seconds between two points of its charts."""
_MOST_SKIPPED: Final = 10_000_000
Order = Literal["newest", "dearest", "slowest"]


@dataclass(frozen=True, slots=True)
class SummaryQuery:
    """Sums of a time, for each `step` of seconds, by "model", "provider" or a tag such as "tag:team"."""

    since: str | None
    step: int
    by: str

    @classmethod
    def of(cls, values: Mapping[str, str]) -> SummaryQuery:
        """Returns the query of parameters; raises `InvalidInputError` for another range or group."""
        _check_texts(values)
        since = values.get("since", "7d")
        by = values.get("by", "model")
        if by not in ("model", "provider") and (not by.startswith("tag:") or by == "tag:"):
            raise InvalidInputError(f"expected model, provider or tag:NAME, got {by[:100]!r}", path="by")
        return cls(_since(since), _RANGES[since], by)


@dataclass(frozen=True, slots=True)
class CallsQuery:
    """A page of calls."""

    since: str | None
    until: float | None = None
    model: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    failed: bool | None = None
    text: str | None = None
    order: Order = "newest"
    skip: int = 0

    @classmethod
    def of(cls, values: Mapping[str, str]) -> CallsQuery:
        """Returns the query of parameters; raises `InvalidInputError` for invalid ones."""
        _check_texts(values)
        order = values.get("order", "newest")
        if order not in get_args(Order):
            raise InvalidInputError(f"expected newest, dearest or slowest, got {order[:100]!r}", path="order")
        skip = values.get("skip", "0")
        if not (skip.isascii() and skip.isdecimal()) or len(skip) > 8 or int(skip) > _MOST_SKIPPED:
            raise InvalidInputError(f"expected a number up to {_MOST_SKIPPED}, got {skip[:100]!r}", path="skip")
        return cls(
            _since(values.get("since", "7d")),
            _number(values.get("until")),
            values.get("model") or None,
            _tags(values.get("tag", "")),
            True if values.get("failed") else None,
            values.get("text", "").strip() or None,
            cast(Order, order),
            int(skip),
        )


def _check_texts(values: Mapping[str, str]) -> None:
    """Raises `InvalidInputError` for a text that no database can hold."""
    for name, value in values.items():
        if "\0" in value:
            raise InvalidInputError("the character U+0000 is not allowed", path=name)


def _since(name: str) -> str | None:
    if name not in _RANGES:
        raise InvalidInputError(f"expected {', '.join(_RANGES)}, got {name[:100]!r}", path="since")
    return None if name == "all" else name


def _number(text: str | None) -> float | None:
    """Returns seconds since the epoch."""
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 <= number < 1e12:
        raise InvalidInputError(f"expected seconds since the epoch, got {text[:100]!r}", path="until")
    return number


def _tags(text: str) -> Mapping[str, str]:
    if not text:
        return {}
    name, separator, value = text.partition("=")
    if not name or not separator:
        raise InvalidInputError(f"expected NAME=VALUE, got {text[:100]!r}", path="tag")
    return {name: value}
