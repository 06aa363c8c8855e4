"""The command line: `abstractcore ask`, `chat`, `models`, `plugins`. It uses public names of the library only, as the
server does; `toolkit` is what commands of other packages use.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from io import TextIOWrapper
from typing import cast

from .interruptions import AGAIN, INTERRUPTED, INTERRUPTION

__all__ = ["main"]


def main() -> None:
    """Runs the command line on `sys.argv`; exits with one of the exit codes that `--help` lists."""
    _prepare_streams()
    try:
        # Imported here, so that Ctrl-C during the import is handled as well.
        from .app import app

        app()
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{INTERRUPTION}\n{AGAIN}\n")
        _end_at_once()
    except OSError as error:
        sys.exit(_report(error))
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _end_at_once()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would interrupt the closing of connections
        _close_streams()


def _report(error: OSError) -> int:
    """Reports a file that cannot be used, or a stream that cannot be written, and returns the exit code."""
    code, problem, hint = 1, "the output cannot be written", "Free disk space, or write it to another place."
    if error.filename is not None:
        code, problem, hint = 2, f"{error.filename} cannot be used", "Check the path, and that you may write there."
    with contextlib.suppress(OSError):
        sys.stderr.write(f"error: {problem}: {error.strerror or error}.\n{hint}\n")
    return code


def _prepare_streams() -> None:
    """Replaces closed streams by empty ones, and characters that cannot be encoded by question marks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name) or open(os.devnull, mode)  # noqa: SIM115 - open as long as the process
        cast(TextIOWrapper, stream).reconfigure(errors="replace")
        setattr(sys, name, stream)


def _close_streams() -> None:
    """Flushes the streams. One that cannot be written, as a pipe without a reader, is replaced by an empty one: Python
    would report the rest of its buffer at exit.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError), open(os.devnull, "w") as empty:
                os.dup2(empty.fileno(), stream.fileno())


def _end_at_once() -> None:
    """Exits without waiting for threads, one of which may be transcribing an hour of audio."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(INTERRUPTED)
