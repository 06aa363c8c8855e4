"""The path syntax of SVG: the part of it that can be drawn, and the points that it passes."""

from __future__ import annotations

import re
from typing import NamedTuple

from .numbers import LARGEST, written

_TOKEN = re.compile(r"\s*+(?:,\s*+)?(?:([MmLlHhVvCcSsQqTtAaZz])|([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?))")
_FLAG = re.compile(r"\s*+(?:,\s*+)?([01])")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


class Segment(NamedTuple):
    """A command with its numbers."""

    command: str
    numbers: tuple[float, ...]


class ReadPath(NamedTuple):
    """The segments up to the first error, and whether the text was read to its end."""

    segments: tuple[Segment, ...]
    complete: bool

    def __str__(self) -> str:
        return " ".join(f"{each.command}{' '.join(written(value) for value in each.numbers)}" for each in self.segments)


def read_path(text: str) -> ReadPath:
    """Reads a path. As in SVG, what follows an error is not drawn."""
    segments: list[Segment] = []
    position, end = 0, len(text.rstrip(" \t\r\n,"))
    command = ""
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None or (not token[1] and (not command or command in "Zz")):
            return ReadPath(tuple(segments), complete=False)
        if token[1]:
            command, position = token[1], token.end()
        if not segments and command not in "Mm":
            return ReadPath((), complete=False)
        read = _numbers(text, position, command)
        if read is None:
            return ReadPath(tuple(segments), complete=False)
        numbers, position = read
        segments.append(Segment(command, numbers))
        command = {"M": "L", "m": "l"}.get(command, command)
    return ReadPath(tuple(segments), complete=True)


def _numbers(text: str, position: int, command: str) -> tuple[tuple[float, ...], int] | None:
    numbers: list[float] = []
    for index in range(_COUNTS[command.upper()]):
        is_flag = command in "Aa" and index in (3, 4)  # flags may stand without a space between them
        token = (_FLAG if is_flag else _TOKEN).match(text, position)
        value = token[1] if token and is_flag else token[2] if token else None
        if token is None or not value:
            return None
        numbers.append(min(max(float(value), -LARGEST), LARGEST))
        position = token.end()
    return tuple(numbers), position


def path_points(segments: tuple[Segment, ...]) -> list[tuple[float, float]]:
    """Returns the ends and control points of a path; of arcs, the corners of a box around both ends."""
    points: list[tuple[float, float]] = []
    x = y = start_x = start_y = 0.0
    for command, numbers in segments:
        upper, relative = command.upper(), command.islower()
        from_x, from_y = (x, y) if relative else (0.0, 0.0)
        if upper == "Z":
            x, y = start_x, start_y
        elif upper == "H":
            x = from_x + numbers[0]
        elif upper == "V":
            y = from_y + numbers[0]
        elif upper == "A":
            reach = 2 * max(abs(numbers[0]), abs(numbers[1]))
            ends = (x, y), (from_x + numbers[5], from_y + numbers[6])
            points += [(px + sign * reach, py + sign * reach) for px, py in ends for sign in (-1, 1)]
            x, y = ends[1]
        else:
            pairs = [(from_x + numbers[i], from_y + numbers[i + 1]) for i in range(0, len(numbers), 2)]
            points += pairs
            x, y = pairs[-1]
        if upper == "M":
            start_x, start_y = x, y
        points.append((x, y))
    return points
