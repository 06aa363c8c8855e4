"""The docs as a user of the built wheels runs them: each Python block in a process of its own, in a clean environment
and an empty HOME, prints the shown output; so does each program under `examples` that a page names.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from abstractcore.stores.models import FileModelStore
from tests.documents import PAGES, ROOT, Block, alike, blocks
from tests.packages import Environment, build_wheel

pytestmark = [pytest.mark.process, pytest.mark.weights, pytest.mark.exhaustive]

PATIENCE_SECONDS = 300.0
BLOCKS = [block for page in PAGES for block in blocks(page)]
PROJECTS = (ROOT, *sorted(ROOT.glob("packages/*")), *sorted(ROOT.glob("plugins/*")))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheels of all first-party packages, and with what they and their extras ask for."""
    environment = Environment(tmp_path_factory.mktemp("environment") / "venv", package=None)
    wheels = [build_wheel(project, tmp_path_factory.mktemp(project.name)) for project in PROJECTS]
    environment.install(*wheels)
    environment.check()
    return environment


@pytest.mark.parametrize("block", [block for block in BLOCKS if not block.is_test], ids=str)
def test_block_prints_the_shown_output(
    block: Block, installed: Environment, models: FileModelStore, tmp_path: Path
) -> None:
    home, folder = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    program = folder / "block.py"
    program.write_text("\n" * (block.line - 1) + block.code, encoding="utf-8")
    environment = {
        "HOME": str(home),
        "PATH": f"{installed.executables.absolute()}:{os.defpath}",
        "PYTHONUTF8": "1",
        "ABSTRACTCORE_CACHE": str(models.root.parent.resolve()),
    }
    done = subprocess.run(
        [installed.python.absolute(), "-W", "error", program],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    if block.output is not None:
        assert alike(done.stdout, block), done.stdout
