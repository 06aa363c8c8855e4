"""`FileModelStore`: one folder for each model, downloaded and verified elsewhere and then moved into place."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import shutil
from collections.abc import Generator, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, unquote

from abstractcore.errors import MissingExtraError, ModelStoreError
from abstractcore.ports import ModelWeights, PackagedModel, StoredModel
from abstractcore.schema.json_values import check_items
from abstractcore.user_folders import cache_folder

from .checksums import CHECKSUMS_FILE, is_intact, size_of, write_checksums
from .hub import HubSource
from .hub_files import HubFilesSource
from .local_paths import checked_path, is_path
from .packaged import PACKAGED_MODELS
from .packages import PackageSource
from .progress import Progress, note, shown_size, watched
from .sources import ModelSource
from .wheels import redact
from .workspace import discard_partial, has_partial, locked, partial_folder, put_in_place, scratch_folder

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
            with _explained(source, self.root), locked(self.root, folder.name, name):
                # Another process may have downloaded it while this one waited.
                if not is_intact(folder, source.hashes):
                    self._fetch(sources, folder)
        return folder / source.file if source.file else folder

    def list(self) -> Sequence[StoredModel]:
        """Returns the stored models, sorted by name."""
        return [self._stored(unquote(file.parent.name)) for file in sorted(self.root.glob(f"*/{CHECKSUMS_FILE}"))]

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
            _explained(source, self.root),
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

    def _stored(self, name: str) -> StoredModel:
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
def _explained(source: ModelSource, root: Path) -> Generator[None]:
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
