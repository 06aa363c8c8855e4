"""What is compared: a row for each program, the environment that it runs in, and the server that it needs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
_CACHE = FOLDER.parent.parent / ".cache" / "durability"
_START_SECONDS = 60
_STARTS = 3


@dataclass(frozen=True)
class Contender:
    """A program of this folder, and the file of its requirements; without one it runs in this environment."""

    program: str
    arguments: tuple[str, ...] = ()
    requirements: str = ""
    packages: tuple[str, ...] = ()
    """What has the versions that the results are of; by default what the requirements name."""
    needs_temporal: bool = False

    def command(self, *arguments: str) -> list[str]:
        """Returns the command line of the program, with arguments after its own."""
        return [str(self._python()), str(FOLDER / self.program), *self.arguments, *arguments]

    def versions(self) -> dict[str, str]:
        """Returns the versions of Python, SQLite, and of the packages."""
        text = (FOLDER / self.requirements).read_text() if self.requirements else ""
        packages = self.packages or re.findall(r"^([\w-]+)", text, re.MULTILINE)
        code = (
            "import json, platform, sqlite3, sys; from importlib.metadata import version;"
            "print(json.dumps({'python': platform.python_version(), 'sqlite': sqlite3.sqlite_version,"
            " **{name: version(name) for name in sys.argv[1:]}}))"
        )
        done = subprocess.run([self._python(), "-c", code, *packages], stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)

    @contextmanager
    def server(self, folder: Path) -> Generator[dict[str, str]]:
        """Starts the server that the program needs, with its data in a folder; yields the variables that name it."""
        if not self.needs_temporal:
            yield {}
            return
        command = [str(self._python().with_name("temporal")), "server", "start-dev", "--headless", "--ip", "127.0.0.1"]
        process, address = _started([*command, "--db-filename", str(folder / "temporal.sqlite")], folder)
        with process:
            try:
                yield {"DURABILITY_SERVER": address}
            finally:
                process.kill()

    def _python(self) -> Path:
        """Returns the interpreter of the environment, which is installed if it is missing."""
        if not self.requirements:
            return Path(sys.executable)
        requirements = FOLDER / self.requirements
        digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:8]
        folder = _CACHE / f"{requirements.stem}-{digest}"
        python = folder / "bin" / "python"
        if not folder.exists():
            uv = Path(sys.executable).with_name("uv")
            subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
            subprocess.run([uv, "pip", "install", "--quiet", "--python", python, "-r", requirements], check=True)
        return python


CONTENDERS = {
    "no runtime": Contender("without.py"),
    "LangGraph": Contender("on_langgraph.py", ("async",), "on_langgraph.txt"),
    "LangGraph, durability sync": Contender("on_langgraph.py", ("sync",), "on_langgraph.txt"),
    "pydantic-ai, DBOS": Contender("on_dbos.py", (), "on_dbos.txt"),
    "pydantic-ai, Temporal": Contender("on_temporal.py", ("0",), "on_temporal.txt", needs_temporal=True),
    "pydantic-ai, Temporal, one attempt": Contender("on_temporal.py", ("1",), "on_temporal.txt", needs_temporal=True),
    "abstractruntime": Contender("ours.py", packages=("abstractcore", "abstractruntime")),
}
"""The rows, in the order of the table. A program takes `start`, `resume`, `approve`, and `answer` if it asks more."""


def _started(command: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Starts a server at a free port, once more if another program took one of its ports; returns its address."""
    log = folder / "temporal.log"
    for _ in range(_STARTS):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with log.open("wb") as output:
            environment = {**os.environ, "HOME": str(folder)}
            process = subprocess.Popen([*command, "--port", str(port)], stdout=output, stderr=output, env=environment)
        if _answers(port, process):
            return process, f"127.0.0.1:{port}"
        process.kill()
        process.wait()
    raise RuntimeError(f"Temporal's server did not start:\n{log.read_text()[-2000:]}")


def _answers(port: int, process: subprocess.Popen[bytes]) -> bool:
    """Returns whether the server answers, once it does or has ended."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False
