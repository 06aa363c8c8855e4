"""A model whose one file is split over three small wheels, in a folder that the installers use as their index."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import random
import zipfile
from pathlib import Path

import pytest

from abstractcore.stores.models import FileModelStore, ModelFile, PackagedModel, WheelFile

PART = 100_000
WEIGHTS = b"GGUF" + random.Random(2).randbytes(2 * PART + 50_000)
PARTS = (WEIGHTS[:PART], WEIGHTS[PART : 2 * PART], WEIGHTS[2 * PART :])
HUB_FILE = "owner/repo/sub/split.gguf"


def split_model(hub: str | None = None) -> PackagedModel:
    """Returns the model, published on a hub too if `hub` is its address there."""
    parts = tuple(
        WheelFile(f"abstractcore-test-part{n}==1.0", f"test_part{n}/part.bin", len(part))
        for n, part in enumerate(PARTS, start=1)
    )
    file = ModelFile("split.gguf", len(WEIGHTS), hashlib.sha256(WEIGHTS).hexdigest(), parts, hub)
    return PackagedModel("split", (file,), "MIT", "For tests.")


def split_store(root: Path, hub: str | None = None) -> FileModelStore:
    """Returns a store in `root` with the model."""
    return FileModelStore(root, packaged=[split_model(hub)])


def build_part(folder: Path, n: int, content: bytes | None = None) -> None:
    """Writes the wheel of part `n`, from 1, with its own content or another."""
    name = f"abstractcore_test_part{n}"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"test_part{n}/part.bin", PARTS[n - 1] if content is None else content)
        wheel.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
        )
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")


def hide_pip() -> None:
    """Makes this process install with uv, which takes a fortieth of the processor time of pip."""
    found = importlib.util.find_spec
    importlib.util.find_spec = lambda name, package=None: None if name == "pip" else found(name, package)


def use_as_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `folder` all that the installers know."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
