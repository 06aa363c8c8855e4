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

from tests.packages import ROOT, build_wheel, run

pytestmark = pytest.mark.process

PLUGIN = ROOT / "plugins" / "abstractmusic"
HEAVY = {"av", "httpx2", "librosa", "music21", "numpy", "symusic"}
IMPORT = """
import sys
import abstractmusic
print(*(name for name in sys.modules if "." not in name))
"""


def contract(plugin: Path) -> subprocess.CompletedProcess[str]:
    """The import contracts of the plugin, for its modules in a folder."""
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


def test_package_is_light_to_import():
    assert set(run(sys.executable, "-W", "error", "-c", IMPORT).split()) & HEAVY == set()


def test_plugin_imports_public_names_only(tmp_path: Path):
    result = contract(PLUGIN)
    assert result.returncode == 0, result.stdout + result.stderr
    shutil.copytree(PLUGIN, tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "plugin" / "abstractmusic" / "stray.py").write_text("import abstractcore.client.llm\n")
    assert "abstractmusic.stray -> abstractcore.client.llm" in contract(tmp_path / "plugin").stdout


def test_example_writes_plays_and_saves_a_song(run_installed: Callable[..., str], tmp_path: Path):
    assert run_installed(ROOT / "examples" / "song.py").splitlines() == [
        "Harbour Lights, in D minor, by scripted/scripted",
        "song.wav audio/wav",
        "song.mid audio/midi",
        "song.musicxml application/vnd.recordare.musicxml+xml",
        "arranged by rules: ['chords', 'bass']",
    ]
    assert (tmp_path / "song.wav").read_bytes()[:4] == b"RIFF"
    assert (tmp_path / "song.mid").read_bytes()[:4] == b"MThd"


def test_wheel_contains_the_typed_package_with_its_font_and_licences(tmp_path: Path):
    with zipfile.ZipFile(build_wheel(PLUGIN, tmp_path)) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        requirements = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"abstractmusic"}
    assert {"abstractmusic/py.typed", "abstractmusic/fonts/eas-gm.sf2", "abstractmusic/fonts/NOTICE"} <= set(names)
    licences = {name.partition(".dist-info/licenses/")[2] for name in names} - {""}
    assert licences == {"LICENSE", "abstractmusic/fonts/LICENSE", "abstractmusic/fonts/NOTICE"}
    assert "abstractcore<1,>=0.1" in requirements
