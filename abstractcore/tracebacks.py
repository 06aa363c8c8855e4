"""Tracebacks of our own errors without our frames: those of the user's code, tools and middleware are left.

`ABSTRACTCORE_DEBUG=1` keeps all frames.
"""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Any, Final

_OURS: Final = ("abstractcore", "abstractcore_providers", "abstractcore_media")
_MOST_CAUSES: Final = 20


def shorten(error: BaseException) -> None:
    """Removes our frames from the traceback of an error and of its causes, as they are so far."""
    if os.environ.get("ABSTRACTCORE_DEBUG", "0") not in ("", "0"):
        return
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if cause is None:
            return
        cause.__traceback__ = _without_ours(cause.__traceback__)
        cause = cause.__cause__


def rendered(error: BaseException) -> list[str]:
    """Returns the traceback of an error as IPython shows it, without our frames."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    shorten(error)
    if shell is None:
        return traceback.format_exception(error)
    return shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__, tb_offset=1)


def _without_ours(found: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without the frames of our packages."""
    entries: list[TracebackType] = []
    while found is not None:
        if found.tb_frame.f_globals.get("__name__", "").partition(".")[0] not in _OURS:
            entries.append(found)
        found = found.tb_next
    for entry in reversed(entries):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found
