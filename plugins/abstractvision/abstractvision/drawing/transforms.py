"""Affine transforms, and the boxes of things that are transformed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from .numbers import written


class Box(NamedTuple):
    """A rectangle between two corners."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, points: Iterable[tuple[float, float]], margin: float = 0) -> Box | None:
        """Returns the smallest box with all points and a margin; None without points."""
        found = list(points)
        if not found:
            return None
        xs, ys = [x for x, _ in found], [y for _, y in found]
        return cls(min(xs) - margin, min(ys) - margin, max(xs) + margin, max(ys) + margin)

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """The four corners."""
        return (self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)

    @property
    def middle(self) -> tuple[float, float]:
        """The point in the middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def meets(self, other: Box) -> bool:
        """Returns whether the two overlap; a box that only touches the edge of the other does not."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Transform(NamedTuple):
    """The matrix of SVG's `matrix(a b c d e f)`."""

    a: float = 1
    b: float = 0
    c: float = 0
    d: float = 1
    e: float = 0
    f: float = 0

    @classmethod
    def moved(cls, x: float, y: float) -> Transform:
        """Returns a move."""
        return cls(e=x, f=y)

    @classmethod
    def scaled(cls, x: float, y: float) -> Transform:
        """Returns a scaling from the origin."""
        return cls(a=x, d=y)

    @classmethod
    def rotated(cls, degrees: float, x: float = 0, y: float = 0) -> Transform:
        """Returns a rotation around a point, clockwise."""
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        turn = cls(cosine, sine, -sine, cosine)
        return cls.moved(x, y).then(turn).then(cls.moved(-x, -y))

    def then(self, inner: Transform) -> Transform:
        """Returns this transform around `inner`, which applies first."""
        return Transform(
            self.a * inner.a + self.c * inner.b,
            self.b * inner.a + self.d * inner.b,
            self.a * inner.c + self.c * inner.d,
            self.b * inner.c + self.d * inner.d,
            self.a * inner.e + self.c * inner.f + self.e,
            self.b * inner.e + self.d * inner.f + self.f,
        )

    def box(self, box: Box) -> Box:
        """Returns the box around the transformed `box`."""
        found = Box.around(self.point(x, y) for x, y in box.corners)
        assert found is not None
        return found

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Returns where a point is moved to."""
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def __str__(self) -> str:
        turn = " ".join(f"{value:.5g}" for value in self[:4])
        return f"matrix({turn} {written(self.e)} {written(self.f)})"


SAME = Transform()
