"""The table of the crash matrix, as a pytest plugin: what was survived, in which database, at the end of a run."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

PROPERTY: Final = "crash matrix"
"""The property of a test: its row, its column, and how many crashes were survived, of how many."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the table, if tests of it have run."""
    survived, tried = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "teardown":
                for row, column, good, count in (value for name, value in report.user_properties if name == PROPERTY):
                    survived[row, column] += good
                    tried[row, column] += count
    if not tried:
        return
    rows = sorted(dict.fromkeys(row for row, _ in tried), key=lambda row: row.partition(":")[0])
    columns = sorted({column for _, column in tried}, reverse=True)
    width = max(map(len, rows))
    terminalreporter.section("crash matrix: survived")
    terminalreporter.write_line(" ".join([" " * width, *(f"{column:>13}" for column in columns)]).rstrip())
    for row in rows:
        cells = [
            f"{survived[row, column]} of {tried[row, column]}" if tried[row, column] else "-" for column in columns
        ]
        terminalreporter.write_line(" ".join([f"{row:{width}}", *(f"{cell:>13}" for cell in cells)]))
