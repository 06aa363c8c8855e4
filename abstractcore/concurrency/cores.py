"""The number of processor cores for a model on this machine."""

from __future__ import annotations

import os
from collections.abc import Set
from functools import cache
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def spare_cores() -> int:
    """Returns the physical cores this process may use, minus one for everything else; at least 1."""
    return max(1, min(_physical_cores(), _quota()) - 1)


def _physical_cores() -> int:
    if not hasattr(os, "sched_getaffinity"):
        return (os.cpu_count() or 2) // 2
    allowed = frozenset(os.sched_getaffinity(0))
    return _cores_among(allowed) or len(allowed)


@cache
def _cores_among(allowed: frozenset[int]) -> int:
    return _cores(_read(_CPUINFO), allowed)


def _cores(cpuinfo: str, allowed: Set[int]) -> int:
    """Returns the distinct cores in the text of /proc/cpuinfo; 0 if it lists none, as on ARM."""
    cores: set[tuple[str, str]] = set()
    for block in cpuinfo.split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        fields = {name.strip(): value.strip() for name, _, value in pairs}
        if "core id" in fields and int(fields["processor"]) in allowed:
            cores.add((fields.get("physical id", "0"), fields["core id"]))
    return len(cores)


def _quota() -> int:
    """Returns the whole cores of a container's limit; a very large number without a limit."""
    limit, _, period = _read(_QUOTA).strip().partition(" ")
    return max(1, int(limit) // int(period)) if limit.isdigit() and period.isdigit() else 1 << 16


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
