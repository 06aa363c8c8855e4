"""The user's folders for settings, data and what can be downloaded again, where the system has them."""

from __future__ import annotations

from pathlib import Path

_NO_HOME = Path("/nonexistent")
"""The home of users who have none, as Debian's policy names it: nothing is there, and nothing can be written."""


def config_folder() -> Path:
    """Returns the folder for settings."""
    import platformdirs  # in functions, as it takes as long to import as a provider's file to read

    try:
        return platformdirs.user_config_path("abstractcore")
    except RuntimeError:  # users of services may have no home
        return _NO_HOME / ".config" / "abstractcore"


def data_folder() -> Path:
    """Returns the folder for data."""
    import platformdirs

    try:
        return platformdirs.user_data_path("abstractcore")
    except RuntimeError:
        return _NO_HOME / ".local" / "share" / "abstractcore"


def cache_folder() -> Path:
    """Returns the folder for what can be downloaded again."""
    import platformdirs

    try:
        return platformdirs.user_cache_path("abstractcore", False)
    except RuntimeError:
        return _NO_HOME / ".cache" / "abstractcore"
