"""Downloads weights in wheels with pip or uv, so that the user's index settings apply."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from abstractcore.errors import ModelStoreError

from .packaged import PackagedModel

_FULL_DISK = re.compile(r"No space left on device|Disk quota exceeded|File too large|not enough space", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=://)[^\s/]+@")
_TAIL = 6


@dataclass(frozen=True, slots=True)
class WheelSource:
    """One of the packaged models."""

    model: PackagedModel

    copies = 2
    """The wheel and its unpacked files."""

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

    def by_hand(self, folder: Path) -> str:
        """Returns how to put the model into `folder` by hand."""
        files = ", ".join(file.name for file in self.model.files)
        return f"put {files} (from the wheel of {self.model.requirement}) into {folder}"

    def fetch(self, scratch: Path) -> Path:
        """Downloads the wheel, and returns a folder in `scratch` with its files. Raises `OSError` for a full disk."""
        unpacked = unpack_wheel(self.model.requirement, scratch, self.name)
        weights = scratch / "weights"
        weights.mkdir()
        for file in self.model.files:
            source = unpacked / file.path
            if not source.is_file():
                raise ModelStoreError(f"the wheel of {self.model.requirement} has no {file.path}")
            source.replace(weights / file.name)
        return weights


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
