"""Where the user's files are: own facts, and later versions of the provider files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..user_folders import config_folder, data_folder

USER_FILE_VARIABLE = "ABSTRACTCORE_MODELS"
CONFIG_FILE_VARIABLE = "ABSTRACTCORE_CONFIG"


def user_file_path(environment: Mapping[str, str]) -> tuple[Path, bool]:
    """Returns the path of the user's facts, and whether the user named it: `$ABSTRACTCORE_MODELS`, or `models.toml` in
    the user's configuration folder.
    """
    return _in_config_folder("models.toml", environment.get(USER_FILE_VARIABLE))


def config_file_path(environment: Mapping[str, str]) -> tuple[Path, bool]:
    """Returns the path of the user's settings, and whether the user named it: `$ABSTRACTCORE_CONFIG`, or `config.toml`
    in the user's configuration folder.
    """
    return _in_config_folder("config.toml", environment.get(CONFIG_FILE_VARIABLE))


def _in_config_folder(name: str, named: str | None) -> tuple[Path, bool]:
    if named:
        return expanded(named), True
    return config_folder() / name, False


def expanded(path: str) -> Path:
    """Returns a path with the home folder of "~" or "~user"; that of an unknown user is returned as it is."""
    return Path(os.path.expanduser(path))


def exists(path: Path) -> bool:
    """Returns whether a file can be found; False for one in a folder that must not be searched, as `HOME` of another
    user, where `Path.exists` raises `PermissionError` before Python 3.14.
    """
    return os.path.exists(path)


def updates_folder() -> Path:
    """Returns the folder of later versions of the provider files: `catalogue` in the user's data folder."""
    return data_folder() / "catalogue"
