"""The last conversation, which `-c` continues: a named session, or what `ask` and `chat` keep without a name."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import abstractcore
from abstractcore.schema import MEDIA_PARTS
from abstractcore.sessions import remove_session
from abstractcore.user_folders import data_folder

from ..screen import note
from .names import stored_paths

if TYPE_CHECKING:
    from abstractcore.schema import Message

VARIABLE: Final = "ABSTRACTCORE_KEEP_LAST"
_OFF: Final = ("off", "no", "false", "0")
_MOST_BYTES: Final = 32 << 20
"""Of files in a conversation without a name: a film is not copied only because somebody might ask about it again."""


def unnamed_path() -> Path:
    """Returns the file of the last conversation without a name."""
    return data_folder() / "last.session"


def last_path() -> Path:
    """Returns the session file that was written last; raises `InvalidInputError` if there is none."""
    found = [(time, path) for path in (unnamed_path(), *stored_paths()) if (time := _last_written(path)) is not None]
    if found:
        return max(found)[1]
    why = f": {VARIABLE} is {os.environ[VARIABLE]}" if _is_off() else ""
    hint = 'Begin one: abstractcore ask "QUESTION"; with --session NAME it is kept under a name.'
    raise abstractcore.InvalidInputError(f"there is no conversation to continue{why}", path="-c", hint=hint)


def keep_last(session: abstractcore.Session) -> None:
    """Keeps a conversation without a name as the last one, in place of the one before it. What hinders that is a note:
    the answer is there.
    """
    if _is_off() or not session.exchanges:
        return
    path = unnamed_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            remove_session(path)
        if _file_bytes(session.history(full=True)) > _MOST_BYTES:
            note(f"`-c` cannot continue this, its files have over {_MOST_BYTES >> 20} MB: --session NAME keeps them")
            return
        session.fork(path).close()
    except abstractcore.SessionBusyError:
        return  # another command is in the midst of a conversation, which is then the last one
    except (OSError, abstractcore.SessionError) as error:
        why = error.message if isinstance(error, abstractcore.SessionError) else f"{path}: {error.strerror or error}"
        note(f"warning: `-c` cannot continue this: {why}")


def _is_off() -> bool:
    return os.environ.get(VARIABLE, "").lower() in _OFF


def _last_written(path: Path) -> float | None:
    """Returns when a session file was written last; None if there is none. Its last changes may be beside it."""
    times: list[float] = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            times.append(each.stat().st_mtime)
    return max(times) if path.is_file() and times else None


def _file_bytes(messages: tuple[Message, ...]) -> int:
    parts = (part for message in messages for part in message.parts if isinstance(part, MEDIA_PARTS))
    return sum(part.blob.size or 0 for part in parts)
