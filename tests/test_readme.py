"""The tables of the README match the code."""

from __future__ import annotations

import re
import tomllib

import abstractcore
from abstractcore.registry import Registry
from tests.documents import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def first_column(header: str) -> set[str]:
    """The names in the first column of the table that begins with `header`."""
    table = README.split(f"| {header} |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))


def test_provider_table_matches_the_registry() -> None:
    assert first_column("provider") == set(Registry.from_entry_points().providers)


def test_tables_of_extras_and_policies_match_the_code() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert first_column("extra") <= set(extras)
    assert first_column("policy") == {"auto", "native", "fallback_only", "refuse"}


def test_error_tree_names_existing_errors() -> None:
    tree = README.split("AbstractCoreError\n|-")[1].split("```")[0]
    named = set(re.findall(r"\w+Error\b", tree))
    assert named <= set(abstractcore.__all__)
    own = [cls for cls in abstractcore.ProviderError.__subclasses__() if cls.__module__.startswith("abstractcore.")]
    assert named >= {cls.__name__ for cls in own if not cls.__name__.startswith("_")}
