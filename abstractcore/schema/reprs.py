"""`ShortRepr`: a repr of one short line, without values that look like credentials.

`RichDisplay`: what notebooks show. `Immutable`: the base of the schema's frozen dataclasses, and a copy of one with
changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

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
        return f"({written[0]},)" if len(items) == 1 else _in_brackets("()", written, more)
    return _in_brackets("[]", written, more)


def _mapping(mapping: Mapping[object, object], depth: int) -> str:
    if mapping and depth >= _MAX_DEPTH:
        return f"<{len(mapping):,} items>"
    names = list(mapping)[:_MAX_ITEMS]
    written = [f"{_short(name, depth + 1)}: {_entry(name, mapping[name], depth)}" for name in names]
    return _in_brackets("{}", written, len(mapping) - len(written))


def _entry(name: object, value: object, depth: int) -> str:
    if isinstance(value, str) and is_secret(name):
        return "'***'"
    return _short(value, depth + 1)


def is_secret(name: object) -> bool:
    """Returns whether a field is named like one with a credential."""
    return _SECRET.search(str(name)) is not None


def _in_brackets(brackets: str, written: list[str], more: int) -> str:
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


class RichDisplay:
    """Base class of objects that Jupyter, IPython, VS Code and others show by `_repr_html_`
    (https://ipython.readthedocs.io/en/stable/config/integrating.html#rich-display). A subclass defines `__display__`,
    which returns blocks, or `__display_row__`: see `abstractcore.schema.displays`, which writes their HTML.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Returns the blocks as HTML."""
        from .displays import html_of  # here: few programs show anything

        return html_of(self.__display__())

    def __display__(self) -> Iterable[Any]:
        """Returns the blocks that are shown: by default a table of its row."""
        from .displays import DisplayTable

        return (DisplayTable([self.__display_row__()]),)

    def __display_row__(self) -> Mapping[str, object]:
        """Returns its row in the table of a list: cells by the names of their columns."""
        raise NotImplementedError


T = TypeVar("T", bound="Immutable")


class Immutable(ShortRepr):
    """Base class of records that are immutable at every depth, so that `copy.deepcopy` returns the record itself.

    Otherwise a deep copy would hold plain dicts and lists where the record holds frozen ones.
    """

    __slots__ = ()

    def __deepcopy__(self: T, memo: object) -> T:
        return self


def with_valid(record: T, **changes: object) -> T:
    """Returns a copy of a record with changed fields, which must be valid and canonical: none is checked again.

    For changes with values of other records. Values of users, models and plugins need a new record, which checks them.
    """
    cls = type(record)
    made = object.__new__(cls)
    values_of, setters = _accessors(cls)
    for setter, value in zip(setters.values(), values_of(record), strict=True):
        setter(made, value)
    for name, value in changes.items():
        setters[name](made, value)
    return made


@cache
def _accessors(cls: type) -> tuple[Callable[[object], tuple[Any, ...]], dict[str, Callable[[object, Any], None]]]:
    """Returns the getter of the values of the fields of a record, and the setter of each: its slots, since it is
    frozen.
    """
    names = [field.name for field in fields(cast(Any, cls))]
    return attrgetter(*names), {name: getattr(cls, name).__set__ for name in names}
