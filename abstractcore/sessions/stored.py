"""Session files without a model: what is in one in short, and its removal."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ..errors import SessionError
from ..registry.suggestions import missing_path_hint
from ..schema import CostSums
from ..schema.reprs import Immutable
from .file import SessionFile, locked
from .history import SessionUsage, usage_of

_BESIDE = ("-wal", "-shm", "-journal")
"""The ends of the names of files that SQLite makes beside a database."""


@dataclass(frozen=True, slots=True)
class SessionSummary(Immutable):
    """What a session file holds, in short: `exchanges` is their number, and `usage` and `cost` are those of all calls.

    `provider` and `model` are those that answered last, None in a session without an answer. `last_used` is the time of
    the last change, in seconds since 1970.
    """

    path: Path
    id: str | None
    provider: str | None
    model: str | None
    exchanges: int
    usage: SessionUsage
    cost: CostSums
    last_used: float

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Returns the summary of a file, which may be open elsewhere. Messages are not read.

        Raises `SessionError` for a file that does not exist, is damaged, of a later release, or not a session.
        """
        file = SessionFile(path, read_only=True)
        try:
            history, id = file.history(with_messages=False), file.setting("id")
        finally:
            file.close()
        answered = next((each for each in reversed(history.exchanges) if each.model is not None), None)
        provider, model = (None, None) if answered is None else (answered.provider, answered.model)
        count = len(history.exchanges)
        return cls(
            file.path, id, provider, model, count, usage_of(history.usage), history.cost, _last_change(file.path)
        )


def remove_session(path: str | os.PathLike[str]) -> None:
    """Removes a session file, and what is beside it.

    Raises `SessionBusyError` if it is open, and `SessionError` if it does not exist or cannot be removed.
    """
    given, target = Path(path), Path(os.path.realpath(path))
    if not target.is_file():
        raise SessionError(f"{given} does not exist.", hint=missing_path_hint(str(given)))
    held = locked(given)
    try:
        target.unlink()
        given.unlink(missing_ok=True)  # a link to it
        for end in _BESIDE:
            target.with_name(f"{target.name}{end}").unlink(missing_ok=True)
        files = target.with_name(f"{target.name}.files")
        if files.is_dir():
            shutil.rmtree(files)
    except OSError as error:
        raise SessionError(f"{error.filename or target} cannot be removed: {error.strerror or error}.") from None
    finally:
        held.close()
    with suppress(OSError):  # another process has opened it by now
        target.with_name(f"{target.name}.lock").unlink(missing_ok=True)


def _last_change(path: Path) -> float:
    """Returns the time of the last change: what was written last is in the log of the database."""
    times: list[float] = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            found = each.stat()
            if found.st_size or each == path:
                times.append(found.st_mtime)
    return max(times, default=0.0)
