"""The store itself: one folder a model, made whole in a scratch folder beside it and moved into place."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import shutil
from collections.abc import Generator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

import platformdirs

from abstractcore.errors import ModelStoreError
from abstractcore.ports import StoredModel
from abstractcore.schema.json_values import check_items

from .catalogue import CATALOGUE, CatalogueModel
from .checksums import SEAL, is_intact, seal, size_of
from .hub import HubSource
from .local_paths import checked_path, is_path
from .progress import MEBIBYTE, Progress, watched
from .sources import Source
from .wheels import WheelSource, redact
from .workspace import locked, put_in_place, scratch_folder

_MARGIN = 32 * MEBIBYTE


class FileModelStore:
    """Keeps weights under `root`, by default `models` in `$ABSTRACTCORE_CACHE` or in the user's cache.

    A name is one of the catalogue, `hf:owner/repository[/file]`, or a path of the user's own. Making a store does
    no I/O. `progress` takes the place of what is shown on stderr. Raises `SchemaError` for a `catalogue` that is none.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        catalogue: Sequence[CatalogueModel] = CATALOGUE,
        progress: Progress | None = None,
    ) -> None:
        self._root = root
        self._catalogue = {model.name: model for model in check_items(catalogue, CatalogueModel, "catalogue")}
        self._progress = progress

    @property
    def root(self) -> Path:
        """Where weights are kept."""
        if self._root is not None:
            return self._root
        cache = os.environ.get("ABSTRACTCORE_CACHE")
        return (Path(cache).expanduser() if cache else platformdirs.user_cache_path("abstractcore", False)) / "models"

    @property
    def catalogue(self) -> Sequence[CatalogueModel]:
        """The models that `pull` knows by a short name."""
        return tuple(self._catalogue.values())

    def path(self, name: str) -> Path:
        """The file of a model that is one file, else its folder; fetched and checked first if need be."""
        if is_path(name):
            return checked_path(name)
        source = self._source(name)
        folder = self._folder(source)
        if not is_intact(folder, source.hashes):
            with _explained(source, self.root), locked(self.root, folder.name, name):
                # Another process may have fetched it while this one waited.
                if not is_intact(folder, source.hashes):
                    self._fetch(source, folder)
        return folder / source.file if source.file else folder

    def list(self) -> Sequence[StoredModel]:
        """The models that were fetched or checked here, by name."""
        return [self._stored(unquote(seal.parent.name)) for seal in sorted(self.root.glob(f"*/{SEAL}"))]

    def pull(self, name: str) -> StoredModel:
        """Fetch `name` unless it is there already."""
        path = self.path(name)
        return StoredModel(name, path, size_of(path))

    def remove(self, name: str) -> bool:
        """Delete `name` from the store; False if it was not there. Raises `ModelStoreError` for a path."""
        if is_path(name):
            raise ModelStoreError(f"{name} is a file of yours and not the store's", hint="Delete it yourself.")
        source = self._source(name)
        folder = self._folder(source)
        if not folder.exists():
            return False
        with (
            _explained(source, self.root),
            locked(self.root, folder.name, name),
            scratch_folder(self.root, folder.name) as scratch,
        ):
            folder.rename(scratch / "old")
        return True

    def _source(self, name: str) -> Source:
        if name in self._catalogue:
            return WheelSource(self._catalogue[name])
        if name.startswith("hf:"):
            return HubSource.parse(name)
        near = difflib.get_close_matches(name.lower(), self._catalogue, n=3, cutoff=0.4) or list(self._catalogue)
        raise ModelStoreError(
            f"no model is called {name!r}",
            hint=f"Is it {' or '.join(near)}? Else write hf:owner/repository/file.gguf, or the path of a file.",
            code="unknown_model",
        )

    def _stored(self, name: str) -> StoredModel:
        path = self.root / quote(name, safe="")
        with contextlib.suppress(ModelStoreError):  # another version's catalogue may have had it
            path /= self._source(name).file or ""
        return StoredModel(name, path, size_of(path))

    def _folder(self, source: Source) -> Path:
        return self.root / quote(source.name, safe="")

    def _fetch(self, source: Source, folder: Path) -> None:
        size = source.size()
        _check_space(source, size, self.root)
        with scratch_folder(self.root, folder.name) as scratch:
            with watched(source.name, scratch, size, self._progress):
                weights = source.fetch(scratch)
                wrong = seal(weights, source.hashes)
            if wrong:
                raise ModelStoreError(
                    f"what was fetched for {source.name} is not the model: {wrong}",
                    hint="Look at which index or mirror your installer is set to, then try again.",
                )
            put_in_place(weights, folder, scratch)


def _check_space(source: Source, size: int, root: Path) -> None:
    needed, free = source.copies * size + _MARGIN, shutil.disk_usage(root).free
    if free < needed:
        numbers = f"fetching it takes {round(needed / MEBIBYTE)} MiB and {free // MEBIBYTE} MiB are free"
        raise OSError(errno.ENOSPC, numbers, str(root))


@contextlib.contextmanager
def _explained(source: Source, root: Path) -> Generator[None]:
    """Errors of the file system as ours, and with what to do next."""
    try:
        yield
    except ModelStoreError as error:
        if error.hint is None:
            folder = root / quote(source.name, safe="")
            error.hint = f"Type `abstractcore models pull {source.name}` with a network, or {source.by_hand(folder)}."
        raise
    except (OSError, NotImplementedError) as error:
        raise ModelStoreError(
            f"{source.name} cannot be kept in {root}: {redact(str(error))}",
            hint="Make room or give yourself the right to write there, or set ABSTRACTCORE_CACHE to another folder.",
        ) from None
