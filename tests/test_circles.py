"""Modules of a room import each other without long circles, and without the room's door.

Every import counts, also those in functions and those for types. A room is what is read as one: a folder of the kernel,
the providers and the media handlers; the whole of the server, and of each plugin and package.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = [
    path.parent
    for pattern in ("abstractcore", "cli/*", "media/*", "packages/*/*", "plugins/*/*", "providers/*", "server/*")
    for path in ROOT.glob(f"{pattern}/__init__.py")
]
PACKAGES_OF_ROOMS = ("abstractcore", "abstractcore_media", "abstractcore_providers")
MOST_IN_A_CIRCLE = 3

Imports = Mapping[str, Set[str]]
"""The modules that each module imports."""


def imports_of(*packages: Path) -> Imports:
    with pytest.MonkeyPatch.context() as patch:
        for path in packages:
            patch.syspath_prepend(path.parent)
        graph = grimp.build_graph(*(path.name for path in packages), cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def room_of(module: str) -> str:
    package, *names = module.split(".")
    return ".".join([package, *names[: package in PACKAGES_OF_ROOMS]])


def reached_from(module: str, imports: Imports) -> Set[str]:
    """Returns the modules of its room that a module imports, and those that they import in turn."""
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        new = {each for each in imports[waiting.pop()] if room_of(each) == room_of(module)} - reached
        reached |= new
        waiting += new
    return reached


def circles_in(imports: Imports) -> set[tuple[str, ...]]:
    reached = {module: reached_from(module, imports) for module in imports}
    circles = (sorted(each for each in reached[module] if module in reached[each]) for module in imports)
    return {tuple(circle) for circle in circles if len(circle) > MOST_IN_A_CIRCLE}


def imported_doors(imports: Imports) -> list[str]:
    return sorted(
        f"{module} -> {door}"
        for module, imported in imports.items()
        for door in imported
        if module.startswith(f"{door}.") and room_of(door) == room_of(module)
    )


def test_no_room_has_a_circle_of_more_than_three_modules():
    assert circles_in(imports_of(*PACKAGES)) == set()


def test_no_module_imports_the_door_of_its_own_room():
    assert imported_doors(imports_of(*PACKAGES)) == []


def test_imports_in_functions_and_for_types_count(tmp_path: Path):
    package = tmp_path / "circular_package"
    package.mkdir()
    modules = {
        "__init__": "from .first import name",
        "first": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .second import name",
        "second": "def function():\n    from . import third",
        "third": "import circular_package.fourth",
        "fourth": "from .first import name",
        "fifth": "from . import name",
    }
    for name, text in modules.items():
        (package / f"{name}.py").write_text(text)
    imports = imports_of(package)
    circle = tuple(f"circular_package.{name}" for name in ("first", "fourth", "second", "third"))
    assert circles_in(imports) == {circle}
    assert imported_doors(imports) == ["circular_package.fifth -> circular_package"]
