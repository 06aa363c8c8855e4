"""The package: light to import, built on public names, and complete as a wheel."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packages import ROOT, build_wheel, run

pytestmark = pytest.mark.process

PLUGIN = ROOT / "plugins" / "abstracta2a"
HEAVY = {"a2a", "google", "httpx", "jsonrpc", "starlette", "uvicorn"}
MAKE_AGENT = """
import sys
from abstracta2a import A2AAgent
A2AAgent("https://agent.example", headers={"x": "y"})
print(*(name for name in sys.modules if "." not in name))
"""
OUTPUT = """127.0.0.1 asks: First or second class?
weather({"city": "Bergen"}) -> rain
travel({"message": "Book a train from Oslo to Bergen."}) -> Booked: second class, seat 12.
It rains in Bergen. Your seat is 12.
"""


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


def test_agent_is_made_without_the_sdk():
    loaded = set(run(sys.executable, "-W", "error", "-c", MAKE_AGENT).split())
    assert "abstracta2a" in loaded
    assert loaded & HEAVY == set()


def test_plugin_imports_public_names_only(tmp_path: Path):
    result = contract(PLUGIN)
    assert result.returncode == 0, result.stdout + result.stderr
    shutil.copytree(PLUGIN, tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "plugin" / "abstracta2a" / "stray.py").write_text("import abstractcore.client.llm\n")
    assert "abstracta2a.stray -> abstractcore.client.llm" in contract(tmp_path / "plugin").stdout


def test_example_prints_what_the_agent_answers():
    assert run(sys.executable, "-W", "error", PLUGIN / "examples" / "a2a_agent.py") == OUTPUT


def test_wheel_contains_the_typed_package_and_requires_the_core(tmp_path: Path):
    with zipfile.ZipFile(build_wheel(PLUGIN, tmp_path)) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        requirements = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"abstracta2a"}
    assert "abstracta2a/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert "abstractcore<1,>=0.1" in requirements
