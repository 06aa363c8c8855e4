"""One word, one thing: two classes of one name in the packages have a reason."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("abstractcore", "cli/*", "media/*", "providers/*", "server/*", "plugins/*/*", "packages/*/*")
HOMONYMS = {
    "Check": "a checked value of an answer, and a check of a plugin: both are public",
    "Edit": "an approver's change of a tool call, and a guard's of a text: both are public",
    "Effect": "what a step asks for, and the same of a workflow of AbstractRuntime, whose users know the name",
    "Limits": "limits of calls, and those of a run: both are public",
    "Record": "a record of a ledger, and one of a PPT file: [MS-PPT] has the word",
    "Run": "a run of a program, which is public, and a run of letters on a page of a PDF",
    "Runtime": "what sync and async calls differ in, and the door of abstractruntime: both are public",
    "Score": "a model's score, and abstractmusic's, which is a piece: both are public",
    "Session": "a conversation with a model, and one with an agent of abstractruntime: both are public",
    "Store": "the tables of the server, and those of runs: each the only store of its package",
    "Voice": "`llm.voice`, and a voice of abstractmusic's scores: both are public",
    "Worker": "a process of a pool, and what takes runs on: the field's word for both",
}
"""Why the classes of one name in several modules keep it."""
_CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)


def homonyms() -> dict[str, list[str]]:
    """Returns the modules of each class name that several modules define."""
    modules: dict[str, list[Path]] = defaultdict(list)
    for package in (path.parent for folder in PACKAGES for path in ROOT.glob(f"{folder}/__init__.py")):
        for path in package.rglob("*.py"):
            for name in set(_CLASS.findall(path.read_text(encoding="utf-8"))):
                modules[name].append(path)
    several = {name: sorted(paths) for name, paths in modules.items() if len(paths) > 1}
    defined = {path: _classes(path) for path in {path for paths in several.values() for path in paths}}
    found = {name: [path for path in paths if name in defined[path]] for name, paths in several.items()}
    return {name: [str(path.relative_to(ROOT)) for path in paths] for name, paths in found.items() if len(paths) > 1}


def _classes(path: Path) -> set[str]:
    """Returns the names of the classes that a module defines, without those in its texts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def test_classes_of_one_name_have_a_reason():
    """Name a class by the noun of what it is, as in `ProxyRoute` and `SheetRow`."""
    found = homonyms()
    assert {name: modules for name, modules in found.items() if name not in HOMONYMS} == {}
    assert HOMONYMS.keys() - found.keys() == set()
