"""Makes the SoundFont of the package: `cut.py sonivox.sf2 ../abstractmusic/fonts/eas-gm.sf2`.

The first file is `dist/soundfont/sonivox.sf2` of the npm package `@coderline/alphatab` 1.8.4. Only samples in
`samples.txt` are kept: those whose bytes stand in `arm-wt-22k/lib_src/wt_22khz.c` of the Android Open Source Project.
Keys whose sample is left out are played with the sample of the nearest keys; sounds without any sample go.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

SOURCE_SHA256 = "4978cf37e7164206f2d22dc4fdf4020ffe040787210bf781e31bdc79961f59ef"
KEPT = frozenset((Path(__file__).parent / "samples.txt").read_text("ascii").split())
GAP = bytes(2 * 46)
"""Silence after each sample, which the format asks for."""
KEY_RANGE, INSTRUMENT, SAMPLE = 43, 41, 53
Generators = list[tuple[int, int]]
"""Operator and amount."""


@dataclass
class Bank:
    """Presets and instruments with their zones, and samples: all with the head of their record."""

    presets: list[tuple[bytes, list[Generators]]]
    instruments: list[tuple[bytes, list[Generators]]]
    samples: list[tuple[bytes, bytes, tuple[int, int]]]


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields identifiers and contents of RIFF chunks."""
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        yield data[at : at + 4], data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2


