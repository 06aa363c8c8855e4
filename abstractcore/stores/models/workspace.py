"""Where weights are made before they are moved into place: one process at a time a model, nothing left behind."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from abstractcore.errors import MissingExtraError

from .progress import note


@contextlib.contextmanager
def locked(root: Path, slug: str, name: str) -> Generator[None]:
    """Hold the lock of one model, across threads and processes; waits, and says so. Raises `OSError`."""
    try:
        from filelock import FileLock, Timeout
    except ImportError:
        raise MissingExtraError(
            f"{name} is not here, and filelock, which fetching needs, is not installed",
            hint="Install it with: pip install filelock (part of the extra 'local').",
        ) from None
    locks = root / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(locks / f"{slug}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        note(f"waiting for another process that fetches {name} ...")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def scratch_folder(root: Path, slug: str) -> Generator[Path]:
    """A folder on the store's file system, gone afterwards; those of killed processes go first. Under the lock."""
    home = root / ".scratch"
    home.mkdir(parents=True, exist_ok=True)
    for leftover in home.glob(f"{slug}+*"):
        shutil.rmtree(leftover, ignore_errors=True)
    # A name of its own: an installer that outlived its killed parent may still write to the old one.
    scratch = Path(tempfile.mkdtemp(prefix=f"{slug}+", dir=home))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def put_in_place(made: Path, folder: Path, scratch: Path) -> None:
    """Move `made` to `folder`, what was there to `scratch`."""
    if folder.exists():
        folder.rename(scratch / "old")
    made.rename(folder)
