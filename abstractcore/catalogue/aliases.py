"""Follows aliases from name to name, to the row of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import NoReturn

from ..errors import SchemaError
from ..registry import did_you_mean, nearest_names
from .rows import ModelRow


def alias_target(row: ModelRow, models: Mapping[str, ModelRow], known: dict[str, ModelRow] | None = None) -> ModelRow:
    """Returns the row that an alias leads to, over other aliases; a row that is not an alias is returned as it is.

    `known` holds the rows that names lead to, and gets those that are found: each alias is followed once. Raises
    `SchemaError` for a name without a row, and for aliases of each other.
    """
    if row.alias_of is None:
        return row
    known = {} if known is None else known
    *aliases, last = _chain(row, models, known.keys())
    found = known.get(last.name, last)
    known.update((alias.name, found) for alias in aliases)
    return found


def check_aliases(models: Mapping[str, ModelRow], refuse: Callable[[SchemaError, ModelRow], NoReturn]) -> None:
    """Calls `refuse` for the first alias that does not lead to a model."""
    sound: set[str] = set()
    for row in models.values():
        if row.alias_of is not None:
            try:
                sound.update(passed.name for passed in _chain(row, models, sound))
            except SchemaError as error:
                refuse(error, row)


def _chain(row: ModelRow, models: Mapping[str, ModelRow], sound: Set[str]) -> list[ModelRow]:
    """Returns the rows from `row` to a model, or to the first alias that is known to lead to one (`sound`)."""
    passed = {row.name: row}
    while row.alias_of is not None and row.name not in sound:
        name = row.alias_of
        if name in passed:
            raise SchemaError(f"the aliases {' -> '.join((*passed, name))} have no end", "alias_of")
        if name not in models:
            near = nearest_names(name, models)
            raise SchemaError(f"no model is called {name!r}", "alias_of", hint=did_you_mean(near) if near else None)
        row = passed[name] = models[name]
    return list(passed.values())