def records(data: bytes, size: int) -> list[bytes]:
    """Returns the records of a table."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def zones(table: bytes, size: int, at: int, bags: bytes, generators: bytes) -> list[tuple[bytes, list[Generators]]]:
    """Returns heads and zones of presets or instruments; `at` is where a record has the number of its first zone."""
    rows = records(table, size)
    firsts = [int.from_bytes(row[at : at + 2], "little") for row in rows]
    starts = [int.from_bytes(bag[:2], "little") for bag in records(bags, 4)]
    values = [struct.unpack("<HH", row) for row in records(generators, 4)]
    return [
        (row, [values[starts[zone] : starts[zone + 1]] for zone in range(first, following)])
        for row, first, following in zip(rows, firsts, firsts[1:], strict=False)
    ]


def read(data: bytes) -> Bank:
    """Reads a SoundFont."""
    parts = {name: body for kind, body in chunks(data[12:]) if kind == b"LIST" for name, body in chunks(body[4:])}
    samples: list[tuple[bytes, bytes, tuple[int, int]]] = []
    for row in records(parts[b"shdr"], 46)[:-1]:
        start, end, loop, loop_end = struct.unpack("<4I", row[20:36])
        samples.append((row, parts[b"smpl"][start * 2 : end * 2], (loop - start, loop_end - start)))
    return Bank(
        zones(parts[b"phdr"], 38, 24, parts[b"pbag"], parts[b"pgen"]),
        zones(parts[b"inst"], 22, 20, parts[b"ibag"], parts[b"igen"]),
        samples,
    )


def name(row: bytes) -> str:
    """Returns the name in a record."""
    return row[:20].split(b"\0")[0].decode("ascii")


def cut(bank: Bank) -> Bank:
    """Leaves out samples, then zones, instruments and presets that have none."""
    sample_numbers = numbered([name(row) in KEPT for row, _, _ in bank.samples])
    instruments = [
        (row, renumbered(widened(found, sample_numbers), SAMPLE, sample_numbers)) for row, found in bank.instruments
    ]
    instrument_numbers = numbered([any(SAMPLE in dict(zone) for zone in found) for _, found in instruments])
    presets = [(row, renumbered(found, INSTRUMENT, instrument_numbers)) for row, found in bank.presets]
    return Bank(
        [preset for preset in presets if any(INSTRUMENT in dict(zone) for zone in preset[1])],
        [instrument for index, instrument in enumerate(instruments) if index in instrument_numbers],
        [sample for index, sample in enumerate(bank.samples) if index in sample_numbers],
    )


def numbered(kept: list[bool]) -> dict[int, int]:
    """Returns the new numbers of what is kept by the old ones."""
    return {old: new for new, old in enumerate(index for index, keep in enumerate(kept) if keep)}


def renumbered(found: list[Generators], operator: int, numbers: dict[int, int]) -> list[Generators]:
    """Returns the zones whose sample or instrument is kept, and zones without one."""
    kept = [zone for zone in found if operator not in dict(zone) or dict(zone)[operator] in numbers]
    return [[(key, numbers[value] if key == operator else value) for key, value in zone] for zone in kept]


def widened(found: list[Generators], kept: dict[int, int]) -> list[Generators]:
    """Returns zones of which those that remain take over the keys of neighbours that go, unless they are drums."""
    result = [list(zone) for zone in found]
    ranges = {index: key_range(zone) for index, zone in enumerate(found) if SAMPLE in dict(zone)}
    staying = [index for index in ranges if dict(found[index])[SAMPLE] in kept]
    if not staying or all(low == high for low, high in ranges.values()):
        return result
    for index in ranges.keys() - staying:
        low, high = ranges[index]
        nearest = min(staying, key=lambda other: min(abs(ranges[other][0] - high), abs(ranges[other][1] - low)))
        ranges[nearest] = (min(low, ranges[nearest][0]), max(high, ranges[nearest][1]))
    for index in staying:
        low, high = ranges[index]
        result[index] = [(KEY_RANGE, low | high << 8), *(row for row in found[index] if row[0] != KEY_RANGE)]
    return result


def key_range(zone: Generators) -> tuple[int, int]:
    """Returns the lowest and the highest key of a zone."""
    value = dict(zone).get(KEY_RANGE, 127 << 8)
    return value & 255, value >> 8


def written(bank: Bank) -> bytes:
    """Writes a SoundFont."""
    sound, headers = b"", b""
    for row, samples, (loop, loop_end) in bank.samples:
        start = len(sound) // 2
        places = (start, start + len(samples) // 2, start + loop, start + loop_end)
        headers += row[:20] + struct.pack("<4I", *places) + row[36:]
        sound += samples + GAP
    phdr, pbag, pgen = tables(bank.presets, 24, struct.pack("<20s", b"EOP") + bytes(18))
    inst, ibag, igen = tables(bank.instruments, 20, struct.pack("<20s", b"EOI") + bytes(2))
    info = [
        (b"ifil", struct.pack("<HH", 2, 1)),
        (b"isng", b"EMU8000\0"),
        (b"INAM", b"EAS GM wavetable\0\0"),
        (b"ICOP", b"Copyright (c) 2009 Sonic Network Inc. Licensed under the Apache License, Version 2.0\0\0"),
    ]
    body = [
        (b"phdr", phdr), (b"pbag", pbag), (b"pmod", bytes(10)), (b"pgen", pgen), (b"inst", inst), (b"ibag", ibag),
        (b"imod", bytes(10)), (b"igen", igen), (b"shdr", headers + struct.pack("<20s", b"EOS") + bytes(26)),
    ]  # fmt: skip
    lists = [(b"INFO", info), (b"sdta", [(b"smpl", sound)]), (b"pdta", body)]
    data = b"sfbk" + b"".join(chunk(b"LIST", kind + b"".join(chunk(*row) for row in rows)) for kind, rows in lists)
    return chunk(b"RIFF", data)


def tables(found: list[tuple[bytes, list[Generators]]], at: int, end: bytes) -> tuple[bytes, bytes, bytes]:
    """Returns the tables of heads, zones and generators."""
    heads, bags, generators = b"", b"", b""
    for row, rows in [*found, (end, [])]:
        heads += row[:at] + struct.pack("<H", len(bags) // 4) + row[at + 2 :]
        for zone in rows:
            bags += struct.pack("<HH", len(generators) // 4, 0)
            generators += b"".join(struct.pack("<HH", *row) for row in zone)
    return heads, bags + struct.pack("<HH", len(generators) // 4, 0), generators + bytes(4)


def chunk(kind: bytes, body: bytes) -> bytes:
    """Returns a RIFF chunk."""
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


def main(source: Path, target: Path) -> None:
    """Reads, cuts and writes."""
    data = source.read_bytes()
    if sha256(data).hexdigest() != SOURCE_SHA256:
        sys.exit(f"{source} is another file")
    target.write_bytes(written(cut(read(data))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
