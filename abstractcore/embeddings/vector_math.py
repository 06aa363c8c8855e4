"""Cosine similarities of vectors: with NumPy where it is installed, in blocks that fit into memory; else in Python."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from operator import mul
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ..schema import Vectors

Matrix: TypeAlias = Any
"""A NumPy array of float32 with two dimensions; without NumPy, a list of lists of floats."""
_MOST_NUMBERS: Final = 4_000_000
"""The most numbers of a block of similarities: 16 MB."""


class NearVector(NamedTuple):
    """The position of a vector, and its cosine similarity."""

    position: int
    score: float


class SimilarPair(NamedTuple):
    """The positions of two vectors, the first one before the second, and their cosine similarity."""

    first: int
    second: int
    score: float


def numpy_or_none() -> Any:
    """Returns NumPy; None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def matrix_of(vectors: Vectors) -> Matrix:
    """Returns the vectors as rows; an array is writable, and has numbers of its own."""
    numpy = numpy_or_none()
    if numpy is None:
        return vectors.lists()
    return numpy.frombuffer(bytearray(vectors.data), "<f4").reshape(len(vectors), vectors.dimensions)


def normalized(vectors: Vectors) -> Vectors:
    """Returns the vectors with the length 1; those of zeros stay as they are."""
    return _vectors_of(unit_rows(matrix_of(vectors)), vectors.dimensions)


def unit_rows(rows: Matrix) -> Matrix:
    """Returns rows with the length 1; those of zeros stay as they are."""
    if (lists := _lists(rows)) is not None:
        return [_unit(row) for row in lists]
    numpy: Any = numpy_or_none()
    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", rows, rows, dtype=numpy.float64))
    lengths[lengths == 0] = 1
    return numpy.divide(rows, lengths[:, None], out=numpy.empty(rows.shape, numpy.float32), casting="same_kind")


def _unit(row: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(map(mul, row, row))) or 1.0
    return [number / length for number in row]


def _vectors_of(rows: Matrix, dimensions: int) -> Vectors:
    lists = _lists(rows)
    return Vectors(rows.astype("<f4").tobytes(), dimensions) if lists is None else Vectors.of(lists)


def _lists(rows: Matrix) -> list[list[float]] | None:
    """Returns rows that are lists; None for an array."""
    return cast("list[list[float]]", rows) if isinstance(rows, list) else None


def products(left: Matrix, right: Matrix) -> Matrix:
    """Returns the product of each row on the left with each one on the right; raises `MemoryError`."""
    lists, others = _lists(left), _lists(right)
    if lists is None or others is None:
        return left @ right.T
    return [[math.fsum(map(mul, row, other)) for other in others] for row in lists]


def nearest(rows: Matrix, among: Matrix, count: int, *, is_same: bool) -> list[list[NearVector]]:
    """Returns for each of the unit `rows` the `count` nearest ones `among` others, the nearest first. Rows that are
    among themselves (`is_same`) are not their own neighbours.
    """
    found: list[list[NearVector]] = []
    for begin, block in _blocks(rows, among):
        for offset, scores in enumerate(block):
            own = begin + offset if is_same else -1
            found.append(_highest(scores, count, own))
    return found


def _highest(scores: Any, count: int, own: int) -> list[NearVector]:
    if isinstance(scores, list):
        numbers = cast("list[float]", scores)
        others = (NearVector(index, score) for index, score in enumerate(numbers) if index != own)
        return heapq.nlargest(count, others, key=_by_score)
    if own >= 0:
        scores[own] = -math.inf
    count = min(count, len(scores) - (own >= 0))
    if count < 1:
        return []
    places = (-scores).argpartition(count - 1)[:count].tolist()
    return sorted((NearVector(index, float(scores[index])) for index in places), key=_by_score, reverse=True)


def _by_score(near: NearVector) -> tuple[float, int]:
    return near.score, -near.position


def similar_pairs(rows: Matrix, threshold: float) -> Iterator[SimilarPair]:
    """Yields the pairs of unit rows that are at least this similar, in the order of their positions."""
    for begin, block in _blocks_above(rows):
        if (lists := _lists(block)) is not None:
            for offset, scores in enumerate(lists):
                for second in range(offset + 1, len(scores)):
                    if scores[second] >= threshold:
                        yield SimilarPair(begin + offset, begin + second, scores[second])
            continue
        firsts, seconds = (block >= threshold).nonzero()
        after = seconds > firsts
        firsts, seconds = firsts[after], seconds[after]
        scores = block[firsts, seconds].tolist()
        yield from map(SimilarPair, (firsts + begin).tolist(), (seconds + begin).tolist(), scores)


def connected(rows: Matrix, threshold: float, least: int) -> list[list[int]]:
    """Returns groups of at least so many unit rows, the largest first: those that are at least this similar to another
    one of their group.
    """
    leaders = _leaders(rows, threshold) if _lists(rows) is None else _leaders_of_lists(rows, threshold)
    groups: dict[int, list[int]] = {}
    for index, leader in enumerate(leaders):
        groups.setdefault(leader, []).append(index)
    return sorted((each for each in groups.values() if len(each) >= least), key=lambda each: (-len(each), each[0]))


def _leaders(rows: Matrix, threshold: float) -> list[int]:
    """Returns for each row of an array the first one of its group. Pairs are not listed: rows that are all alike have
    too many.
    """
    numpy: Any = numpy_or_none()
    leaders = numpy.arange(len(rows))
    for begin, block in _blocks_above(rows):
        for offset, near in enumerate(block >= threshold):
            own = leaders[begin + offset]
            found = leaders[begin:][near]
            others = found[found != own]
            if len(others):
                joined = numpy.unique(numpy.append(others, own))
                leaders[numpy.isin(leaders, joined)] = joined[0]
    return leaders.tolist()


def _leaders_of_lists(rows: Matrix, threshold: float) -> list[int]:
    leaders = [*range(len(rows))]

    def leader(index: int) -> int:
        while leaders[index] != index:
            leaders[index] = leaders[leaders[index]]
            index = leaders[index]
        return index

    for first, second, _ in similar_pairs(rows, threshold):
        one, other = leader(first), leader(second)
        leaders[max(one, other)] = min(one, other)
    return [leader(index) for index in range(len(rows))]


def _blocks_above(rows: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Yields the similarities of a few rows after the other with themselves and the ones after them."""
    begin = 0
    while begin < len(rows):
        end = begin + max(1, _MOST_NUMBERS // (len(rows) - begin))
        yield begin, products(rows[begin:end], rows[begin:])
        begin = end


def _blocks(rows: Matrix, among: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Yields the similarities of a few rows after the other with all others, and the position of the first of them."""
    size = max(1, _MOST_NUMBERS // max(1, len(among)))
    for begin in range(0, len(rows), size):
        yield begin, products(rows[begin : begin + size], among)
