"""A release: the same bytes twice, of what is committed, and checked."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from release.build import ReleaseError, build, check, main, requirements
from release.projects import ROOT, projects

PROJECTS = projects()
CORE = PROJECTS[0]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the last commit."""
    into = tmp_path_factory.mktemp("release") / "dist"
    build(into)
    return into


def test_distributions_are_the_core_its_packages_and_plugins():
    names = [each.name for each in PROJECTS]
    assert names == [
        "abstractcore",
        "abstractruntime",
        "abstracta2a",
        "abstractmusic",
        "abstractvision",
        "abstractvoice",
    ]


@pytest.mark.process
def test_requirements_are_the_locked_ones_with_hashes_and_without_those_of_tests():
    document = requirements(CORE, 1_700_000_000)
    components: dict[str, Any] = {each["purl"]: each for each in document["components"]}
    locked = {each["name"]: each for each in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]}
    assert f"pkg:pypi/httpx2@{locked['httpx2']['version']}" in components
    assert not {"hypothesis", "pytest", "ruff"} & {each["name"] for each in components.values()}
    assert all(each["externalReferences"][0]["hashes"][0]["alg"] == "SHA-256" for each in components.values())
    known = {each["bom-ref"] for each in components.values()} | {document["metadata"]["component"]["bom-ref"]}
    assert {row["ref"] for row in document["dependencies"]} <= known
    assert (document["specVersion"], document["metadata"]["timestamp"]) == ("1.5", "2023-11-14T22:13:20+00:00")
    assert requirements(CORE, 1_700_000_000) == document
    assert requirements(CORE, 1_700_000_001)["serialNumber"] != document["serialNumber"]


@pytest.mark.process
def test_two_builds_have_the_same_bytes(released: Path, tmp_path: Path):
    build(tmp_path / "again")
    names = {path.name for path in released.iterdir()}
    assert {path.name for path in (tmp_path / "again").iterdir()} == names
    assert len(names) == 3 * len(PROJECTS) + 1
    assert [name for name in names if (tmp_path / "again" / name).read_bytes() != (released / name).read_bytes()] == []
    for line in (released / "SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((released / name).read_bytes()).hexdigest() == digest
    document = json.loads((released / f"{CORE.name}-{CORE.version}.cdx.json").read_text("utf-8"))
    assert document["bomFormat"] == "CycloneDX"


@pytest.mark.process
def test_built_distributions_pass_their_checks(released: Path):
    check(sorted(released.iterdir()))


@pytest.mark.process
def test_incomplete_and_damaged_distributions_are_refused(released: Path, tmp_path: Path):
    with pytest.raises(ReleaseError, match="5 wheels and 6 sources of 6 distributions"):
        check([each for each in released.iterdir() if not each.name.startswith("abstractmusic-0.1.0-py3")])
    damaged = [each for each in released.iterdir() if each.suffix != ".whl"]
    for wheel in released.glob("*.whl"):
        damaged.append(tmp_path / wheel.name)
        subprocess.run(["cp", wheel, tmp_path], check=True)
    core = tmp_path / f"{CORE.name}-{CORE.version}-py3-none-any.whl"
    core.write_bytes(core.read_bytes()[:-100])
    with pytest.raises(ReleaseError, match=core.name):
        check(damaged)


def test_folder_that_is_not_empty_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "old.whl").write_bytes(b"old")
    assert main(["--into", str(tmp_path)]) == 1
    assert "is not empty: remove what is in it" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["old.whl"]
