"""A script of tests that starts in milliseconds: a process that has loaded it forks to run it.

What its command starts is a small program of the same name in `warm/`: it hands over its standard streams, arguments,
environment and folder, and ends as the script does.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parent / "warm"


class WarmProgram:
    """A script with a function `main`. `command` starts it as usual while this does not run."""

    def __init__(self, script: Path) -> None:
        self._socket = Path(tempfile.gettempdir()) / f"warm-{uuid.uuid4().hex[:12]}"
        self._script = script
        self._runs = False
        self.command = [sys.executable, "-IS", str(FOLDER / script.name), str(self._socket), str(script)]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Loads the script in a process; does nothing if there is one."""
        if self._runs:
            yield
            return
        command = [sys.executable, str(FOLDER / "server.py"), str(self._socket), str(self._script)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            self._runs = True
            try:
                yield
            finally:
                self._runs = False
                process.stdin.close()
                process.wait()
                self._socket.unlink()
