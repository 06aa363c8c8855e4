from __future__ import annotations

from pathlib import Path

import pytest

from abstractcore.concurrency import functions

CPUINFO = "\n\n".join(
    f"processor\t: {number}\nphysical id\t: {number // 4}\ncore id\t\t: {number % 2}\n" for number in range(8)
)


@pytest.mark.parametrize(
    ("allowed", "expected"), [({0, 1, 2, 3, 4, 5, 6, 7}, 4), ({0, 2}, 1), ({0, 1}, 2), ({0, 4}, 2), (set[int](), 0)]
)
def test_hyperthreads_count_once_and_affinity_is_respected(allowed: set[int], expected: int) -> None:
    assert functions._cores(CPUINFO, allowed) == expected


def test_cpuinfo_without_cores_returns_zero() -> None:
    assert functions._cores("processor\t: 0\nBogoMIPS\t: 100.0\n", {0}) == 0


@pytest.mark.parametrize(("limit", "expected"), [("200000 100000\n", 2), ("50000 100000", 1), ("max 100000", 1 << 16)])
def test_container_cpu_limit_is_respected(
    limit: str, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cpu.max").write_text(limit)
    monkeypatch.setattr(functions, "_QUOTA", tmp_path / "cpu.max")
    assert functions._quota() == expected
    assert functions.spare_cores() >= 1
