"""Embeddings and rankings as data: what is embedded or ranked by one request, and what its response has.

Annotations are evaluated here, as those of `OperationInput` are.
"""

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, Union, cast

from .base_error import SchemaError, shown
from .calls import EMBED_PURPOSES, EmbedPurpose
from .json_values import (
    NO_OPTIONS,
    ProviderOptions,
    check_choice,
    check_class,
    check_count,
    check_flag,
    check_items,
    check_real,
    check_text,
    checked_provider_options,
)
from .operation_inputs import OperationInput
from .parts import MEDIA_PARTS, MediaPart, TextPart
from .replies import Usage
from .reprs import Immutable, ShortRepr

EmbedPart: TypeAlias = TextPart | MediaPart
EmbedItem: TypeAlias = Union[str, "tuple[EmbedPart, ...]"]
"""What has one vector: a text, or parts that are embedded together, with a file among them."""


@dataclass(frozen=True, slots=True)
class EmbedInput(OperationInput):
    """Texts and files to embed by one request.

    `purpose` is None for a model that has none, `dimensions` the length of the vectors, None for the model's own. With
    `truncate`, a text that is too long is cut at the model's limit by the provider; otherwise it is an error there, as
    far as the provider can be asked for one. `provider_options` are added to the request of the provider that they
    name. Parts that are texts only become one text, with blank lines between.
    """

    items: tuple[EmbedItem, ...]
    purpose: EmbedPurpose | None = None
    dimensions: int | None = None
    truncate: bool = False
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        if isinstance(self.items, str):
            raise SchemaError("expected a list of texts, got a text", "items")
        object.__setattr__(self, "items", tuple(_item(each, f"items[{n}]") for n, each in enumerate(self.items)))
        if not self.items:
            raise SchemaError("expected at least one item", "items")
        if self.purpose is not None:
            check_choice(self.purpose, EMBED_PURPOSES, "purpose")
        check_flag(self.truncate, "truncate")
        if self.dimensions is not None and check_count(self.dimensions, "dimensions") < 1:
            raise SchemaError(f"expected at least 1, got {self.dimensions}", "dimensions")
        if self.provider_options is not NO_OPTIONS:
            object.__setattr__(self, "provider_options", checked_provider_options(self.provider_options))

    @property
    def files(self) -> Sequence[MediaPart]:
        """The files among the items."""
        return tuple(p for each in self.items if not isinstance(each, str) for p in each if not isinstance(p, TextPart))


def _item(item: object, path: str) -> EmbedItem:
    if isinstance(item, str):
        return check_text(item, path)
    if not isinstance(item, Sequence):
        raise SchemaError(f"expected a text or parts, got {type(item).__name__}", path)
    parts = tuple(item)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if not parts:
        raise SchemaError("expected at least one part", path)
    for index, part in enumerate(parts):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if not isinstance(part, (TextPart, *MEDIA_PARTS)):
            raise SchemaError(f"expected a text or a file, got {type(part).__name__}", f"{path}[{index}]")  # pyright: ignore[reportUnknownArgumentType]
    if all(isinstance(part, TextPart) for part in parts):  # pyright: ignore[reportUnknownVariableType]
        return "\n\n".join(cast(TextPart, part).text for part in parts)  # pyright: ignore[reportUnknownVariableType]
    return parts  # pyright: ignore[reportUnknownVariableType]


