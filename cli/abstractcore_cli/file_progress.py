"""`FileProgress`: a bar on the terminal while the files of a question are read and converted."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

from abstractcore.schema import MediaProgress

from .output_files import ProgressBar

Event = TypeVar("Event")


class FileProgress:
    """A function for `on_media_progress`: its bar is there from the first report until `stop`, on a terminal only."""

    def __init__(self, *, silent: bool) -> None:
        self._is_shown = not silent and sys.stderr.isatty()
        self._bar: ProgressBar | None = None
        self._lock = Lock()  # files are converted in threads

    def __call__(self, progress: MediaProgress) -> None:
        """Shows how many files are done, and how far a long conversion is."""
        if not self._is_shown:
            return
        total = "" if progress.total is None else f" of {progress.total:,.0f}"
        with self._lock:
            self._bar = self._bar or ProgressBar()
            what = f"{progress.source}: {progress.done:,.0f}{total} {progress.what}"
            self._bar.show(what, progress.done, progress.total)

    def stop(self) -> None:
        """Removes the bar: something else is printed now."""
        with self._lock:
            if self._bar is not None:
                self._bar.close()
                self._bar = None

    def before(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yields events of an answer; the bar is gone when one is handled."""
        for event in events:
            self.stop()
            yield event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
