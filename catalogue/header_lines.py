"""The header of a provider's file on many lines, so that a change to one template or source is a change to one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rows import Row

_BY_MEMBER = ("sources", "templates")
_OF_PRICES = "prices"
_SETS = "sets"


def header_lines(provider: str, header: Mapping[str, Row | str]) -> list[Row]:
    """Returns the objects of the lines: the first with the texts, then one for each other field, template, source, and
    field and set of prices; none for an empty field.
    """
    texts = {name: value for name, value in header.items() if isinstance(value, str)}
    lines: list[Row] = [{"provider": provider, **texts}]
    for name, value in header.items():
        if isinstance(value, dict) and value:
            lines += [{name: part} for part in _parts(name, value)]
    return lines


def _parts(name: str, value: Row) -> Iterator[Row]:
    if name in _BY_MEMBER:
        yield from _members(value)
    elif name == _OF_PRICES:
        for part in _members(value):
            yield from ({_SETS: each} for each in _members(part[_SETS])) if _SETS in part else (part,)
    else:
        yield value


def _members(value: Row) -> Iterator[Row]:
    yield from ({key: value[key]} for key in value)
