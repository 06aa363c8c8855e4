"""Times as users write them: "7d", "2026-11-01", a datetime, or seconds since the epoch."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, TypeAlias

from ..errors import InvalidInputError
from ..schema.base_error import shown

When: TypeAlias = datetime | float | str | None
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO = re.compile(r"(\d{1,9})\s*([smhdw])")


def seconds_of(when: When, path: str, now: float) -> float | None:
    """Returns seconds since the epoch. A date without a time zone is in UTC; "7d" is seven days ago.

    Raises `InvalidInputError` for a value in none of these forms.
    """
    if when is None:
        return None
    if isinstance(when, datetime):
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    if isinstance(when, int | float) and not isinstance(when, bool) and abs(when) < 1e18:
        return float(when)
    if isinstance(when, str):
        ago = _AGO.fullmatch(when.strip())
        if ago is not None:
            return now - int(ago[1]) * _SECONDS[ago[2]]
        with suppress(ValueError):
            return seconds_of(datetime.fromisoformat(when.strip()), path, now)
    hint = "Write '7d', '12h', '2026-11-01', a datetime, or seconds since the epoch."
    raise InvalidInputError(f"{shown(when)} is not a time", path=path, hint=hint)
