"""Schema objects as plain JSON data and canonical JSON, and their digests.

Writes schema objects as compact JSON, for documents, digests and plain data.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from functools import cache
from types import NoneType
from typing import Any, Final, TypeAlias, cast

from .base_error import SchemaError
from .blobs import Blob
from .json_values import (
    FrozenDict,
    FrozenList,
    JSONValue,
    check_decimal,
    check_depth,
    check_key,
    check_number,
    check_text,
)

_Named: TypeAlias = "tuple[tuple[str, str, object], ...]"
"""For each field: its name, its encoded key and its default; for a type tag: an empty name and the encoded entry."""

_NAMED_ESCAPES = {0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0C: b"\\f", 0x0D: b"\\r"}
_ESCAPES = {bytes([code]): _NAMED_ESCAPES.get(code, b"\\u%04x" % code) for code in range(0x20)}
_CONTROLS = b"".join(_ESCAPES)


class HasUserValues:
    """Base class of what has a field of the user's own type, which can be written only if it is JSON data."""

    __slots__ = ()

    def __json_values__(self) -> object:
        """Returns a copy whose fields are JSON data, or raises `SchemaError`."""
        raise NotImplementedError


def written(value: object, *, canonical: bool = False) -> bytes:
    """Returns `value` as JSON in UTF-8, without fields at their default; mappings keep their order.

    With `canonical`, mappings are sorted and a blob is written as its `identity()`: equal values give equal bytes.
    Raises `SchemaError` with the path of a value that JSON cannot represent.
    """
    pieces: list[str] = []
    try:
        _write(value, pieces, 0, canonical)
    except RecursionError:
        raise SchemaError("nested too deeply (or refers to itself)") from None
    return _escape_controls("".join(pieces).encode())


def _escape_controls(data: bytes) -> bytes:
    """Escapes control characters. They occur in texts only, so one pass over the document suffices."""
    if len(data.translate(None, _CONTROLS)) < len(data):
        for control, escape in _ESCAPES.items():
            data = data.replace(control, escape)
    return data


def _write(value: object, pieces: list[str], depth: int, canonical: bool) -> None:
    """Appends `value` to `pieces`; frequent types come first."""
    kind = type(value)
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        pieces.append(scalar(value))
    elif kind is tuple or kind is FrozenList:
        _write_items(cast("Sequence[object]", value), pieces, depth, canonical)
    elif kind is FrozenDict:
        _write_entries(cast(FrozenDict, value), pieces, depth, canonical)
    elif (named := _named_fields(kind)) is None:
        _write_other(value, pieces, depth, canonical)
    elif canonical and kind is Blob:
        _write_entries(cast(Blob, value).identity(), pieces, depth, canonical)
    else:
        _write_fields(value, named, pieces, canonical)


def _write_other(value: object, pieces: list[str], depth: int, canonical: bool) -> None:
    if isinstance(value, Mapping):
        _write_entries(cast("Mapping[object, object]", value), pieces, depth, canonical)
    elif isinstance(value, tuple | list):
        _write_items(cast("list[object]", value), pieces, depth, canonical)
    else:
        pieces.append(_scalar(value))


def _scalar(value: object) -> str:
    """Returns a value of a subclass of what JSON has."""
    for kind, scalar in _SCALARS.items():
        if isinstance(value, kind):
            return scalar(value)
    raise SchemaError(f"{type(value).__name__} is not a JSON value")


def _text(text: str) -> str:
    """Returns `text` in quotes; `_escape_controls` handles control characters later."""
    if type(text) is not str or not text.isascii():
        text = check_text(text)
    if '"' in text or "\\" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


_SCALARS: Final[dict[type, Callable[[Any], str]]] = {
    str: _text,
    NoneType: lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: lambda value: int.__repr__(cast(int, check_number(value))),
    float: lambda value: float.__repr__(check_number(value)),
    bytes: lambda value: f'"{base64.b64encode(value).decode("ascii")}"',
    Decimal: lambda value: f'"{check_decimal(value):f}"',
}
"""Writers by type; the values of a bool are integers, too, so it comes first."""


def _write_items(items: Sequence[object], pieces: list[str], depth: int, canonical: bool) -> None:
    """Appends the items. Paths are built only when an error propagates."""
    check_depth(depth)
    pieces.append("[")
    index = 0
    try:
        for index, item in enumerate(items):  # noqa: B007 - says which item failed
            _write(item, pieces, depth + 1, canonical)
            pieces.append(",")
    except SchemaError as error:
        raise error.at(f"[{index}]") from None
    _close(pieces, "[]")


def _write_entries(entries: Mapping[Any, object], pieces: list[str], depth: int, canonical: bool) -> None:
    check_depth(depth)
    pieces.append("{")
    keys = map(check_key, entries)
    for key in sorted(keys) if canonical else keys:
        pieces.append(f"{_text(key)}:")
        try:
            _write(entries[key], pieces, depth + 1, canonical)
        except SchemaError as error:
            raise error.at(key) from None
        pieces.append(",")
    _close(pieces, "{}")


def _write_fields(value: object, named: _Named, pieces: list[str], canonical: bool) -> None:
    pieces.append("{")
    name = ""
    try:
        for name, key, default in named:
            if name:
                item = getattr(value, name)
                if item is default or (default is not MISSING and item == default):
                    continue
                pieces.append(key)
                _write(item, pieces, 0, canonical)
            else:
                pieces.append(key)
            pieces.append(",")
    except SchemaError as error:
        raise error.at(name) from None
    _close(pieces, "{}")


def _close(pieces: list[str], brackets: str) -> None:
    """Closes an array or object: the comma after its last entry becomes the bracket."""
    pieces[-1] = brackets[1] if pieces[-1] == "," else brackets


@cache
def _named_fields(cls: type) -> _Named | None:
    """Returns the fields of a dataclass sorted by name, including the type tag; None for any other class."""
    if not is_dataclass(cls):
        return None
    named = [(field.name, f'"{field.name}":', field.default) for field in fields(cls) if field.init]
    tag = getattr(cls, "type", None)
    if isinstance(tag, str):
        named.append(("", f'"type":"{tag}"', MISSING))
    return tuple(sorted(named, key=lambda entry: entry[1]))


def to_data(value: object) -> JSONValue:
    """Returns a schema object as plain JSON values, without fields at their default, with bytes in base64.

    Raises `SchemaError` with the path of a value that JSON cannot represent.
    """
    return json.loads(json_of(value))


def canonical_json(value: object) -> str:
    """Returns the canonical JSON of a value: sorted keys, no spaces, without fields at their default.

    A blob is written as its hash, wherever its content is, so the value cannot be read back.
    """
    return json_of(value, canonical=True).decode()


def digest(value: object) -> str:
    """Returns the SHA-256 of `canonical_json(value)` in hex: equal for equal content, in every process."""
    return hashlib.sha256(json_of(value, canonical=True)).hexdigest()


def json_of(value: object, *, canonical: bool = False) -> bytes:
    """Returns the JSON text of a schema object, in UTF-8.

    The `output` of a response must be JSON data: types of the user's own cannot be serialised here.
    """
    if isinstance(value, HasUserValues):
        value = value.__json_values__()
    return written(value, canonical=canonical)
