"""A real PostgreSQL for tests: Debian's, in a folder of its own, at a Unix socket that only this user reaches."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chaos_server import PATIENCE_SECONDS

PORT = 5432
"""A part of the socket's name: the server has no port."""


def programs() -> Path | None:
    """Returns the folder of the newest PostgreSQL's programs, None if none is installed."""
    in_path = shutil.which("pg_ctl")
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    found = [*versions, *([Path(in_path).resolve()] if in_path else [])]
    return found[-1].parent if found else None


class PostgreSQL:
    """A server that can be stopped and started again. `url` is that of its database, `log` the file of its messages.

    `data` is the folder of its tables, and `wal` that of its write-ahead log, by default in `folder`.
    """

    def __init__(self, folder: Path, bin: Path, *, data: Path | None = None, wal: Path | None = None) -> None:
        self._folder = folder
        self._bin = bin
        self._data = data or folder / "data"
        self._wal = wal or folder / "wal"
        self.log = folder / "log"
        self._user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        """PostgreSQL does not run as root."""
        self.url = f"postgresql://{self._user}@/postgres?unix_sock={folder}/.s.PGSQL.{PORT}"

    def prepare(self) -> None:
        """Makes the database."""
        if os.geteuid() == 0:
            shutil.chown(self._folder, self._user)
        options = "--no-sync", "--no-locale", "--encoding=UTF8", "--auth=trust", "--wal-segsize=1"
        self._run("initdb", f"--waldir={self._wal}", *options)

    def start(self) -> None:
        """Returns when the server accepts connections: a new one, if one runs."""
        options = f"-c listen_addresses= -c unix_socket_directories={self._folder} -p {PORT} -F"
        self._run("pg_ctl", "restart", "--wait", "--mode=immediate", f"--log={self.log}", f"--options={options}")

    def stop(self) -> None:
        """Ends the server, and all connections to it."""
        self._run("pg_ctl", "stop", "--wait", "--mode=immediate")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._bin / program, f"--pgdata={self._data}", *arguments],
            user=self._user if os.geteuid() == 0 else None,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,  # a pipe would stay open in the server
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE_SECONDS * 4,
            check=False,
        )
        assert done.returncode == 0, f"{program} ended with {done.returncode}"


@contextmanager
def running_postgresql(*, data: Path | None = None, wal: Path | None = None) -> Generator[PostgreSQL]:
    """Runs PostgreSQL during `with`, with its tables and its log in these folders; skips the test where it is not
    installed.
    """
    bin = programs()
    if bin is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    # The name of a socket is short: not in pytest's folder.
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        server = PostgreSQL(Path(folder), bin, data=data, wal=wal)
        server.prepare()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A PostgreSQL for all tests of this process."""
    with running_postgresql() as server:
        yield server
