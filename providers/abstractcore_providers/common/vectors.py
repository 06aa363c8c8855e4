"""Vectors in responses, as lists of numbers or as base64 of float32, read with checks and written."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, cast

from abstractcore.errors import ServerError
from abstractcore.schema import SchemaError, Vectors, WireResponse
from abstractcore.schema.base_error import shown


def by_index(response: WireResponse, rows: Sequence[Mapping[str, Any]], count: int) -> list[Mapping[str, Any]]:
    """Returns `count` objects in the order of their field `index`; as they are, if none of them has it.

    Raises `ServerError` unless there is exactly one for each position.
    """
    if len(rows) != count:
        raise _wrong(response, f"{count:,} vectors were requested, and the response has {len(rows):,}")
    if all(row.get("index") is None for row in rows):
        return [*rows]
    placed: list[Mapping[str, Any] | None] = [None] * count
    for row in rows:
        index = row.get("index")
        if type(index) is not int or not 0 <= index < count:
            raise _wrong(response, f"a vector has the index {shown(index)}, of {count:,}")
        if placed[index] is not None:
            raise _wrong(response, f"two vectors have the index {index}")
        placed[index] = row
    return cast("list[Mapping[str, Any]]", placed)


def read_vectors(response: WireResponse, values: Sequence[Any], dimensions: int | None) -> Vectors:
    """Returns the vectors, each a list of numbers or base64 of float32 with the least byte first.

    Raises `ServerError` for anything else, for a number that is not finite, and for another length than `dimensions`,
    None if any one will do.
    """
    try:
        if values and all(isinstance(value, str) for value in values):
            vectors = _from_base64(values)
        else:
            vectors = Vectors.of(map(_numbers, values))
    except SchemaError as error:
        raise _wrong(response, f"the vectors are invalid: {error}") from None
    if dimensions is not None and vectors.dimensions != dimensions:
        message = f"vectors with {dimensions:,} dimensions were requested, and these have {vectors.dimensions:,}"
        raise _wrong(response, message)
    size = 4 * vectors.dimensions
    zeros = bytes(size)
    if any(vectors.data[begin : begin + size] == zeros for begin in range(0, len(vectors.data), size)):
        raise _wrong(response, "a vector has only zeros")
    return vectors


def write_base64(vectors: Vectors) -> list[str]:
    """Returns each vector as base64."""
    size = 4 * vectors.dimensions
    data = vectors.data
    return [base64.b64encode(data[begin : begin + size]).decode("ascii") for begin in range(0, len(data), size)]


def _from_base64(values: Sequence[str]) -> Vectors:
    rows: list[bytes] = []
    for index, value in enumerate(values):
        try:
            rows.append(base64.b64decode(value, validate=True))
        except ValueError as error:
            raise SchemaError(f"not base64: {error}", f"[{index}]") from None
        if len(rows[-1]) != len(rows[0]) or len(rows[-1]) % 4:
            raise SchemaError(f"expected {len(rows[0]) // 4:,} numbers, got {len(rows[-1]):,} bytes", f"[{index}]")
    return Vectors(b"".join(rows), len(rows[0]) // 4)


def _numbers(value: Any) -> Sequence[float]:
    if not isinstance(value, list):
        raise SchemaError(f"expected numbers, got {type(value).__name__}", "")
    return cast("list[float]", value)


def _wrong(response: WireResponse, message: str) -> ServerError:
    return ServerError(message, status=response.status)
