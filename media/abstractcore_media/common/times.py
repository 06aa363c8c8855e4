"""Times in recordings, as texts."""

from __future__ import annotations


def clock(seconds: float) -> str:
    """Returns minutes and seconds, rounded down, with hours if there are any: "00:12", "1:02:03"."""
    whole = max(0, int(seconds))
    minutes = f"{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{whole // 3600}:{minutes}" if whole >= 3600 else minutes


def span(start: float, end: float) -> str:
    """Returns the times of a part of a recording: "00:05-00:10"."""
    return f"{clock(start)}-{clock(end)}"
