"""Damaged copies of real files, the same in every run."""

from __future__ import annotations

import random
from collections.abc import Iterator


def mutations(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Yields `count` copies with changed, removed, doubled or cut bytes, more of them near the beginning."""
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        damaged = bytearray(content)
        for _ in range(chance.choice((1, 3, 10, 50))):
            place = int(len(damaged) * chance.random() ** chance.choice((1, 4)))
            length = chance.choice((1, 1, 2, 4, 8, 64))
            match chance.randrange(6):
                case 0 | 1:
                    damaged[place : place + length] = chance.randbytes(length)
                case 2:
                    damaged[place : place + length] = chance.choice((b"\0", b"\xff", b"\x7f")) * length
                case 3:
                    del damaged[place : place + length]
                case 4:
                    damaged[place:place] = damaged[place : place + length]
                case _ if chance.random() < 0.1:
                    del damaged[max(16, place) :]
        yield bytes(damaged)
