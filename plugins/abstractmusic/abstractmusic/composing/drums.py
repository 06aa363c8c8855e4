"""`drum_notes`: a bar of drums."""

from __future__ import annotations

from ..scores import Note
from ..theory import Meter

KICK, STICK, SNARE, CLAP, LOW_TOM, HAT, MID_TOM, OPEN_HAT, HIGH_TOM, CRASH, RIDE, SHAKER = (
    36, 75, 38, 39, 45, 42, 47, 46, 50, 49, 51, 70,
)  # fmt: skip
_BEATS: dict[str, dict[int, str]] = {
    "rock": {KICK: "x.....x.x.x.....", SNARE: "....x.......x...", HAT: "x.-.x.-.x.-.x.-."},
    "dance": {
        KICK: "x...x...x...x...",
        CLAP: "....x.......x...",
        OPEN_HAT: "..-...-...-...-.",
        HAT: "----------------",
    },
    "lofi": {KICK: "x......x..x.....", SNARE: "....x.......x...", HAT: "x.-.x.-.x.-.x.--"},
    "swing": {RIDE: "x...x.-.x...x.-.", HAT: "....x.......x...", KICK: "-.......-......."},
    "light": {KICK: "x.......x.......", STICK: "....-.......-...", SHAKER: "x.-.x.-.x.-.x.-."},
    "march": {SNARE: "x.--x.x.x.--x.x.", KICK: "x.......x......."},
    "epic": {KICK: "x.....x.x.......", LOW_TOM: "x..-x.x.x..-x.x.", MID_TOM: "............x.x."},
    "bossa": {KICK: "x..-x..-x..-x..-", STICK: "x..x..x...x..x..", SHAKER: "x-x-x-x-x-x-x-x-"},
}
"""Hits by drum in the sixteenths of a bar in 4/4: `x` strong, `-` weak."""
_LOW = {"swing": (RIDE, HAT), "march": (KICK, SNARE), "epic": (LOW_TOM, MID_TOM)}
"""What plays the first and the other beats in other meters."""
_FILL = (
    (0, SNARE),
    (2, SNARE),
    (4, HIGH_TOM),
    (6, HIGH_TOM),
    (8, MID_TOM),
    (10, MID_TOM),
    (12, LOW_TOM),
    (14, LOW_TOM),
)
_STRONG, _WEAK = 8, -22


def drum_notes(beat: str, meter: Meter, start: int, velocity: int, *, fills: bool, crashes: bool) -> list[Note]:
    """Returns the notes of a bar that begins at `start`. A fill leads to the next part; a crash opens one."""
    hits = _common(beat) if meter.bar == 16 and meter.pulse == 4 else _other(beat, meter)
    if fills:
        half = meter.bar // 2
        hits = [hit for hit in hits if hit[0] < half]
        hits += [(offset, drum, -6 + offset) for offset, drum in _FILL if half <= offset < meter.bar]
    if crashes:
        hits = [(offset, drum, change) for offset, drum, change in hits if offset or drum not in (HAT, RIDE)]
        hits.append((0, CRASH, 0))
    at: dict[int, dict[int, int]] = {}
    for offset, drum, change in sorted(hits):
        at.setdefault(offset, {})[drum] = min(max(velocity + change, 1), 127)
    return [
        Note(start + offset, 1, (drum,), force) for offset, drums in at.items() for drum, force in sorted(drums.items())
    ]


def _common(beat: str) -> list[tuple[int, int, int]]:
    return [
        (offset, drum, _STRONG if hit == "x" else _WEAK)
        for drum, bar in _BEATS[beat].items()
        for offset, hit in enumerate(bar)
        if hit != "."
    ]


def _other(beat: str, meter: Meter) -> list[tuple[int, int, int]]:
    """Low drum on the first beat, high one on the others, hats in eighths."""
    low, high = _LOW.get(beat, (KICK, SNARE))
    hits = [(0, low, _STRONG)]
    back = meter.starts[1::2] if len(meter.beats) % 2 == 0 else meter.starts[1:]
    hits += [(offset, high, -6) for offset in back]
    return hits + [(offset, HAT, _WEAK if offset not in meter.starts else -8) for offset in range(0, meter.bar, 2)]
