"""The tables of providers, extras, policies and errors on the pages match the code."""

from __future__ import annotations

import inspect
import re
import tomllib
from typing import Protocol

import abstractcore
from abstractcore import ports
from abstractcore.registry import Registry, hooks
from tests.documents import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def first_column(name: str, header: str) -> set[str]:
    """The names in the first column of the table of a page that begins with `header`."""
    table = page(name).split(f"| {header} |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))


def test_table_of_providers_is_that_of_the_registry() -> None:
    assert first_column("providers.md", "provider") == set(Registry.from_entry_points().providers)


def test_table_of_extras_has_all_of_them() -> None:
    assert first_column("installing.md", "extra") == set(EXTRAS) - {"test"}


def test_table_of_policies_has_all_of_them() -> None:
    assert first_column("files.md", "policy") == {"auto", "native", "fallback_only", "refuse"}


def test_tree_of_errors_names_those_that_there_are() -> None:
    tree = page("errors.md").split("AbstractCoreError\n|-")[1].split("```")[0]
    named = set(re.findall(r"\w+Error\b", tree))
    assert named <= set(abstractcore.__all__)
    own = [cls for cls in abstractcore.ProviderError.__subclasses__() if cls.__module__.startswith("abstractcore.")]
    assert named >= {cls.__name__ for cls in own if not cls.__name__.startswith("_")}


def test_attributes_of_errors_are_those_of_the_class() -> None:
    table = page("errors.md").split("| attribute | what it is |")[1].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert "hint" in named
    error = abstractcore.InvalidInputError("wrong", path="messages[0]")
    assert {name for name in named if not hasattr(error, name)} == set()


def members_of(protocol: type) -> set[str]:
    """The members of a protocol or a class as the table writes them."""
    bases = [base for base in protocol.__mro__ if base not in (object, Protocol)]
    attributes = {name: each for base in bases for name, each in vars(base).items()}
    methods = {name: each for name, each in attributes.items() if inspect.isfunction(each) and is_public(name)}
    written = {
        f"{'async ' * inspect.iscoroutinefunction(each)}{name}({', '.join([*inspect.signature(each).parameters][1:])})"
        for name, each in methods.items()
    }
    return written | {name for name in attributes if is_public(name) and name not in methods}


def is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__call__"


def test_table_of_hooks_has_all_members_of_what_they_return() -> None:
    rows = page("plugins.md").split("| hook | returns a list of | with |")[1].split("\n\n")[0].splitlines()[2:]
    named = {cells[1].strip("` "): set(re.findall(r"`([^`]+)`", cells[3])) for row in rows if (cells := row.split("|"))}
    returned = {
        name: each.__annotations__["return"].removeprefix("Iterable[").removesuffix("]")
        for name, each in vars(hooks).items()
        if name.startswith("register_")
    }
    assert named == {name: members_of(getattr(ports, protocol)) for name, protocol in returned.items()}
