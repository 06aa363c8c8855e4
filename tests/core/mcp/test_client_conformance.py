"""The client scenarios of the MCP conformance suite, against `MCPTools`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.node_packages import conformance

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs/mcp.md"
EXPECTED = {"2025-11-25": ["--expected-failures", str(HERE / "expected_client_failures_2025-11-25.yaml")]}
_PATIENCE_MS = "280000"  # all scenarios start at once


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The command that runs one scenario."""
    path = tmp_path_factory.mktemp("client") / "socket"
    arguments = [sys.executable, str(HERE / "conformance_client.py"), str(path)]
    client = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        yield f"exec {sys.executable} -I -S {HERE / 'conformance_call.py'} {path}"
    finally:
        client.kill()
        client.communicate()


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_conformance_suite_has_the_expected_failures_only(command: str, version: str, tmp_path: Path):
    done, figures = conformance(
        *("client", "--command", command),
        *("--suite", "all", "--spec-version", version, "--timeout", _PATIENCE_MS),
        *(*EXPECTED.get(version, ()), "--output-dir", str(tmp_path)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = sum(failed == 0 for _, failed in figures.values())
    checks = [sum(each[index] for each in figures.values()) for index in (0, 1)]
    stated = re.search(rf"\| client, {version} \|" + r" (\d+) \|" * 4, DOCS.read_text(encoding="utf-8"))
    assert stated, f"{DOCS} has no figures for the client and {version}"
    assert [*map(int, stated.groups())] == [len(figures), passed, *checks]
