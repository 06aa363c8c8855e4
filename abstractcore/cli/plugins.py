"""`abstractcore plugins`: what is plugged in."""

from __future__ import annotations

from collections.abc import Iterable

import abstractcore

from .reporting import reported
from .screen import note, show_table


def show_plugins() -> None:
    """A table of all plugins; broken ones are shown with their error, and counted at the end."""
    with reported():
        reports = abstractcore.Registry.from_entry_points().reports
        broken = [report.name for report in reports if report.error is not None]
        show_table(
            ("plugin", "from", "registered", *(("error",) if broken else ())),
            [
                (
                    report.name,
                    report.distribution,
                    _by_kind(report.registered),
                    *((report.error or "",) if broken else ()),
                )
                for report in reports
            ],
        )
        if broken:
            note(f"broken: {', '.join(broken)}")


def _by_kind(registered: Iterable[str]) -> str:
    """`provider a`, `provider b` as `provider a, b`."""
    kinds: dict[str, list[str]] = {}
    for entry in registered:
        kind, _, name = entry.rpartition(" ")
        kinds.setdefault(kind, []).append(name)
    return "; ".join(f"{kind} {', '.join(names)}" for kind, names in kinds.items())
