"""`ShortRepr`: a repr of one short line, without values that look like credentials."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, cast

from .json_values import shown

_MAX_TEXT, _MAX_ITEMS, _MAX_DEPTH, _MAX_LENGTH = 80, 4, 6, 1000
_SECRET = re.compile(r"key|token|secret|password|authorization|cookie|credential|signature", re.IGNORECASE)
"""Names of fields whose texts are hidden."""


class ShortRepr:
    """Base class of dataclasses with a one-line repr of the fields that differ from their defaults, shortened."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in vars(cls):  # one in the class itself is what `dataclass` leaves alone
            cls.__repr__ = short_repr


def short_repr(self: object) -> str:
    """Returns a one-line repr: texts, lists and mappings are shortened, bytes only counted. Raises no errors."""
    line = _short(self, 0)
    return line if len(line) <= _MAX_LENGTH else f"{line[:_MAX_LENGTH]}..."


def _short(value: object, depth: int) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(cast(bytes, value)):,} bytes>"
    if isinstance(value, list | tuple):
        return _items(cast("Sequence[object]", value), depth)
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[object, object]", value), depth)
    if isinstance(value, ShortRepr) and type(value).__repr__ is short_repr and is_dataclass(value):
        if depth >= _MAX_DEPTH:
            return f"{type(value).__name__}(...)"
        return f"{type(value).__name__}({', '.join(_fields(value, depth))})"
    return shown(value)


def _text(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return repr(text)
    return f"{text[:_MAX_TEXT]!r}... [{len(text):,} characters]"


def _items(items: Sequence[object], depth: int) -> str:
    if items and depth >= _MAX_DEPTH:
        return f"<{len(items):,} items>"
    written = [_short(item, depth + 1) for item in items[:_MAX_ITEMS]]
    more = len(items) - len(written)
    if isinstance(items, tuple):
        return f"({written[0]},)" if len(items) == 1 else _bracketed("()", written, more)
    return _bracketed("[]", written, more)


def _mapping(mapping: Mapping[object, object], depth: int) -> str:
    if mapping and depth >= _MAX_DEPTH:
        return f"<{len(mapping):,} items>"
    names = list(mapping)[:_MAX_ITEMS]
    written = [f"{_short(name, depth + 1)}: {_entry(name, mapping[name], depth)}" for name in names]
    return _bracketed("{}", written, len(mapping) - len(written))


def _entry(name: object, value: object, depth: int) -> str:
    if isinstance(value, str) and _SECRET.search(str(name)):
        return "'***'"
    return _short(value, depth + 1)


def _bracketed(brackets: str, written: list[str], more: int) -> str:
    rest = [f"... {more:,} more"] if more else []
    return f"{brackets[0]}{', '.join([*written, *rest])}{brackets[1]}"


def _fields(value: object, depth: int) -> Iterable[str]:
    for field in fields(cast(Any, value)):
        found = getattr(value, field.name, None)
        if field.init and field.repr and not _is_default(field, found):
            yield f"{field.name}={_short(found, depth + 1)}"


def _is_default(field: Field[Any], value: object) -> bool:
    if field.default is not MISSING:
        return type(value) is type(field.default) and bool(value == field.default)
    return field.default_factory is not MISSING and bool(value == field.default_factory())
