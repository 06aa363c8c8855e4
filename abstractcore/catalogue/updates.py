"""Replaces the provider files in the user's folder by later ones: all are checked first.

The provider files in a wheel, a zip file or a folder. Nothing of it is executed.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePosixPath

from ..errors import ConfigurationError
from ..registry.suggestions import similar_path
from ..user_folders import exists
from .documents import MAX_BYTES, Document, document, read_document
from .provider_file import CatalogueProvider
from .provider_models import ProviderModels


@dataclass(frozen=True, slots=True)
class CatalogueChange:
    """The models of a provider that an update adds, removes and changes, and the days of the facts before and after.

    `repaired` says that a damaged file of an earlier update is replaced; the facts before are then those installed.
    """

    provider: str
    before: date | None
    after: date | None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    repaired: bool = False

    @property
    def is_later(self) -> bool:
        """Whether the facts are later ones, and so are used."""
        return self.after is not None and (self.before is None or self.after > self.before)


def update_files(
    files: Mapping[str, Document], present: Mapping[str, CatalogueProvider], damaged: Set[str], folder: Path
) -> list[CatalogueChange]:
    """Puts the `files` that are later than the `present` ones into `folder`, and those of providers whose file there is
    `damaged`; returns the changes of all.

    Files of providers without a present one are left out. Every file is checked before any is replaced: raises
    `ConfigurationError` for an invalid one, when the folder is as before, and if the folder cannot be written.
    """
    read: dict[str, CatalogueProvider] = {}
    try:
        read |= {name: CatalogueProvider(files[name], name) for name in sorted(files) if name in present}
        for name, file in read.items():
            ProviderModels(name, file, None).check()
    except ConfigurationError as error:
        error.hint = error.hint or "It may be damaged, or for a later version of abstractcore."
        raise
    changes = [replace(_change(name, present[name], file), repaired=name in damaged) for name, file in read.items()]
    new = {each.provider: read[each.provider].document.text for each in changes if each.is_later or each.repaired}
    if new:
        try:
            _replace(new, folder)
        except OSError as error:
            raise ConfigurationError(
                f"{folder} cannot be written: {error.strerror or error}.",
                hint="Each of its files is as before, or new.",
            ) from None
    return changes


def _change(provider: str, before: CatalogueProvider, after: CatalogueProvider) -> CatalogueChange:
    old, new = before.models, after.models
    both = sorted(old.keys() & new.keys())
    return CatalogueChange(
        provider,
        before.header.as_of,
        after.header.as_of,
        tuple(sorted(new.keys() - old.keys())),
        tuple(sorted(old.keys() - new.keys())),
        tuple(name for name in both if _content(before, name) != _content(after, name)),
    )


def _content(file: CatalogueProvider, name: str) -> object:
    """Returns the content of a row, without the day on which it was checked."""
    row = file.models[name]
    facts = {key: value for key, value in file.facts(row).items() if key != "checked"}
    return row.alias_of, facts, row.prices


def _replace(files: Mapping[str, str], folder: Path) -> None:
    """Writes all files beside their places, then moves each into its place: a reader sees the old or the new one, also
    if the program is killed, and those of another update stay.
    """
    folder = folder.resolve()  # a symbolic link stays one
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as scratch:
        names = [f"{name}.jsonl" for name in files]
        for name, text in zip(names, files.values(), strict=True):
            with (Path(scratch) / name).open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())  # else a file can be empty after a power failure, though it was renamed
        for name in names:
            (Path(scratch) / name).replace(folder / name)


_FOLDER = "catalogue"
_SUFFIX = ".jsonl"
_PATTERNS = (f"*{_SUFFIX}", *(f"{'*/' * depth}{_FOLDER}/*{_SUFFIX}" for depth in range(3)))
"""Where the files are in a folder: at the top, in `catalogue`, in an unpacked wheel, or in a checkout. Others are not
searched, since the folder may be a whole disk."""
_MOST_BYTES = 64 * 1024 * 1024


def read_source(source: Path, name: str | None = None) -> Mapping[str, Document]:
    """Returns the files of a wheel, a zip file or a folder by provider; raises `ConfigurationError` without any.

    They are in a folder `catalogue`, as in the wheel of abstractcore, or at the top. Errors call the source `name`, by
    default by its path.
    """
    name = name or str(source)
    if not exists(source):
        hint = similar_path(str(source)) or "Pass a wheel, a zip file, a folder or a URL."
        raise ConfigurationError(f"{source} does not exist.", hint=hint)
    if not (source.is_dir() or source.is_file()):  # a device may have no end
        raise ConfigurationError(
            f"{name} is neither a file nor a folder.", hint="Pass a wheel, a zip file or a folder."
        )
    pairs = _of_folder(source, name) if source.is_dir() else _of_archive(source, name)
    files = dict(pairs)
    if not files:
        raise ConfigurationError(
            f"{name} has no catalogue: expected files such as {_FOLDER}/PROVIDER{_SUFFIX}.",
            hint="Is it a wheel of abstractcore? The package index may have another project of that name.",
        )
    return files


def _of_folder(folder: Path, name: str) -> Iterator[tuple[str, Document]]:
    for pattern in _PATTERNS:
        for path in sorted(folder.glob(pattern)):
            yield path.stem, read_document(path, f"{name.rstrip('/')}/{path.relative_to(folder).as_posix()}")


def _of_archive(path: Path, source: str) -> Iterator[tuple[str, Document]]:
    size = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                name = PurePosixPath(info.filename)
                if name.suffix == _SUFFIX and (len(name.parts) == 1 or name.parts[-2] == _FOLDER):
                    with archive.open(info) as file:
                        data = file.read(MAX_BYTES + 1)
                    size += len(data)
                    if size > _MOST_BYTES:
                        raise ConfigurationError(f"{source} has more than {_MOST_BYTES >> 20} MiB of catalogues.")
                    yield name.stem, document(data, f"{source}/{name}")
    except ConfigurationError:
        raise
    except Exception as error:  # the errors of damaged archives have no common class: zlib.error, LZMAError, ...
        raise ConfigurationError(
            f"{source} is not a readable wheel or zip file: {error}.", hint="Download it again."
        ) from None
