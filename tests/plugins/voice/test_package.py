"""The package: light to import, built on public names, and complete as a wheel."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packages import ROOT, build_wheel, run
from tests.plugins.voice.sounds import seconds

pytestmark = pytest.mark.process

PLUGIN = ROOT / "plugins" / "abstractvoice"
HEAVY = {"av", "numpy", "onnxruntime", "pycrfsuite", "gruut_lang_en"}
IMPORT = "import sys, abstractvoice.text; print(*(name for name in sys.modules if '.' not in name))"


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
    assert "abstractvoice" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.weights
def test_example_is_a_conversation_whose_first_answer_is_interrupted(run_installed: Callable[..., str], tmp_path: Path):
    lines = run_installed(ROOT / "examples" / "voice_loop.py").splitlines()
    question, interrupted, again, answer, written = lines
    assert question == again
    assert question.startswith("> Good morning, the meeting starts at 9")
    assert interrupted == "The meeting starts at **9:30** on -- interrupted, by proportion"
    assert answer == "Please bring the budget report, and two copies of the contract."
    assert re.fullmatch(r"conversation\.wav has \d+ seconds of speech", written)
    assert seconds((tmp_path / "conversation.wav").read_bytes()) > 5


def test_plugin_imports_public_names_only(tmp_path: Path):
    result = contract(PLUGIN)
    assert result.returncode == 0, result.stdout + result.stderr
    shutil.copytree(PLUGIN, tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "plugin" / "abstractvoice" / "stray.py").write_text("import abstractcore.client.llm\n")
    assert "abstractvoice.stray -> abstractcore.client.llm" in contract(tmp_path / "plugin").stdout


def test_wheel_contains_tables_and_requires_the_core(tmp_path: Path):
    with zipfile.ZipFile(build_wheel(PLUGIN, tmp_path)) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        requirements = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    assert {"abstractvoice/py.typed", "abstractvoice/text/tables.toml"} <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert "abstractcore<1,>=0.1" in requirements
