"""The names of sessions, and their files: in the folder `sessions` of the user's data folder, or at a path."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import abstractcore
from abstractcore.registry import did_you_mean, missing_path_hint, nearest_names
from abstractcore.user_folders import data_folder

_END: Final = ".session"
_NAME: Final = re.compile(r"\w(?:[\w.-]{0,62}\w)?")
"""Names that are names of files on every system."""


def sessions_folder() -> Path:
    """Returns the folder of named sessions."""
    return data_folder() / "sessions"


def stored_paths() -> list[Path]:
    """Returns the files of named sessions."""
    folder = sessions_folder()
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(_END))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise abstractcore.SessionError(f"{folder} cannot be read: {error.strerror or error}.") from None


def name_of(path: Path) -> str:
    """Returns what the user calls a session file: its name, or its path if it is elsewhere."""
    return path.name.removesuffix(_END) if path.parent == sessions_folder() else str(path)


def session_path(name: str) -> Path:
    """Returns the file of a name, or of a path: a text with a slash, or with the end `.session`.

    Raises `InvalidInputError` for what is neither.
    """
    if any(each and each in name for each in (os.sep, os.altsep)) or name.endswith(_END):
        return Path(name).expanduser()
    if not _NAME.fullmatch(name):
        hint = "Use letters, digits, dots, hyphens and underscores, at most 64; or a path, as in ./trip.session."
        raise abstractcore.InvalidInputError(f"{name!r:.80} is not a name for a session", path="NAME", hint=hint)
    return sessions_folder() / f"{name}{_END}"


def make_folder(path: Path) -> None:
    """Makes the folder of named sessions, if a file is to be in it; raises `SessionError`."""
    if path.parent == sessions_folder():
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise abstractcore.SessionError(f"{path.parent} cannot be made: {error.strerror or error}.") from None


def new_session_path(name: str) -> Path:
    """Returns the file of a new session; raises `InvalidInputError` if there is one of this name."""
    path = session_path(name)
    if path.exists():
        hint = "Give another name."
        raise abstractcore.InvalidInputError(f"there is a session {name!r} already", path="NAME", hint=hint)
    make_folder(path)
    return path


def existing_path(name: str) -> Path:
    """Returns the file of a session; raises `InvalidInputError` with the nearest names if there is none."""
    path = session_path(name)
    if path.exists():
        return path
    if path.parent != sessions_folder():
        hint = missing_path_hint(str(path))
    else:
        file = file_beside(name)
        near = [file] if file else nearest_names(name, map(name_of, stored_paths()))
        hint = did_you_mean(near) if near else "Run `abstractcore sessions list`."
    raise abstractcore.InvalidInputError(f"there is no session {name!r:.80}", path="NAME", hint=hint)


def file_beside(name: str) -> str | None:
    """Returns the file of the current folder that a name may stand for, as it is to be written; None without one."""
    file = os.path.join(os.curdir, f"{name}{_END}")
    return file if _NAME.fullmatch(name) and not name.endswith(_END) and os.path.isfile(file) else None


@contextmanager
def opened_here(path: Path) -> Generator[None]:
    """In its body, a session that is open elsewhere is an error with what to do on the command line."""
    try:
        yield
    except abstractcore.SessionBusyError as error:
        error.hint = f"Close the other chat. To read it: abstractcore sessions show {name_of(path)}"
        raise
