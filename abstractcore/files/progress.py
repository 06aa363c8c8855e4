"""Passes the progress of conversions on to the user's function."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..schema import MediaProgress

_log = logging.getLogger("abstractcore")
_STEPS = 100


class ProgressReporter:
    """Calls a function with the progress of one file, in the thread of its conversion, at most for each hundredth of a
    known total. If the function raises an exception, it is logged, and the function is not called again: the conversion
    goes on.
    """

    def __init__(self, function: Callable[[MediaProgress], object], source: str) -> None:
        self._function: Callable[[MediaProgress], object] | None = function
        self._source = source
        self._step = -1

    def __call__(self, done: float, total: float | None, what: str) -> None:
        """Reports progress; see `MediaContext.progress`."""
        step = int(_STEPS * done / total) if total else self._step + 1
        if self._function is None or step <= self._step:
            return
        self._step = step
        try:
            self._function(MediaProgress(self._source, done, total, what))
        except Exception:
            self._function = None
            _log.exception("the function on_media_progress failed: it is not called for %s again", self._source)
