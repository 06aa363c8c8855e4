"""The package: light to import, built on public names, and complete as a wheel."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import abstractvision
from tests.packages import ROOT, build_wheel, run

pytestmark = pytest.mark.process

PLUGIN = ROOT / "plugins" / "abstractvision"
HEAVY = {"PIL", "pydantic", "resvg_py", "httpx2"}
IMPORT = "import sys, abstractvision; print(*(name for name in sys.modules if '.' not in name))"


def contract(plugin: Path) -> subprocess.CompletedProcess[str]:
    """The import contract of the plugin, for its modules in a folder."""
    code = "from importlinter.cli import lint_imports; exit(lint_imports(cache_dir=None))"
    places = [plugin, ROOT, ROOT / "media", ROOT / "providers", ROOT / "server"]
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=plugin,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places)), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_import_loads_nothing_heavy():
    loaded = set(run(sys.executable, "-W", "error", "-c", IMPORT).split())
    assert "abstractvision" in loaded
    assert loaded & HEAVY == set()


def test_all_public_names_exist():
    assert sorted(abstractvision.__all__) == abstractvision.__all__
    assert all(getattr(abstractvision, name).__name__ == name for name in abstractvision.__all__)


def test_plugin_imports_public_names_only(tmp_path: Path):
    result = contract(PLUGIN)
    assert result.returncode == 0, result.stdout + result.stderr
    shutil.copytree(PLUGIN, tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "plugin" / "abstractvision" / "stray.py").write_text("import abstractcore.client.llm\n")
    assert "abstractvision.stray -> abstractcore.client.llm" in contract(tmp_path / "plugin").stdout


def test_wheel_contains_data_fonts_and_licences(tmp_path: Path):
    with zipfile.ZipFile(build_wheel(PLUGIN, tmp_path)) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        requirements = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    drawing = "abstractvision/drawing"
    assert {
        "abstractvision/py.typed",
        f"{drawing}/motifs.json",
        f"{drawing}/rules/vocabulary.json",
        f"{drawing}/fonts/DejaVuSans-subset.ttf",
        f"{drawing}/fonts/DejaVuSans-Bold-subset.ttf",
    } <= names
    assert len([name for name in names if "/licenses/" in name]) == 2
    assert "abstractcore<1,>=0.1" in requirements


def test_example_draws_changes_and_enlarges_a_picture(run_installed: Callable[..., str], tmp_path: Path):
    assert run_installed(ROOT / "examples" / "picture.py").splitlines() == [
        "picture.png is a drawing of a scene that the language model wrote as data",
        "picture-at-night.png is a drawing of a scene that the language model wrote as data",
        "picture-large.png is a drawing of a scene that the picture kept, 2048 pixels wide",
    ]
    assert (tmp_path / "picture-large.png").stat().st_size > (tmp_path / "picture.png").stat().st_size > 10_000
