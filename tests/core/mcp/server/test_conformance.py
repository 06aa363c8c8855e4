"""The server scenarios of the MCP conformance suite, against `abstractcore mcp serve`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.mcp.server.served import NO_MODEL, serving_http
from tests.node_packages import conformance

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
DOCS = HERE.parents[3] / "docs/mcp.md"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving_http(*NO_MODEL, "--tool", "conformance_tools") as (_, url):
        yield url


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_conformance_suite_has_the_expected_failures_only(url: str, version: str, tmp_path: Path):
    expected = HERE / f"expected_failures_{version}.yaml"
    done, figures = conformance(
        *("server", "--url", url, "--suite", "all", "--spec-version", version),
        *("--expected-failures", str(expected), "--output-dir", str(tmp_path)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    excused = {entry.partition(":")[0] for entry, _ in _entries(expected)}
    checks = [sum(each[index] for each in figures.values()) for index in (0, 1)]
    stated = re.search(rf"\| {version} \|" + r" (\d+) \|" * 4, DOCS.read_text(encoding="utf-8"))
    assert stated, f"{DOCS} has no figures for {version}"
    assert [*map(int, stated.groups())] == [len(figures), len(figures.keys() - excused), *checks]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_every_expected_failure_has_a_reason(version: str):
    entries = _entries(HERE / f"expected_failures_{version}.yaml")
    assert entries
    assert [entry for entry, reason in entries if len(reason) < 10] == []


def _entries(path: Path) -> list[tuple[str, str]]:
    """The entries of a file, each with its reason."""
    return re.findall(r"^  - (\S+)(?: # (.*))?$", path.read_text(encoding="utf-8"), re.MULTILINE)
