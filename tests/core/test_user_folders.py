"""Folders of users, with and without a home."""

from __future__ import annotations

import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from abstractcore import create_llm
from abstractcore.stores.models import FileModelStore
from abstractcore.user_folders import cache_folder, config_folder, data_folder, exists, user_file_path

VARIABLES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "ABSTRACTCORE_CACHE", "ABSTRACTCORE_MODELS")


@pytest.fixture
def without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user as services of systemd may have: without HOME, and unknown to the system."""

    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_folders_are_those_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folders = (config_folder(), data_folder(), cache_folder())
    assert all(tmp_path in folder.parents and folder.name == "abstractcore" for folder in folders)
    assert len(set(folders)) == 3


@pytest.mark.parametrize("folder", [None, "", "relative", "~/settings", "/absolute", "/with space "])
@pytest.mark.parametrize("home", [None, "", "relative", "/home/someone"])
def test_folder_for_settings_is_the_one_that_platformdirs_finds(
    monkeypatch: pytest.MonkeyPatch, folder: str | None, home: str | None
):
    for name, value in {"XDG_CONFIG_HOME": folder, "HOME": home}.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    try:
        expected = platformdirs.user_config_path("abstractcore").expanduser()
    except RuntimeError:
        expected = Path("/nonexistent/.config/abstractcore")
    assert config_folder() == expected


@pytest.mark.usefixtures("without_home")
def test_user_without_home_has_no_files_and_can_call_models():
    path, named = user_file_path({})
    assert (named, exists(path)) == (False, False)
    assert create_llm("scripted", replies=["hello"]).generate("hi").content == "hello"
    assert FileModelStore().root == Path("/nonexistent/.cache/abstractcore/models")
    assert data_folder() == Path("/nonexistent/.local/share/abstractcore")


@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        (data_folder, {"function": "user_data_path", "author": None}),
        (cache_folder, {"function": "user_cache_path", "author": False}),
    ],
)
def test_folders_on_windows_stay_where_they_are(
    folder: Callable[[], Path], arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    """On Windows, platformdirs inserts a folder for the author, unless `author` is False."""
    asked: list[object] = []

    def path(name: str, author: object) -> Path:
        asked.append(author)
        return Path("/there", name)

    monkeypatch.setattr(platformdirs, arguments["function"], path)
    assert folder() == Path("/there/abstractcore")
    assert asked == [arguments["author"]]
