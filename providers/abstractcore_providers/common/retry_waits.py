"""The time a server asks to wait before a retry, read from and written to header fields (RFC 9110)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_LONGEST_WAIT = 10.0**9


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds to wait, from milliseconds, seconds, or a date (relative to the response's date, as in RFC
    9110).
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _seconds(value)
    if seconds is not None or value is None:
        return seconds
    try:
        sent = parsedate_to_datetime(headers["date"])
        return max(0.0, (parsedate_to_datetime(value) - sent).total_seconds())
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _seconds(value: str | None) -> float | None:
    """Returns a finite number of at least zero; None for anything else."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def wait_headers(seconds: float | None) -> dict[str, str]:
    """Returns the wait in whole seconds, and in milliseconds for clients that read them; rounded up."""
    if seconds is None or not math.isfinite(seconds):
        return {}
    seconds = min(max(seconds, 0.0), _LONGEST_WAIT)
    return {
        "retry-after": str(math.ceil(seconds)),
        "retry-after-ms": str(math.ceil(round(seconds * 1000, 3))),
    }
