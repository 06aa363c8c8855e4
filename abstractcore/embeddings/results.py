"""`Embeddings`: the vectors of a list of texts or files, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Final, TypeAlias

from ..errors import InvalidInputError
from ..schema import AttemptRecord, CallWarning, CostSource, Usage, Vectors, shown
from ..schema.costs import CostSums, HasDeferredCost
from ..schema.reprs import RichDisplay
from .vector_math import (
    Matrix,
    NearVector,
    SimilarPair,
    connected,
    matrix_of,
    nearest,
    numpy_or_none,
    products,
    similar_pairs,
    unit_rows,
)

VectorInput: TypeAlias = "Embeddings | Vectors | Sequence[float] | Sequence[Sequence[float]] | Any"
"""Embeddings, or numbers: a vector, or several as rows."""
_MOST_SIMILARITIES: Final = 2**31
_MOST_PAIRS: Final = 5_000_000

_MOST_SHOWN: Final = 8
"""How many vectors a notebook shows, and how many numbers of each."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Embeddings(HasDeferredCost, RichDisplay):
    """Vectors, one for each input, in their order: `len(embeddings)` many.

    `data` has their numbers as bytes. `normalized` is whether they have the length 1: None if that is unknown.
    `tokens` are those of each input, empty unless the provider reports them; `truncated` the positions of inputs that
    were cut. `cache_hits` counts those that the cache had; `saved_cost` is about what they had cost. `usage`,
    `attempts` and `cost`, in US dollars, are those of all requests.
    """

    data: Vectors
    provider: str
    model: str
    normalized: bool | None
    usage: Usage = field(default_factory=Usage)
    tokens: tuple[int, ...] = ()
    truncated: tuple[int, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    attempts: tuple[AttemptRecord, ...] = ()
    cache_hits: int = 0
    saved_cost: Decimal | None = None
    trace_id: str = ""
    seconds: float = 0.0
    cost: Decimal | None = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None
    _matrix: Matrix = field(default=None, init=False)

    @property
    def vectors(self) -> Matrix:
        """The vectors as rows: an array of float32 if NumPy is installed, of the shape (n, dimensions); else lists."""
        if self._matrix is None:
            object.__setattr__(self, "_matrix", matrix_of(self.data))
        return self._matrix

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self.data.dimensions

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> Any:
        """Returns one vector."""
        return self.vectors[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.vectors)

    def __display__(self) -> Iterator[object]:
        """Yields the first numbers of the first vectors, and what all took."""
        from ..schema.displays import DisplayTable, SmallPrint, shown_facts

        size = 4 * self.dimensions
        first = Vectors(self.data.data[: _MOST_SHOWN * size], self.dimensions).lists()
        more = ["..."] if self.dimensions > _MOST_SHOWN else []
        numbers = [[f"{number:.3f}" for number in vector[:_MOST_SHOWN]] for vector in first]
        rows = [{"position": place, "vector": ", ".join([*each, *more])} for place, each in enumerate(numbers)]
        yield DisplayTable(rows, len(self))
        cut = f"{len(self.truncated):,} inputs were cut" if self.truncated else ""
        yield SmallPrint([repr(self)[1:-1], cut, shown_facts(self), *map(str, self.warnings)])

    def __repr__(self) -> str:
        cached = f", {self.cache_hits:,} from the cache" if self.cache_hits else ""
        return f"<Embeddings: {len(self):,} of {self.dimensions:,} dimensions by {self.provider}/{self.model}{cached}>"

    def similarities(self, a: VectorInput = None, b: VectorInput = None) -> Matrix:
        """Returns the cosine similarity of each vector of `a` with each one of `b`, from -1 to 1, as a matrix.

        Each is other embeddings, a vector or a list of them; None for these. Raises `InvalidInputError` for vectors of
        another length, and for a matrix that does not fit into memory, or has more than 2,147,483,648 numbers (8.6 GB).
        """
        rows, others = self._rows(a, "a"), self._rows(b, "b")
        if len(rows) * len(others) <= _MOST_SIMILARITIES:
            with suppress(MemoryError):
                return products(rows, others)
        message = f"a matrix of {len(rows):,} x {len(others):,} similarities does not fit into memory"
        hint = "Use nearest(k), duplicates(threshold) or clusters(threshold), or pass some of the vectors as a."
        raise InvalidInputError(message, path="a", hint=hint)

    def nearest(self, k: int, to: VectorInput = None) -> list[list[NearVector]]:
        """Returns the `k` vectors among these that are the most similar to each of `to`, with their cosine similarity,
        the nearest first. Without `to`, those of each one of these, itself left out.

        `to` is as `a` of `similarities`. Raises `InvalidInputError` as it does, and for a `k` below 1.
        """
        if not isinstance(k, int) or isinstance(k, bool) or k < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a number of at least 1, got {shown(k)}", path="k")
        own = self._rows(None, "")
        return nearest(own if to is None else self._rows(to, "to"), own, k, is_same=to is None)

    def duplicates(self, threshold: float = 0.95) -> list[SimilarPair]:
        """Returns the pairs of these vectors that have at least this cosine similarity, the most similar first. Raises
        `InvalidInputError` if there are more than 5,000,000.
        """
        pairs = list(islice(similar_pairs(self._rows(None, ""), _checked(threshold)), _MOST_PAIRS + 1))
        if len(pairs) > _MOST_PAIRS:
            message = f"more than {_MOST_PAIRS:,} pairs have a similarity of {threshold:g} or more"
            hint = "Pass a higher threshold, or use clusters(threshold), which has each vector once."
            raise InvalidInputError(message, path="threshold", hint=hint)
        return sorted(pairs, key=lambda pair: (-pair.score, pair.first, pair.second))

    def clusters(self, threshold: float = 0.8, *, min_size: int = 2) -> list[list[int]]:
        """Returns groups of positions: each vector of a group has at least this cosine similarity with another one of
        it. The largest first; those of fewer than `min_size` are left out.
        """
        return connected(self._rows(None, ""), _checked(threshold), min_size)

    def _rows(self, given: VectorInput, path: str) -> Matrix:
        """Returns unit rows."""
        if given is None:
            return self.vectors if self.normalized else unit_rows(self.vectors)
        rows = given._rows(None, path) if isinstance(given, Embeddings) else unit_rows(_as_rows(given, path))
        if len(rows) and len(rows[0]) != self.dimensions:
            message = f"expected vectors of {self.dimensions:,} numbers, got {len(rows[0]):,}"
            raise InvalidInputError(message, path=path, hint="Compare vectors of one model, with the same dimensions.")
        return rows


def _checked(threshold: object) -> float:
    if not isinstance(threshold, int | float) or isinstance(threshold, bool) or not -1 <= threshold <= 1:
        raise InvalidInputError(f"expected a number from -1 to 1, got {shown(threshold)}", path="threshold")
    return threshold


def _as_rows(given: Any, path: str) -> Matrix:
    """Returns the rows of vectors, or of one vector; raises `InvalidInputError` for anything else."""
    if isinstance(given, Vectors):
        return matrix_of(given)
    try:
        rows = _rows_of_numbers(given)
        if len({len(row) for row in rows}) < 2:
            return rows
    except (TypeError, ValueError, IndexError, KeyError) as error:
        message = f"expected embeddings or numbers, got {shown(given)}"
        raise InvalidInputError(message, path=path) from error
    raise InvalidInputError("expected vectors of one length", path=path)


def _rows_of_numbers(given: Any) -> Matrix:
    numpy = numpy_or_none()
    if numpy is not None:
        return numpy.atleast_2d(numpy.asarray(given, dtype=numpy.float32))
    return [[float(number) for number in row] for row in (given if hasattr(given[0], "__len__") else [given])]
