"""`ShortRepr`: a repr of one short line, without values that look like credentials.

`RichDisplay`: HTML of answers, messages and media for notebooks. `Immutable`: the base of the schema's frozen
dataclasses, and a copy of one with changes.

Text of a model is escaped, which Markdown would not allow, and nothing is loaded from a network: a notebook runs
scripts in its outputs with the rights of its user.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

from .base_error import SchemaError
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
    if isinstance(value, str) and _SECRET.search(str(name)):
        return "'***'"
    return _short(value, depth + 1)


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


_MAX_EMBEDDED_BYTES = 4 * 1024 * 1024
_MAX_HTML_TEXT = 100_000
_EMBEDDED = {
    "image/png": "img",
    "image/jpeg": "img",
    "image/gif": "img",
    "image/webp": "img",
    "audio/mpeg": "audio",
    "audio/wav": "audio",
    "audio/ogg": "audio",
    "video/mp4": "video",
    "video/webm": "video",
}
"""The HTML element of each media type. SVG is left out: it may contain scripts."""


class RichDisplay:
    """Base class of objects that Jupyter, IPython, VS Code and others show by `_repr_html_`
    (https://ipython.readthedocs.io/en/stable/config/integrating.html#rich-display)."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Returns HTML of the parts in order, with images, audio and video embedded."""
        parts: Iterable[Any] = getattr(self, "parts", (self,))
        return f"<div>{''.join(map(_part, parts))}</div>"


def small_print(*lines: str) -> str:
    """Returns the lines in small print."""
    return f"<small>{'<br>'.join(map(_escape_html, lines))}</small>"


def _part(part: Any) -> str:
    kind = part.type
    if kind == "text":
        return _text_html(part.text)
    if kind == "reasoning":
        return f"<details><summary>Reasoning</summary>{_text_html(part.text)}</details>" if part.text else ""
    if kind == "tool_call":
        return f"<p><code>{_shorten(part.name)}({_shorten(part.arguments_text)})</code></p>"
    if kind == "tool_result":
        return "".join(map(_part, part.content))
    if kind == "hosted_tool_result" and (files := [each for each in part.content if hasattr(each, "blob")]):
        return "".join(map(_part, files))
    blob = getattr(part, "blob", None)
    return _media(blob) if blob is not None else f"<p><code>{_escape_html(short_repr(part))}</code></p>"


def _text_html(text: str) -> str:
    return f'<div style="white-space: pre-wrap">{_shorten(text)}</div>'


def _shorten(text: str) -> str:
    rest = f"... [{len(text):,} characters]" if len(text) > _MAX_HTML_TEXT else ""
    return _escape_html(text[:_MAX_HTML_TEXT] + rest)


def _media(blob: Any) -> str:
    element = _EMBEDDED.get(blob.media_type)
    data = _content(blob) if element is not None else None
    if data is None:
        return f"<p><code>{_escape_html(repr(blob))}</code></p>"
    source = f"data:{blob.media_type};base64,{base64.b64encode(data).decode('ascii')}"
    if element == "img":
        return f'<img src="{source}" alt="{_escape_html(blob.name or blob.media_type)}" style="max-width: 100%">'
    return f'<{element} controls src="{source}"></{element}>'


def _content(blob: Any) -> bytes | None:
    """Returns the content if it is in memory or in a file, and short enough."""
    if blob.form not in ("bytes", "file") or blob.size > _MAX_EMBEDDED_BYTES:
        return None
    try:
        return blob.read()
    except (OSError, SchemaError):
        return None


def _escape_html(text: str) -> str:
    from html import escape  # here: it takes a millisecond to load, and few programs show anything

    return escape(text)


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
