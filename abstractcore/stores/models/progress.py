"""Progress of downloads: a bar on a terminal, one line elsewhere. Measured by the bytes on disk."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TypeAlias

from .checksums import size_of

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the model's name, the bytes so far and the total bytes, from a thread of its own."""

_INTERVAL = 0.1


def shown_size(size: int) -> str:
    """Returns a number of bytes as all texts about downloads have it: "98 MB", "1.1 GB"."""
    return f"{size / 1e9:.1f} GB" if size >= 999_500_000 else f"{max(1, round(size / 1e6))} MB"


@contextlib.contextmanager
def watched(name: str, folders: Sequence[Path], total: int, progress: Progress | None) -> Generator[None]:
    """Reports the growth of `folders` up to `total` bytes while the body runs; the full size only if it succeeds."""
    with contextlib.ExitStack() as stack:
        report = progress or stack.enter_context(_display(name, total))
        done = threading.Event()

        def watch() -> None:
            most = 0
            while not done.wait(_INTERVAL):
                # Temporary files vanish; a bar that goes back would be confusing.
                most = max(most, min(sum(map(size_of, folders)), total))
                report(name, most, total)

        thread = threading.Thread(target=watch, name="abstractcore-fetch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
        report(name, total, total)


@contextlib.contextmanager
def _display(name: str, total: int) -> Generator[Progress]:
    if not _on_terminal():
        note(f"downloading {name} ({shown_size(total)}) ...")
        yield lambda name, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("downloading {task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda name, done, total: bar.update(task, completed=done)


def _on_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False  # a program without a console, or with a closed one


def note(line: str) -> None:
    """Writes one line to stderr, if there is one."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
