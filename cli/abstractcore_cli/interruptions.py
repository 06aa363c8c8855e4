"""What is said after Ctrl-C. Imports nothing that takes long, so that Ctrl-C during an import is handled as well."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as of shells."""
INTERRUPTION = "stopped by Ctrl-C"
AGAIN = "Run the same command again to begin anew."
"""What is said after Ctrl-C, unless a command says how it goes on."""


@contextmanager
def when_interrupted(hint: str) -> Generator[None]:
    """Has `hint` reported after a Ctrl-C in the body: what is kept, and what to type to go on."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(hint)
        raise
