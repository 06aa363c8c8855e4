"""The provider files in a wheel, a zip file or a folder. Nothing of it is executed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from ..errors import ConfigurationError
from .documents import MAX_BYTES, Document, document, read_document
from .folders import exists

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
        raise ConfigurationError(f"{source} does not exist.", hint="Pass a wheel, a zip file, a folder or a URL.")
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
