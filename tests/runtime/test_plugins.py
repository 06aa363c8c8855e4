"""Kinds of effects of plugins, as installed wheels: one that works, and ones that are broken in each way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packages import build_wheel

pytestmark = pytest.mark.process

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "1.0"

[project.entry-points."abstractruntime.effects"]
{points}
"""
STAMPS = """
class Stamp:
    after_crash = "repeat"

    def execute(self, context, payload):
        return f"{context.run}: {payload}"

def stamp():
    return Stamp()

def not_a_kind():
    return Stamp.execute

def fails():
    raise ValueError("no stamp pad")
"""
WORKS = """
import json, sys
from abstractruntime import Effect, FunctionProgram, Item, Runtime, Step

def step(state, item: Item) -> Step:
    if item.kind == "start":
        return Step.do(item.payload, Effect(item.payload, "tea", after_crash="ask"))
    return Step.complete([item.payload, item.error])

program = FunctionProgram("stamps", step)
with Runtime("sqlite:///runs.db", programs=[program]) as runtime:
    runs = [runtime.start(program, kind, id=kind) for kind in sys.argv[1:]]
    runtime.work()
    print(json.dumps([run.output for run in runs]))
"""


def built(folder: Path, name: str, points: dict[str, str], source: str) -> Path:
    """Returns the wheel of a package with these entry points."""
    project = folder / name
    (project / name).mkdir(parents=True)
    (project / name / "__init__.py").write_text(source)
    lines = "\n".join(f'"{kind}" = "{name}:{function}"' for kind, function in points.items())
    (project / "pyproject.toml").write_text(PROJECT.format(name=name, points=lines))
    return build_wheel(project, folder / "wheels" / name)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed packages."""
    folder = tmp_path_factory.mktemp("plugins")
    points = {"stamp": "stamp", "nothing": "not_a_kind", "fails": "fails", "absent": "absent", "twice": "stamp"}
    wheels = [
        built(folder, "stamps", {**points, "code": "stamp"}, STAMPS),
        built(folder, "other_stamps", {"twice": "stamp"}, STAMPS),
        built(folder, "broken", {"broken": "stamp"}, "raise RuntimeError('half written')"),
        built(folder, "leaving", {"leaving": "stamp"}, "raise SystemExit(3)"),
    ]
    target = ["--no-deps", "--no-index", "--target", str(folder / "site")]
    subprocess.run([sys.executable, "-m", "uv", "--quiet", "pip", "install", *target, *map(str, wheels)], check=True)
    return folder / "site"


def outputs(site: Path, folder: Path, *kinds: str) -> tuple[list[list[object]], str]:
    """Returns the result and the error of an effect of each kind, by one worker, and what was logged."""
    program = f"import sys; sys.path.append({str(site)!r})\n{WORKS}"
    command = [sys.executable, "-c", program, *kinds]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_kind_of_an_installed_package_is_found(site: Path, tmp_path: Path) -> None:
    assert outputs(site, tmp_path, "stamp")[0] == [["stamp: tea", None]]


def test_broken_packages_are_errors_that_name_them_and_the_worker_goes_on(site: Path, tmp_path: Path) -> None:
    kinds = ("broken", "leaving", "fails", "absent", "nothing", "twice", "unknown", "stamp")
    found, _ = outputs(site, tmp_path, *kinds)
    assert found.pop() == ["stamp: tea", None]
    errors = [error for _, error in found]
    assert [error["message"] for error in errors] == [
        "the kind of effects 'broken' of broken cannot be loaded: RuntimeError: half written",
        "the kind of effects 'leaving' of leaving cannot be loaded: SystemExit: 3",
        "the kind of effects 'fails' of stamps cannot be loaded: ValueError: no stamp pad",
        "the kind of effects 'absent' of stamps cannot be loaded: "
        "AttributeError: module 'stamps' has no attribute 'absent'",
        "the kind of effects 'nothing' of stamps has no `execute` and `after_crash`, it is of the type function",
        "several packages have effects of the kind 'twice': other_stamps, stamps",
        "there is no kind of effects 'unknown'",
    ]
    assert "broken = broken:stamp, a function without arguments" in errors[0]["hint"]
    assert "give the one to use: Runtime(effects={...})" in errors[5]["hint"]


def test_kind_that_is_built_in_is_not_replaced(site: Path, tmp_path: Path) -> None:
    ((value, error),), logged = outputs(site, tmp_path, "code")
    assert value is None
    assert "payload" in error["message"]
    assert "the effects 'code' of stamps are not used: this kind is built in" in logged
