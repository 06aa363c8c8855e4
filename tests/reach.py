"""Compares the lines that `make test` reaches with those that all tests reach: `python -m tests.reach`.

Child processes are counted too, but for those that are killed and those of other environments. Runs take about twice as
long as without coverage.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from coverage import Coverage, CoverageData

ROOT = Path(__file__).parents[1]
_FOLDER = ROOT / "build" / "coverage"
_LEAST = 0.9
_ABOVE_PACKAGES = {"cli": 1, "media": 1, "packages": 2, "plugins": 2, "providers": 1, "server": 1}
"""How many folders are above the packages in a folder of the project."""
_TIERS = {"fast": "fast", "rest": "not fast"}


def run(tier: str) -> None:
    """Runs the tests of a tier, and keeps the lines that they reach. Failed tests are reported, and end nothing."""
    for old in _FOLDER.glob(f"{tier}*"):
        old.unlink()
    environment = {**os.environ, "COVERAGE_FILE": str(_FOLDER / tier)}
    python = [sys.executable, "-m"]
    pytest = ["pytest", "-n", "2", "-q", "-m", _TIERS[tier]]
    subprocess.run([*python, "coverage", "run", *["-m", *pytest]], cwd=ROOT, env=environment, check=False)
    subprocess.run([*python, "coverage", "combine", "--quiet"], cwd=ROOT, env=environment, check=True)


def lines(tier: str) -> dict[str, set[int]]:
    """Returns the lines that a tier has reached, by file."""
    data = CoverageData(str(_FOLDER / tier))
    data.read()
    return {file: set(data.lines(file) or ()) for file in data.measured_files()}


def package(file: str) -> str:
    """Returns the package that a file is counted for: two names at most."""
    parts = Path(file).relative_to(ROOT).parts
    return ".".join(parts[_ABOVE_PACKAGES.get(parts[0], 0) : -1][:2])


def report() -> bool:
    """Prints a row for each package; returns whether the goal is met."""
    fast, rest = lines("fast"), lines("rest")
    coverage = Coverage(data_file=None)
    rows: dict[str, list[int]] = {}
    for file in sorted({*fast, *rest}):
        statements = set(coverage.analysis2(file)[1])
        here = fast.get(file, set()) & statements
        everywhere = here | rest.get(file, set()) & statements
        for name in (package(file), "all"):
            row = rows.setdefault(name, [0, 0, 0])
            row[:] = [row[0] + len(statements), row[1] + len(everywhere), row[2] + len(here)]
    table = [f"{'package':44}{'statements':>12}{'all tests':>12}{'make test':>12}{'of them':>9}"]
    for name, (statements, everywhere, here) in sorted(rows.items()):
        table.append(f"{name:44}{statements:12,}{everywhere:12,}{here:12,}{here / max(everywhere, 1):9.1%}")
    sys.stdout.write("\n".join(table) + "\n")
    _, everywhere, here = rows["all"]
    return here >= _LEAST * everywhere and all(row[2] for row in rows.values())


def main(arguments: Iterable[str]) -> int:
    """Returns 1 if `make test` reaches too little."""
    parser = argparse.ArgumentParser(prog="python -m tests.reach", description=__doc__)
    parser.add_argument("--only", choices=_TIERS, help="run these again, and compare with the last run of the others")
    only = parser.parse_args(list(arguments)).only
    _FOLDER.mkdir(parents=True, exist_ok=True)
    for tier in [only] if only else _TIERS:
        run(tier)
    return 0 if report() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
