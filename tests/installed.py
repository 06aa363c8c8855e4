"""Fixtures of a clean environment with the built wheels and of an empty HOME, and what runs programs in there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from abstractcore.stores.models import FileModelStore
from tests.packages import ROOT, Environment, build_wheel

PATIENCE_SECONDS = 3600.0
"""Ends what hangs: embedded models take minutes on a busy machine."""
_RUN_BLOCKS = Path(__file__).with_name("run_blocks.py")
_PROJECTS = (ROOT, *sorted(ROOT.glob("packages/*")), *sorted(ROOT.glob("plugins/*")))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheels of all first-party packages, and with what they and their extras ask for."""
    environment = Environment(tmp_path_factory.mktemp("installed") / "venv", package=None)
    environment.install(*(build_wheel(project, tmp_path_factory.mktemp(project.name)) for project in _PROJECTS))
    environment.check()
    return environment


@pytest.fixture
def clean(installed: Environment, models: FileModelStore, tmp_path: Path) -> dict[str, str]:
    """All variables of a user who has installed the wheels, with nothing in HOME but weights that are kept."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "PATH": f"{installed.executables.absolute()}{os.pathsep}{os.defpath}",
        "PYTHONUTF8": "1",
        "ABSTRACTCORE_CACHE": str(models.root.parent.resolve()),
    }


@pytest.fixture
def run_installed(installed: Environment, clean: dict[str, str], tmp_path: Path) -> Callable[..., str]:
    """`run_installed(*arguments)` runs Python in the folder of the test, with warnings as errors: what it prints."""

    def run_installed(*arguments: str | Path) -> str:
        command = [installed.python.absolute(), "-W", "error", *arguments]
        return started(command, env=clean, cwd=tmp_path)

    return run_installed


def started(command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path, stdin: str = "") -> str:
    """What a command prints; it must succeed, and leave nothing behind that Python warns of as it ends."""
    done = subprocess.run(
        command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return done.stdout


class Output(NamedTuple):
    """What a block prints, and the traceback of what it raises, or an empty text."""

    printed: str
    raised: str


def outputs(
    codes: Mapping[str, str], python: Sequence[str | Path], *, env: Mapping[str, str], folder: Path
) -> list[Output]:
    """The outputs of code by the name of its block, in one process of this Python; `folder` is made."""
    folder.mkdir()
    given = [{"name": name, "code": code} for name, code in codes.items()]
    started([*python, "-P", _RUN_BLOCKS, folder], env=env, cwd=folder, stdin=json.dumps(given))
    return [Output(*pair) for pair in json.loads((folder / "outputs.json").read_text(encoding="utf-8"))]
