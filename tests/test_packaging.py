"""The wheel: its contents, its requirements, and that it works outside this checkout."""

import email
import json
import os
import re
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.packages import ROOT, Environment, build_wheel, run

PACKAGES = ("abstractcore", "abstractcore_cli", "abstractcore_media", "abstractcore_providers", "abstractcore_server")
LOADED_ON_DEMAND = {
    "PIL", "a2a", "av", "charset_normalizer", "faster_whisper", "filelock", "httpcore2", "httpx2", "huggingface_hub",
    "jiter", "mcp", "numpy", "opentelemetry", "platformdirs", "puremagic", "pydantic", "pypdf", "rich", "starlette",
    "typer", "uvicorn", "xllamacpp",
}  # fmt: skip
FIRST_CALL = """
from abstractcore import create_llm
print(create_llm("scripted", replies=["hello"]).generate("hi").content)
"""
LIST_PLUGINS = """
from importlib.metadata import entry_points
print(*(entry_point.load().__name__ for entry_point in entry_points(group="abstractcore.plugins")))
"""
LIST_LOADED = """
import sys, abstractcore
print(*(name for name in sys.modules if "." not in name))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and its locked base dependencies; its folder of executables."""
    environment = Environment(tmp_path_factory.mktemp("installed") / "venv")
    environment.install(wheel)
    environment.check()
    return environment.executables


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, Any]:
    """An empty working directory and an empty home, as arguments for `run`."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    return {"cwd": work, "env": {"HOME": str(home), "USERPROFILE": str(home), "PATH": os.defpath}}


@pytest.mark.process
def test_wheel_contains_five_typed_packages_and_nothing_else(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == set(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    licences = {name.partition(".dist-info/licenses/")[2] for name in names}
    bundled = {f"server/abstractcore_server/{name}.LICENSE" for name in ("dashboard/page/uplot", "page/markdown-it")}
    assert licences - {""} == {"LICENSE", "catalogue/sources/NOTICE.md", *bundled}


@pytest.mark.process
def test_wheel_requires_no_first_party_name_from_an_index(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    requirements = metadata.get_all("Requires-Dist", [])
    assert requirements
    assert [row for row in requirements if re.match(r"abstract|litellm", row, re.IGNORECASE)] == []


@pytest.mark.process
def test_installed_wheel_makes_a_first_call_without_a_warning(installed: Path, elsewhere: dict[str, Any]):
    assert run(installed / "python", "-W", "error", "-c", FIRST_CALL, **elsewhere) == "hello\n"


@pytest.mark.process
def test_installed_wheel_has_the_command_and_its_plugins(installed: Path, elsewhere: dict[str, Any]):
    assert "Usage" in run(installed / "abstractcore", "--help", **elsewhere)
    loaded = run(installed / "python", "-W", "error", "-c", LIST_PLUGINS, **elsewhere).split()
    assert sorted(loaded) == ["abstractcore_media.plugin", "abstractcore_providers.plugin"]


@pytest.mark.process
def test_importing_the_package_loads_nothing_optional(elsewhere: dict[str, Any]):
    loaded = set(run(sys.executable, "-W", "error", "-c", LIST_LOADED, **elsewhere).split())
    assert "abstractcore" in loaded
    assert loaded & LOADED_ON_DEMAND == set()


def test_extra_all_is_the_union_of_the_extras():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    apart = ("all", "test", "heic")  # the wheels of heic hold libraries under the LGPL
    picked = {row for name, rows in extras.items() if name not in apart for row in rows}
    assert extras["all"] == sorted(picked)


def test_lock_file_resolves_first_party_names_from_the_checkout_and_others_from_pypi():
    packages = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    sources = {package["name"]: package["source"] for package in packages}
    first_party = {name for name in sources if name.startswith("abstract")}
    assert "abstractcore" in first_party
    assert all(sources[name].keys() == {"editable"} for name in first_party)
    registries = {json.dumps(source) for name, source in sources.items() if name not in first_party}
    assert registries == {json.dumps({"registry": "https://pypi.org/simple"})}
