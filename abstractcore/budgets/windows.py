"""The windows of budgets: hours, days, weeks from Monday, and months, all in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple, TypeAlias, cast, get_args

from ..errors import InvalidInputError
from ..schema.base_error import shown

Period: TypeAlias = Literal["hour", "day", "week", "month", "call"]
PERIODS: Final[tuple[str, ...]] = get_args(Period)
_CALL_SECONDS: Final = 86_400.0
"""How long the account of one call is kept."""


class Window(NamedTuple):
    """A window from `begins_at` to `ends_at`, in seconds since the epoch; `name` is a part of accounts' keys."""

    name: str
    begins_at: float
    ends_at: float | None

    def has(self, at: float) -> bool:
        """Whether a time is in it."""
        return self.begins_at <= at and (self.ends_at is None or at < self.ends_at)


_ALWAYS: Final = Window("", float("-inf"), None)


def window_at(period: Period | None, at: float) -> Window:
    """Returns the window that a time is in."""
    if period is None:
        return _ALWAYS
    if period == "call":
        return Window("", float("-inf"), at + _CALL_SECONDS)
    moment = datetime.fromtimestamp(at, UTC)
    hour = moment.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0)
    if period == "hour":
        begin, end, name = hour, hour + timedelta(hours=1), f"{hour:%Y-%m-%dT%H}"
    elif period == "day":
        begin, end, name = day, day + timedelta(days=1), f"{day:%Y-%m-%d}"
    elif period == "week":
        begin = day - timedelta(days=day.weekday())
        end, name = begin + timedelta(days=7), f"{begin:%G-W%V}"
    else:
        begin = day.replace(day=1)
        end, name = (begin + timedelta(days=31)).replace(day=1), f"{begin:%Y-%m}"
    return Window(name, begin.timestamp(), end.timestamp())


def check_period(given: object) -> Period | None:
    """Returns a period; raises `InvalidInputError` for another value."""
    if given is None or (isinstance(given, str) and given in PERIODS):
        return cast("Period | None", given)
    raise InvalidInputError(
        f"expected {', '.join(map(repr, PERIODS))} or None, got {shown(given)}",
        path="per",
        hint="For example: per='day'.",
    )
