"""Locks and folders of downloads: one process at a time for each model. Scratch is removed, partial files are kept."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from abstractcore.errors import MissingExtraError
from abstractcore.schema.base_error import install_hint

from .checksums import size_of
from .progress import note

_PARTIAL = ".partial"


@contextlib.contextmanager
def locked(root: Path, slug: str, name: str) -> Generator[None]:
    """Holds the lock of one model, across threads and processes; reports when it waits. Raises `OSError`."""
    try:
        from filelock import FileLock, Timeout
    except ImportError:
        raise MissingExtraError(
            f"{name} is not stored, and downloading needs filelock, which is not installed",
            hint=install_hint("filelock", extra="local"),
        ) from None
    locks = root / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(locks / f"{slug}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        note(f"waiting for another process that downloads {name} ...")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def scratch_folder(root: Path, slug: str) -> Generator[Path]:
    """Yields a temporary folder on the store's file system; removes those of killed processes. Needs the lock."""
    home = root / ".scratch"
    home.mkdir(parents=True, exist_ok=True)
    for leftover in home.glob(f"{slug}+*"):
        shutil.rmtree(leftover, ignore_errors=True)
    # A unique name: an installer that outlived its killed parent may still write to the old one.
    scratch = Path(tempfile.mkdtemp(prefix=f"{slug}+", dir=home))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def partial_folder(root: Path, slug: str) -> Generator[Path]:
    """Yields the folder of a download that can be continued. It is removed after a success, or if it has no files.
    Needs the lock.
    """
    partial = root / _PARTIAL / slug
    partial.mkdir(parents=True, exist_ok=True)
    try:
        yield partial
    except BaseException:
        if not (partial.exists() and size_of(partial)):
            shutil.rmtree(partial, ignore_errors=True)
        raise
    shutil.rmtree(partial, ignore_errors=True)


def has_partial(root: Path, slug: str) -> bool:
    """Returns whether something is left of an interrupted download."""
    return (root / _PARTIAL / slug).exists()


def discard_partial(root: Path, slug: str) -> None:
    """Removes what is left of an interrupted download. Needs the lock."""
    shutil.rmtree(root / _PARTIAL / slug, ignore_errors=True)


def put_in_place(created: Path, folder: Path, scratch: Path) -> None:
    """Moves `created` to `folder`, and the previous content to `scratch`."""
    if folder.exists():
        folder.rename(scratch / "old")
    created.rename(folder)
