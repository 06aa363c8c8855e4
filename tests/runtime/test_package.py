"""The package: light to import, built on public names, and complete as a wheel beside the core's."""

from __future__ import annotations

import email
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packages import ROOT, Environment, build_wheel, run

pytestmark = pytest.mark.process

PACKAGE = ROOT / "packages" / "abstractruntime"
HTTP = {"aiohttp", "h11", "http.client", "httpcore", "httpcore2", "httpx", "httpx2", "pycurl", "requests", "urllib3"}
OTHERS = {"cryptography", "mcp", "pg8000", "rich", "starlette", "typer", "uvicorn"}
IMPORT = "import sys, abstractruntime; print(*sys.modules)"
IMPORT_ALL = """
import sys
from abstractruntime import *
from abstractruntime.agents import *
print(*sys.modules)
"""
DOUBLING = """
from abstractruntime import Effect, FunctionProgram, Runtime, Step, Wait

def step(state, item):
    if item.kind == "start":
        return Step.do({}, Effect("double", item.payload))
    if item.kind == "result":
        return Step.wait({"doubled": item.payload}, Wait("ok"))
    return Step.complete({**state, "answer": item.payload}, state=state)

program = FunctionProgram("doubling", step)

if __name__ == "__main__":
    effects = {"double": lambda context, payload: 2 * payload}
    with Runtime("sqlite:///runs.db", programs=[program], effects=effects) as runtime:
        run = runtime.start(program, 21, id="doubled")
        runtime.work()
        print(run.status, [wait.key for wait in run.waits])
"""
SIGN = """
from abstractcore.errors import MissingExtraError
from abstractruntime.signatures import signed_head

try:
    signed_head(bytes(32), "run", 1, "0" * 64, 0.0)
    print("signed")
except MissingExtraError as error:
    print(error.hint)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(PACKAGE, tmp_path_factory.mktemp("wheel"))


def contracts(package: Path) -> subprocess.CompletedProcess[str]:
    """The import contracts of the package, for its modules in a folder."""
    code = "from importlinter.cli import lint_imports; exit(lint_imports(cache_dir=None))"
    places = [package, ROOT, *(ROOT / name for name in ("cli", "media", "providers", "server"))]
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=package,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places)), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_import_loads_no_http_library():
    loaded = set(run(sys.executable, "-W", "error", "-c", IMPORT_ALL).split())
    assert {"abstractruntime.worker", "abstractruntime.agents.turns", "sqlalchemy"} <= loaded
    assert loaded & (HTTP | OTHERS) == set()
    assert all(map(importlib.util.find_spec, ("cryptography", "httpcore2", "httpx2", "pg8000", "typer")))


def test_import_loads_no_database_library():
    loaded = set(run(sys.executable, "-W", "error", "-c", IMPORT).split())
    assert loaded & (HTTP | OTHERS | {"sqlalchemy", "sqlite3"}) == set()


def test_package_imports_public_names_and_its_store_alone_the_database_library(tmp_path: Path):
    result = contracts(PACKAGE)
    assert result.returncode == 0, result.stdout + result.stderr
    shutil.copytree(PACKAGE, tmp_path / "package", ignore=shutil.ignore_patterns("__pycache__"))
    stray = "import abstractcore.client.llm\nimport sqlalchemy\n"
    (tmp_path / "package" / "abstractruntime" / "stray.py").write_text(stray)
    printed = contracts(tmp_path / "package").stdout
    assert "abstractruntime.stray -> abstractcore.client.llm" in printed
    assert "abstractruntime.stray -> sqlalchemy" in printed


def test_wheel_contains_the_typed_package_and_requires_the_core(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        described = email.message_from_bytes(archive.read(metadata))
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"abstractruntime"}
    assert "abstractruntime/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert "abstractcore<1,>=0.1" in described.get_all("Requires-Dist", [])
    assert described.get_all("Provides-Extra") == ["postgresql", "signatures"]


def installed(folder: Path, wheel: Path, *extras: str) -> Callable[..., str]:
    """Returns what runs Python in a clean environment with the wheels of the package and the core, in a folder."""
    environment = Environment(folder / "venv", package="abstractruntime", extras=extras)
    environment.install(build_wheel(ROOT, folder / "core"), wheel)
    environment.check()
    for name, program in {"doubling.py": DOUBLING, "sign.py": SIGN}.items():
        (folder / name).write_text(program)
    env = {"HOME": str(folder), "PATH": os.defpath}
    return lambda *arguments: run(environment.python, "-W", "error", *arguments, cwd=folder, env=env)


def test_run_goes_on_in_another_process_of_a_clean_environment(tmp_path: Path, wheel: Path):
    python = installed(tmp_path, wheel)
    assert set(python("-c", IMPORT_ALL).split()) & (HTTP | OTHERS) == set()
    assert python("-c", "import abstractruntime; print(abstractruntime.__file__)").startswith(str(tmp_path))
    assert python("doubling.py") == "waiting ['ok']\n"

    def runs(*arguments: str) -> str:
        return python("-m", "abstractcore", "runs", *arguments)

    runs("answer", "doubled", "--payload", '"yes"')
    runs("work", "--until-idle", "--quiet", "--programs", "doubling:program")
    shown = json.loads(runs("show", "doubled", "--json"))["run"]
    assert (shown["status"], shown["output"]) == ("completed", {"doubled": 42, "answer": "yes"})
    runs("export", "doubled", "--output", "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        archive.extractall(tmp_path / "exported")
    assert python("-I", "-S", "exported/verify.py") == "ok\n"
    assert "pip install 'cryptography" in python("sign.py")


def test_extras_bring_the_libraries_that_they_are_for(tmp_path: Path, wheel: Path):
    python = installed(tmp_path, wheel, "postgresql", "signatures")
    assert python("sign.py") == "signed\n"
    assert python("-c", "import pg8000") == ""
