"""The backends of voice, audio, vision and music in `abstractcore plugins`: which one is used, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ports import CAPABILITIES, BackendEntry

if TYPE_CHECKING:
    from ..registry import Registry


def backend_rows(registry: Registry) -> list[dict[str, object]]:
    """Returns a row for each backend, the one that is used first, with the reason."""
    return [
        {
            "capability": entry.capability,
            "backend": entry.backend_id,
            "distribution": entry.distribution,
            "priority": entry.priority,
            "used": index == 0,
            "reason": _reason(entries) if index == 0 else "",
            "description": entry.description,
            "install_hint": entry.install_hint,
            "config_hint": entry.config_hint,
        }
        for entries in map(registry.backends.of, CAPABILITIES)
        for index, entry in enumerate(entries)
    ]


def backend_table(rows: Sequence[dict[str, object]]) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Returns headers and rows."""
    headers = ("capability", "backend", "from", "used", "description")
    return headers, [
        (
            str(row["capability"]),
            str(row["backend"]),
            str(row["distribution"]),
            f"yes: {row['reason']}" if row["used"] else f"with {row['capability']}_backend=...",
            str(row["description"]),
        )
        for row in rows
    ]


def _reason(entries: Sequence[BackendEntry]) -> str:
    """Returns why the first of these is used."""
    if len(entries) == 1:
        return "the only one"
    first, second = entries[:2]
    return "highest priority" if first.priority > second.priority else "first by name"
