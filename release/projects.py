"""The distributions of this repository, and what `uv.lock` has for each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROJECTS = (
    ROOT,
    *(file.parent for folder in ("packages", "plugins") for file in sorted(ROOT.glob(f"{folder}/*/pyproject.toml"))),
)
"""The folders of what is distributed, the core first, each with its `pyproject.toml`."""
TESTS_EXTRA = "test"
"""The extra for those who test: no distribution needs it."""


@dataclass(frozen=True)
class Project:
    """A distribution of this repository, as its `pyproject.toml` describes it."""

    folder: Path
    name: str
    version: str
    requirements: tuple[str, ...]
    extras: Mapping[str, tuple[str, ...]]


def project(folder: Path) -> Project:
    """Reads the `pyproject.toml` of a folder."""
    table = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name: tuple(rows) for name, rows in table.get("optional-dependencies", {}).items()}
    return Project(folder, table["name"], table["version"], tuple(table["dependencies"]), extras)


def projects() -> list[Project]:
    """Reads all of them."""
    return [project(folder) for folder in PROJECTS]


def locked_base(name: str) -> set[str]:
    """Returns the names of what a distribution requires on any platform, with what those require."""
    return _closure(_locked()[name][0].get("dependencies", []))


def locked_extra(name: str, extra: str) -> set[str]:
    """Returns the same for what one of its extras adds."""
    return _closure(_locked()[name][0].get("optional-dependencies", {}).get(extra, []))


@cache
def _locked() -> dict[str, list[dict[str, Any]]]:
    """The packages of `uv.lock` by name: one may have a version for each Python."""
    found: dict[str, list[dict[str, Any]]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]:
        found.setdefault(package["name"], []).append(package)
    return found


def _closure(rows: Iterable[dict[str, Any]]) -> set[str]:
    waiting, seen = list(rows), set[tuple[str, tuple[str, ...]]]()
    while waiting:
        row = waiting.pop()
        key = (row["name"], tuple(row.get("extra", ())))
        if key in seen:
            continue
        seen.add(key)
        for package in _locked()[row["name"]]:
            waiting += package.get("dependencies", [])
            for extra in row.get("extra", ()):
                waiting += package.get("optional-dependencies", {}).get(extra, [])
    first_party = {each.name for each in projects()}
    return {name for name, _ in seen} - first_party
