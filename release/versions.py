"""Runs the cheap tests of the kernel with each supported Python, and the oldest and the newest dependencies that are
allowed: `python -m release.versions [3.12 3.14 ...]`. A Python that is not on this machine is named, which is not a
failure.

The oldest ones are what the distributions of this repository and their extras require; tools of tests stay new.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from release.projects import PROJECTS, ROOT, TESTS_EXTRA, projects

AGES = {"oldest": "lowest-direct", "newest": "highest"}
"""Which of the allowed dependencies are installed, and what uv calls it."""
_FOLDER = ROOT / ".cache" / "versions"
_UV = (sys.executable, "-m", "uv", "--quiet")
_WHEELS = ("--only-binary=:all:", "--no-binary=gruut-lang-en", "--no-binary=odfpy")
"""No package is compiled, which needs headers of the system. These two have no wheel, and nothing to compile."""
_TOGETHER = "opentelemetry-"
"""Tools of tests with this name are released with what they are used with, and fit that version only."""


class Outcome(NamedTuple):
    """What came of a Python with dependencies of an age."""

    version: str
    age: str
    passed: bool | None
    """None if this Python is not here."""
    line: str
    """The last line of pytest, or why it did not run."""


def supported() -> list[str]:
    """Returns the versions of Python in the classifiers of the core, such as 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in project["classifiers"]]
    return [each[1] for each in found if each]


def oldest_requirements() -> list[str]:
    """Returns what the distributions require of others, with all extras but those for their tests; and tools that fit
    one version only.
    """
    names = {each.name for each in projects()}
    rows: set[str] = set()
    for each in projects():
        rows.update(each.requirements, *(rows for extra, rows in each.extras.items() if extra != TESTS_EXTRA))
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    rows.update(row for row in groups["dev"] if row.startswith(_TOGETHER))
    return sorted(row for row in rows if re.split(r"[^\w-]", row)[0] not in names)


def interpreter(version: str) -> Path | None:
    """Returns the path of a Python of this machine, which is not downloaded."""
    found = _try(sys.executable, "-m", "uv", "python", "find", "--no-project", "--no-python-downloads", version)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def environment(python: Path, version: str, age: str) -> Path:
    """Makes the environment, or brings a former one up to date; returns its Python."""
    folder = _FOLDER / f"{version}-{age}"
    folder.mkdir(parents=True, exist_ok=True)
    projects = [str(each / "pyproject.toml") for each in PROJECTS]
    compiled = ["pip", "compile", "--python", str(python), *_WHEELS, "--no-header"]
    options = ["--all-extras", "--group", "dev", *(f"--no-emit-package={each.name}" for each in PROJECTS)]
    if age == "oldest":
        wanted, oldest = folder / "wanted.in", folder / "oldest.txt"
        wanted.write_text("\n".join(oldest_requirements()), encoding="utf-8")
        _run(*_UV, *compiled, str(wanted), "--resolution", AGES[age], "-o", str(oldest))
        options += ["--override", str(oldest)]
    locked = folder / "locked.txt"
    _run(*_UV, *compiled, *projects, *options, "--no-emit-package=abstractcore", "--upgrade", "-o", str(locked))
    made = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not made.exists():
        _run(*_UV, "venv", "--python", str(python), str(folder / "venv"))
    _run(*_UV, "pip", "sync", "--python", str(made), *_WHEELS, str(locked))
    editable = [argument for each in PROJECTS for argument in ("--editable", str(each))]
    _run(*_UV, "pip", "install", "--python", str(made), "--no-deps", *editable)
    return made


def outcome(version: str, age: str, tests: list[str]) -> Outcome:
    """Runs the tests, or says why they cannot run."""
    python = interpreter(version)
    if python is None:
        return Outcome(version, age, None, f"no Python {version} on this machine")
    try:
        made = environment(python, version, age)
    except subprocess.CalledProcessError as error:
        return Outcome(version, age, False, f"uv failed: {error.stderr.strip()}")
    output = _FOLDER / f"{version}-{age}" / "pytest.log"
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = [str(made), "-m", "pytest", "-q", "-n", "2", "-m", "fast", *tests]
    with output.open("w", encoding="utf-8") as log:
        ended = subprocess.run(command, cwd=ROOT, env=variables, stdout=log, stderr=log, check=False)
    lines = output.read_text("utf-8").splitlines() or ["pytest printed nothing"]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return Outcome(version, age, ended.returncode == 0, "\n".join([lines[-1].strip("= "), *failed]))


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


def _try(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def main(arguments: Iterable[str]) -> int:
    """Prints a row for each Python and age; returns 1 if one failed, or if none was there."""
    parser = argparse.ArgumentParser(prog="python -m release.versions", description=__doc__)
    parser.add_argument(
        "versions", nargs="*", metavar="VERSION", help="such as 3.12; all that are supported unless given"
    )
    parser.add_argument("--age", choices=AGES, action="append", help="both unless given")
    parser.add_argument("--tests", default="tests/core", help="folders and modules, separated by spaces")
    chosen = parser.parse_args(list(arguments))
    outcomes: list[Outcome] = []
    for version in chosen.versions or supported():
        for age in chosen.age or AGES:
            outcomes.append(outcome(version, age, chosen.tests.split()))
            shown = {True: "passed", False: "FAILED", None: "missing"}[outcomes[-1].passed]
            sys.stdout.write(f"{version:6}{age:8}{shown:9}{outcomes[-1].line}\n")
            sys.stdout.flush()
    return int(any(each.passed is False for each in outcomes) or all(each.passed is None for each in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
