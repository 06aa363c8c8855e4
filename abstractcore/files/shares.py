"""How files share a number of images, or a number of bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence


def largest_size(sizes: Iterable[int], room: float) -> int:
    """Returns the largest size that all of `sizes` can be reduced to, so that their sum is at most `room`."""
    rest = sorted(sizes, reverse=True)
    while rest and rest[-1] * len(rest) <= room:
        room -= rest.pop()
    return max(0, int(room / len(rest))) if rest else 0


def portions(counts: Sequence[int], ages: Sequence[int], room: int, current: int) -> list[int]:
    """Returns how many images each file may have, so that there are at most `room`: all of the files of the latest
    message first. Files of one message share equally what is left for them, the later ones first.

    `ages` are the messages of the files. Those before `current` give way by halves: what is sent of an older file then
    seldom changes, so that prompts stay cached.
    """
    by_age: defaultdict[int, list[int]] = defaultdict(list)
    for index, age in enumerate(ages):
        by_age[min(age, current)].append(index)
    given = [0] * len(counts)
    for age in sorted(by_age, reverse=True):
        group = sorted((index for index in by_age[age] if counts[index]), key=counts.__getitem__)
        for position, index in enumerate(group):
            share = room // (len(group) - position)
            given[index] = min(counts[index], share) if age == current else _halved(counts[index], share)
            room -= given[index]
    return given


def _halved(count: int, room: int) -> int:
    """Returns `count` halved until it is at most `room`."""
    while count > room:
        count //= 2
    return count
