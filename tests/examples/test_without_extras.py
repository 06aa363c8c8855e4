"""Every example, where nothing of the extras is installed: it runs, or says what to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.documents import ROOT

pytestmark = pytest.mark.process

OF_PLUGINS = {"picture", "song", "voice_loop"}
"""They need packages whose own requirements are hidden here."""
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.stem not in OF_PLUGINS]
PATIENCE_SECONDS = 300
WITHOUT = """
import runpy, sys
for name in {names!r}:
    sys.modules[name] = None
sys.argv = [{path!r}]
runpy.run_path({path!r}, run_name="__main__")
"""


def modules_of_extras() -> list[str]:
    """Returns the modules of the packages that only extras have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.match(r"[\w-]+", each)[0].lower() for each in requirements}  # type: ignore[index]

    extras = project["optional-dependencies"].items()
    of_extras = {name for extra, packages in extras if extra != "test" for name in names(packages)}
    hidden = of_extras - names(project["dependencies"])
    found = packages_distributions().items()
    return [module for module, owners in found if {owner.lower().replace("_", "-") for owner in owners} & hidden]


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example_runs_or_says_what_to_install(path: Path, tmp_path: Path):
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(names=modules_of_extras(), path=str(path))],
        cwd=tmp_path,
        env={**os.environ, "ABSTRACTCORE_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if result.returncode:
        *_, last = result.stderr.strip().splitlines() or [""]
        assert re.match(r"[\w.]+Error: .*(pip install|abstractcore models pull)", last), result.stdout + result.stderr
