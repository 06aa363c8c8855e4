"""Discovery of plugins: a package with broken metadata hides no other."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

import pytest

from abstractcore.registry import Registry, found_plugins


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`install(name, ...)` puts a distribution with one plugin on the path."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(
        name: str,
        *,
        version: str = "1.0",
        code: str = "",
        requires: str = "abstractcore>=0.1,<1",
        points: bytes | None = None,
        metadata: str | None = None,
        folder: Path = tmp_path,
    ) -> None:
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        default_metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: {requires}\n"
        (info / "METADATA").write_text(default_metadata if metadata is None else metadata)
        (info / "entry_points.txt").write_bytes(points or f"[abstractcore.plugins]\n{name} = {name}\n".encode())
        (folder / f"{name}.py").write_text(code)

    return install


def report(name: str):
    """Returns the report of the plugin with this name."""
    (found,) = (each for each in Registry.from_entry_points().reports if name in each.distribution)
    return found


PROVIDER = """
from abstractcore.registry import hookimpl
from abstractcore_providers.scripted import ScriptedProvider

@hookimpl
def register_providers():
    return [ScriptedProvider("parrot")]
"""


def test_ten_line_plugin_adds_a_provider(install):
    install("parrot", code=PROVIDER, version="1.5")
    parrot = report("parrot")
    assert (parrot.name, parrot.target, parrot.distribution) == ("parrot", "parrot", "parrot 1.5")
    assert (parrot.registered, parrot.error) == ((("provider", "parrot"),), None)


def test_built_in_plugins_load_first_then_others_by_name(install):
    for name in ("zebra_test", "aardvark_test"):
        install(name)
    names = [found.name for found in found_plugins()]
    assert names[:2] == ["media", "providers"]
    assert [name for name in names if name.endswith("_test")] == ["aardvark_test", "zebra_test"]


def test_what_is_installed_or_removed_while_the_program_runs_is_found(install, tmp_path):
    os.utime(tmp_path, (0, 0))  # two changes within the resolution of timestamps look like one
    assert [found.name for found in found_plugins() if found.name == "parrot"] == []
    install("parrot", code=PROVIDER)
    assert report("parrot").error is None
    os.utime(tmp_path, (1, 1))
    assert report("parrot").error is None
    (tmp_path / "parrot-1.0.dist-info").rename(tmp_path / "removed")
    assert [found.name for found in found_plugins() if found.name == "parrot"] == []


def test_metadata_of_what_is_installed_are_read_once(install, monkeypatch):
    install("parrot", code=PROVIDER)
    assert report("parrot").error is None
    monkeypatch.setattr("importlib.metadata.Distribution.read_text", None)
    monkeypatch.setattr("importlib.metadata.PathDistribution.read_text", None)
    assert "parrot" in [found.name for found in found_plugins()]


def test_duplicate_distribution_is_resolved_as_by_import(install, tmp_path, monkeypatch):
    install("parrot", version="1.0", folder=tmp_path / "behind")
    install("parrot", version="2.0", folder=tmp_path / "before")
    for folder in ("behind", "before"):
        monkeypatch.syspath_prepend(tmp_path / folder)
    assert report("parrot").distribution == "parrot 2.0"


@pytest.mark.parametrize(
    ("points", "error"),
    [
        (b"[abstractcore.plugins]\nno entry\n", "its entry_points.txt cannot be read: "),
        (b"\xff\xfe[abstractcore.plugins]", "its entry_points.txt cannot be read: "),
        (b"[abstractcore.plugins]\nunlucky =\n", ""),
        (b"[abstractcore.plugins]\nunlucky = no_such_module\n", "ModuleNotFoundError: No module named 'no_such_modu"),
        (b"[abstractcore.plugins]\nunlucky = unlucky:thing\n", "AttributeError: module 'unlucky' has no attribute"),
    ],
)
def test_broken_entry_points_are_reported_and_hide_no_other_plugin(install, points, error):
    install("unlucky", points=points)
    install("parrot", code=PROVIDER)
    assert report("unlucky").error.startswith(error)
    assert report("parrot").error is None


def test_broken_entry_points_of_unrelated_packages_are_ignored(install):
    install("unlucky", points=b"[console_scripts]\nno entry\n")
    install("parrot", code=PROVIDER)
    assert [each.error for each in Registry.from_entry_points().reports if "unlucky" in each.distribution] == []
    assert report("parrot").error is None


@pytest.mark.parametrize("metadata", ["", "Name: \n", "\x00"])
def test_plugin_without_metadata_is_reported_with_its_location(install, metadata):
    install("nameless", metadata=metadata, code=PROVIDER)
    (found,) = (each for each in Registry.from_entry_points().reports if each.name == "nameless")
    assert found.distribution.startswith("? in ")
    assert (found.registered, found.error) == ((("provider", "parrot"),), None)


def test_plugin_whose_metadata_are_none_is_loaded(install, monkeypatch):
    """As `importlib_metadata` has them of an empty file."""
    monkeypatch.setattr(importlib.metadata.PathDistribution, "metadata", None)
    install("nameless", metadata="", code=PROVIDER)
    (found,) = (each for each in Registry.from_entry_points().reports if each.name == "nameless")
    assert found.distribution.startswith("? in ")
    assert (found.registered, found.error) == ((("provider", "parrot"),), None)


def test_plugin_for_another_version_is_reported_and_not_imported(install):
    install("newer", requires="abstractcore (>=0.2,<0.3)", code="raise SystemExit('imported')")
    assert report("newer").error == (
        "it is for another version: it requires abstractcore>=0.2,<0.3, and this is 0.1.0. "
        "Install a release of newer for this version, or uninstall it: pip uninstall newer"
    )
