"""The command line: `abstractcore ask`, `chat`, `models`, `plugins`. It uses public names of the library only."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from io import TextIOWrapper
from typing import cast

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Runs the command line on `sys.argv`; exits with one of the exit codes that `--help` lists."""
    _prepare_streams()
    try:
        # Imported here, so that Ctrl-C during the import is handled as well.
        from .app import app

        app()
    except KeyboardInterrupt:
        _end_at_once()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            _end_at_once()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would interrupt the closing of connections


def _prepare_streams() -> None:
    """Replaces closed streams by empty ones, and characters that cannot be encoded by question marks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name) or open(os.devnull, mode)  # noqa: SIM115 - open as long as the process
        cast(TextIOWrapper, stream).reconfigure(errors="replace")
        setattr(sys, name, stream)


def _end_at_once() -> None:
    """Exits without waiting for threads, one of which may be transcribing an hour of audio."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(_INTERRUPTED)
