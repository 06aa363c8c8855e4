"""`LazyImports`: names of a package that are imported on first access."""

from __future__ import annotations

import builtins
import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from types import ModuleType

import pytest

from abstractcore.lazy_modules import LazyImports
from tests.chaos_server import PATIENCE_SECONDS
from tests.forks import in_fork

DOOR = """
from abstractcore.lazy_modules import LazyImports as _LazyImports
from .early import FIRST as FIRST

with _LazyImports(globals()):
    from . import inner as inner
    from .late import SECOND as SECOND, Third as Third
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    folder = tmp_path / "lazy_package"
    folder.mkdir()
    files = {"__init__": DOOR, "early": "FIRST = 1", "late": "SECOND = 2\nclass Third: ...", "inner": "here = True"}
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "lazy_package"]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("lazy_package")


def test_names_of_the_block_are_imported_on_first_access(package: ModuleType):
    assert "lazy_package.late" not in sys.modules
    assert (package.FIRST, package.SECOND) == (1, 2)
    assert package.Third is sys.modules["lazy_package.late"].Third
    assert package.inner.here
    assert {"FIRST", "SECOND", "Third", "inner"} <= vars(package).keys()


def test_all_names_are_listed_before_they_are_imported(package: ModuleType):
    assert package.__all__ == ["FIRST", "SECOND", "Third", "inner"]
    assert set(package.__all__) <= set(dir(package))
    names: dict[str, object] = {}
    exec("from lazy_package import *", names)
    assert set(package.__all__) <= names.keys()


WITHOUT_SQLALCHEMY = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sqlalchemy", "pg8000"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from importlib import util
found = util.find_spec
util.find_spec = lambda name, package=None: None if name == "sqlalchemy" else found(name, package)
from abstractcore.budgets import *
from abstractcore import create_llm, Price
llm = create_llm("scripted", replies=["one"], price=Price(1, 1), budgets=[Budget(50)])
print(llm.generate("hi").content, flush(1), "DatabaseLedger" in globals())
from abstractcore.budgets import DatabaseLedger
"""


@pytest.mark.process
def test_star_import_leaves_out_what_requires_a_package_that_is_not_installed():
    ended = subprocess.run([sys.executable, "-c", WITHOUT_SQLALCHEMY], capture_output=True, text=True)
    assert ended.stdout == "one True False\n"
    assert "MissingExtraError: Traces, budgets and other data in a database require sqlalchemy" in ended.stderr


def test_other_names_are_attribute_errors(package: ModuleType):
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'third'"):
        _ = package.third


def test_imports_of_other_modules_meanwhile_are_made():
    found: list[ModuleType] = []
    block = LazyImports({"__name__": "lazy_package"})
    with block:
        thread = Thread(target=lambda: found.append(_imported("calendar")))
        thread.start()
        thread.join()
    assert found[0].__name__ == "calendar"


def _imported(name: str) -> ModuleType:
    names: dict[str, ModuleType] = {}
    exec(f"import {name} as module", names)
    return names["module"]


@pytest.mark.process
def test_fork_waits_for_the_block_of_another_thread(package: ModuleType):
    """The child would import with the function of a thread that it does not have, and never begin a block."""
    begun, forking = Event(), Event()

    def import_package() -> None:
        with LazyImports({"__name__": "other_package"}):
            begun.set()
            assert forking.wait(PATIENCE_SECONDS)

    importer = Thread(target=import_package)
    importer.start()
    assert begun.wait(PATIENCE_SECONDS)
    os.register_at_fork(before=forking.set)  # these hooks run before older ones
    in_fork(lambda: importlib.reload(package))
    importer.join()


def test_import_function_is_restored_after_an_error():
    original: Callable[..., object] = builtins.__import__
    with pytest.raises(ZeroDivisionError), LazyImports({"__name__": "lazy_package"}):
        _ = 1 / 0
    assert builtins.__import__ is original
