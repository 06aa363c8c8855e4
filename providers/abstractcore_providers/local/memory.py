"""How much memory a model needs and the machine has, for the hints of errors. On Linux only."""

from __future__ import annotations

import re
from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CONTAINER_USE = Path("/sys/fs/cgroup/memory.current")
_MEBIBYTE = 1 << 20
_SHARE_BESIDE_WEIGHTS = 0.6
"""llama.cpp rearranges quantized weights for the processor, in memory of its own, and has buffers: measured with
SmolLM2 (0.6 of the weights) and Qwen2.5-Coder 1.5B (0.6). The context is not in it.
"""


def memory_hint(weights: Path) -> str:
    """Returns a sentence with the memory that weights need and what is free now; empty if that is unknown."""
    free = available_memory()
    try:
        size = weights.stat().st_size
    except OSError:
        return ""
    if free is None:
        return ""
    needed = round(size * (1 + _SHARE_BESIDE_WEIGHTS) / _MEBIBYTE)
    return f"The model needs about {needed:,} MiB of memory and its context more; {free // _MEBIBYTE:,} MiB are free."


def available_memory() -> int | None:
    """Returns the bytes that a new process can use, within the limits of the container and of `ulimit -v`; None if
    unknown.
    """
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB$", _MEMORY.read_text(), re.MULTILINE)
    except OSError:
        return None
    if found is None:
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    free = int(found[1]) * 1024
    if limit != resource.RLIM_INFINITY:
        free = min(free, limit)
    try:
        # "max" if there is no limit
        return max(0, min(free, int(_CONTAINER_LIMIT.read_text()) - int(_CONTAINER_USE.read_text())))
    except (OSError, ValueError):
        return free
