"""Where the user's files are: own facts, and later versions of the provider files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

USER_FILE_VARIABLE = "ABSTRACTCORE_MODELS"


def user_file_path(environment: Mapping[str, str]) -> tuple[Path, bool]:
    """Returns the path of the user's facts, and whether the user named it: `$ABSTRACTCORE_MODELS`, or `models.toml` in
    the user's configuration folder.
    """
    named = environment.get(USER_FILE_VARIABLE)
    if named:
        return Path(named).expanduser(), True
    import platformdirs  # here, as it takes as long to import as a provider's file to read

    return platformdirs.user_config_path("abstractcore") / "models.toml", False


def updates_folder() -> Path:
    """Returns the folder of later versions of the provider files: `catalogue` in the user's data folder."""
    import platformdirs

    return platformdirs.user_data_path("abstractcore") / "catalogue"
