"""The progress of what a backend makes, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ..schema import CallProgress
from .screen import shown


@contextmanager
def progress_shown(silent: bool) -> Generator[Callable[[CallProgress], None] | None]:
    """Yields a function for `on_progress`, which shows a bar on a terminal; None where nothing is shown."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr, highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        bar = bars.add_task("", total=None)

        def show(progress: CallProgress) -> None:
            what = " ".join(shown(progress.what).split())
            bars.update(bar, description=what, completed=progress.done, total=progress.total)

        yield show
