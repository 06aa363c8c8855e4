"""The client scenarios of the MCP conformance suite, against `MCPTools`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.node_packages import conformance

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs/mcp.md"
EXPECTED = {"2025-11-25": ["--expected-failures", str(HERE / "expected_client_failures_2025-11-25.yaml")]}
_PATIENCE_MS = "280000"  # all scenarios start at once


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_conformance_suite_has_the_expected_failures_only(version: str, tmp_path: Path):
    done, figures = conformance(
        *("client", "--command", f"exec {sys.executable} {HERE / 'conformance_client.py'}"),
        *("--suite", "all", "--spec-version", version, "--timeout", _PATIENCE_MS),
        *(*EXPECTED.get(version, ()), "--output-dir", str(tmp_path)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = sum(failed == 0 for _, failed in figures.values())
    checks = [sum(each[index] for each in figures.values()) for index in (0, 1)]
    stated = re.search(rf"\| client, {version} \|" + r" (\d+) \|" * 4, DOCS.read_text(encoding="utf-8"))
    assert stated, f"{DOCS} has no figures for the client and {version}"
    assert [*map(int, stated.groups())] == [len(figures), passed, *checks]