@dataclass(frozen=True, slots=True)
class Vectors(ShortRepr):
    """Vectors of equal length: `data` has their numbers one after the other, as float32 with the least byte first.

    All numbers are finite. `numpy.frombuffer(vectors.data, "<f4").reshape(len(vectors), vectors.dimensions)` reads them
    without a copy.
    """

    data: bytes = field(repr=False)
    dimensions: int

    def __post_init__(self) -> None:
        check_class(self.data, bytes, "data")
        if check_count(self.dimensions, "dimensions") < 1:
            raise SchemaError(f"expected at least 1, got {self.dimensions}", "dimensions")
        if len(self.data) % (4 * self.dimensions):
            message = f"expected a multiple of {4 * self.dimensions} bytes, got {len(self.data):,}"
            raise SchemaError(message, "data")
        if (bad := _first_not_finite(self.data)) is not None:
            row, column = divmod(bad, self.dimensions)
            raise SchemaError("expected a finite number", f"data[{row}][{column}]")

    def __len__(self) -> int:
        """The number of vectors."""
        return len(self.data) // (4 * self.dimensions)

    @classmethod
    def of(cls, rows: Iterable[Sequence[float]]) -> "Vectors":
        """Returns vectors of numbers; raises `SchemaError` with the path of a number or length that is wrong."""
        numbers = array("f")
        dimensions = 0
        for index, row in enumerate(rows):
            dimensions = dimensions or len(row)
            if len(row) != dimensions:
                raise SchemaError(f"expected {dimensions:,} numbers, got {len(row):,}", f"[{index}]")
            try:
                numbers.extend(row)
            except (TypeError, OverflowError) as error:
                raise SchemaError(f"expected numbers: {error}", f"[{index}]") from None
        return cls(_little(numbers).tobytes(), dimensions)

    def lists(self) -> list[list[float]]:
        """Returns the vectors as lists of numbers."""
        numbers = _numbers(self.data).tolist()
        return [numbers[begin : begin + self.dimensions] for begin in range(0, len(numbers), self.dimensions)]

    def __add__(self, other: "Vectors") -> "Vectors":
        """Returns the vectors of both; raises `SchemaError` for others of another length."""
        if self.dimensions != other.dimensions:
            raise SchemaError(f"expected {self.dimensions:,} dimensions, got {other.dimensions:,}", "dimensions")
        return Vectors(self.data + other.data, self.dimensions)


def _numbers(data: bytes) -> "array[float]":
    numbers = array("f")
    numbers.frombytes(data)
    return _little(numbers)


def _little(numbers: "array[float]") -> "array[float]":
    """Returns numbers in the order of bytes that `Vectors` has, or from it; changes them in place."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _first_not_finite(data: bytes) -> int | None:
    """Returns the position of the first number that is infinite or not a number; None if all are finite."""
    highest = data[3::4]
    if b"\x7f" not in highest and b"\xff" not in highest:  # these have all bits of an exponent but the lowest
        return None
    return next((index for index, number in enumerate(_numbers(data)) if not math.isfinite(number)), None)


@dataclass(frozen=True, slots=True)
class PartialVectors(Immutable):
    """The vectors that arrived before an error, and the positions of their inputs, in rising order."""

    vectors: Vectors
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EmbedReply(Immutable):
    """The response to an `EmbedInput`: a vector for each of its items, in their order.

    `model` is what the response names; `tokens` the number of each item where the provider reports it; `truncated` the
    indexes of items that the provider says it has cut.
    """

    vectors: Vectors
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    tokens: tuple[int, ...] = ()
    truncated: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_class(self.vectors, Vectors, "vectors")
        check_class(self.usage, Usage, "usage")
        if self.model is not None:
            check_text(self.model, "model")
        for name in ("tokens", "truncated"):
            values = getattr(self, name)
            object.__setattr__(self, name, tuple(check_count(n, f"{name}[{i}]") for i, n in enumerate(values)))


@dataclass(frozen=True, slots=True)
class RerankInput(OperationInput):
    """Documents to rank by how well they answer a query; `top` is how many of them are wanted, None for all."""

    query: str
    documents: tuple[str, ...]
    top: int | None = None
    truncate: bool = False
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        check_text(self.query, "query")
        object.__setattr__(self, "documents", check_items(self.documents, str, "documents"))
        if not self.documents:
            raise SchemaError("expected at least one document", "documents")
        for index, document in enumerate(self.documents):
            check_text(document, f"documents[{index}]")
        if self.top is not None and check_count(self.top, "top") < 1:
            raise SchemaError(f"expected at least 1, got {self.top}", "top")
        check_flag(self.truncate, "truncate")
        if self.provider_options is not NO_OPTIONS:
            object.__setattr__(self, "provider_options", checked_provider_options(self.provider_options))


@dataclass(frozen=True, slots=True)
class RankedIndex(Immutable):
    """The place of a document among those of a `RerankInput`, and its score: the higher, the better it answers."""

    index: int
    score: float

    def __post_init__(self) -> None:
        check_count(self.index, "index")
        check_real(self.score, "score")


@dataclass(frozen=True, slots=True)
class RerankReply(Immutable):
    """The response to a `RerankInput`: the best document first, each at most once."""

    results: tuple[RankedIndex, ...]
    usage: Usage = field(default_factory=Usage)
    model: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "results", check_items(self.results, RankedIndex, "results"))
        indexes = [each.index for each in self.results]
        if len({*indexes}) != len(indexes):
            raise SchemaError(f"a document occurs twice: {shown(indexes)}", "results")
        check_class(self.usage, Usage, "usage")
        if self.model is not None:
            check_text(self.model, "model")
