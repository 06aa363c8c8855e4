"""The user's folders for settings, data and what can be downloaded again, where the system has them, and the paths of
the user's files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

USER_FILE_VARIABLE = "ABSTRACTCORE_MODELS"
CONFIG_FILE_VARIABLE = "ABSTRACTCORE_CONFIG"

_NO_HOME = Path("/nonexistent")
"""The home of users who have none, as Debian's policy names it: nothing is there, and nothing can be written."""


def config_folder() -> Path:
    """Returns the folder for settings, in which every program looks: on Linux, without the import that finds it."""
    parent = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", ""), ".config")
    if sys.platform == "linux" and parent.startswith("/"):
        return Path(parent) / "abstractcore"
    return _system_folder("user_config_path", ".config")


def data_folder() -> Path:
    """Returns the folder for data."""
    return _system_folder("user_data_path", ".local", "share")


def cache_folder() -> Path:
    """Returns the folder for what can be downloaded again."""
    return _system_folder("user_cache_path", ".cache", author=False)


def _system_folder(function: str, *without_home: str, author: Literal[False] | None = None) -> Path:
    """Asks platformdirs; `author` False leaves out the folder of an author, which Windows has.

    Before 4.13 it returned a folder named `~` for users without home, as services may be.
    """
    import platformdirs  # in a function, as it takes as long to import as a provider's file to read

    try:
        return getattr(platformdirs, function)("abstractcore", author).expanduser()
    except RuntimeError:
        return _NO_HOME.joinpath(*without_home, "abstractcore")


def user_file_path(environment: Mapping[str, str]) -> tuple[Path, bool]:
    """Returns the path of the user's facts about models, and whether the user named it: `$ABSTRACTCORE_MODELS`, or
    `models.toml` in the user's configuration folder.
    """
    return _in_config_folder("models.toml", environment.get(USER_FILE_VARIABLE))


def config_file_path(environment: Mapping[str, str]) -> tuple[Path, bool]:
    """Returns the path of the user's settings, and whether the user named it: `$ABSTRACTCORE_CONFIG`, or `config.toml`
    in the user's configuration folder.
    """
    return _in_config_folder("config.toml", environment.get(CONFIG_FILE_VARIABLE))


def _in_config_folder(name: str, named: str | None) -> tuple[Path, bool]:
    if named:
        return Path(os.path.expanduser(named)), True  # "~user" of an unknown user stays as it is
    return config_folder() / name, False


def exists(path: Path) -> bool:
    """Returns whether a file can be found; False for one in a folder that must not be searched, as `HOME` of another
    user, where `Path.exists` raises `PermissionError` before Python 3.14.
    """
    return os.path.exists(path)
