"""Small file systems in memory, for tests that fill a disk."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

_MOUNT = 'mount -t tmpfs -o "size=$1,mode=1777" tmpfs "$2"'


@contextmanager
def small_disk(size: int) -> Generator[Path]:
    """Makes a file system of `size` bytes during `with`; yields its folder, which every user may write.

    Root mounts it. For anybody else it is in a namespace of its own, which the kernel or a container may not permit:
    then the test is skipped.
    """
    is_root = os.geteuid() == 0
    namespace = [] if is_root else ["unshare", "--map-root-user", "--mount"]
    mount = 'mount -t tmpfs -o "size=$1,mode=1777" tmpfs "$2" && echo mounted && exec cat'
    with (
        tempfile.TemporaryDirectory(prefix="disk-") as folder,
        subprocess.Popen(
            [*namespace, "sh", "-c", mount, "sh", str(size), folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as holder,
    ):  # fmt: skip
        assert holder.stdin is not None
        assert holder.stdout is not None
        reply = holder.stdout.readline().strip()
        if reply != "mounted":
            pytest.skip(f"no file system can be mounted here, which takes root or a namespace of users: {reply}")
        try:
            yield Path(folder) if is_root else Path(f"/proc/{holder.pid}/root{folder}")
        finally:
            holder.stdin.close()
            if is_root:
                subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Callable[[], None]:
    """Writes a file until the disk of a folder is full; returns what deletes it."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    return ballast.unlink
