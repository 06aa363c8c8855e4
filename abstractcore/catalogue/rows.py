"""`ModelRow`: a line of a provider's file, or a table of the user's, before its facts are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..errors import SchemaError
from ..schema import EMPTY
from ..schema.base_error import shown
from .facts import OTHER_FIELDS, Facts

MAX_LIKE = 20
"""How often a row or a template may be like one that is like another."""
_OF_ALIASES = frozenset({"model", "provider", "alias_of", "source", "checked"})


class ModelRow(NamedTuple):
    """A model, an alias of one, or with `is_family` all models whose names begin like this.

    `like` names templates, or for a user's row models, whose facts come before its own. `prices` are as in the file.
    `number` is the line in the file, from 1, or the index of the user's table.
    """

    name: str
    number: int
    is_family: bool = False
    alias_of: str | None = None
    like: tuple[str, ...] = ()
    facts: Facts = EMPTY
    prices: Sequence[Any] = ()

    @property
    def kind(self) -> str:
        """What the name is of, for messages."""
        return "family" if self.is_family else "alias" if self.alias_of is not None else "model"


def read_row(data: object, number: int) -> ModelRow:
    """Returns the row of a JSON object; raises `SchemaError` unless it names a model or a family, and for an alias
    with facts of its own. Its facts are not read yet.
    """
    if not isinstance(data, Mapping):
        raise SchemaError(f"expected an object, got {type(data).__name__}")
    given = cast("Mapping[str, Any]", data)
    kinds = [kind for kind in ("model", "family") if kind in given]
    if len(kinds) != 1:
        raise SchemaError("expected one of 'model' and 'family'", hint='For example: {"model": "ID", ...}')
    alias_of = given.get("alias_of")
    if alias_of is not None:
        _check_alias(given)
    like = given.get("like", ())
    prices = given.get("prices", ())
    if not isinstance(prices, list | tuple):
        raise SchemaError(f"expected a list, got {type(prices).__name__}", "prices")
    return ModelRow(
        _name(given, kinds[0]),
        number,
        kinds[0] == "family",
        alias_of,
        like_of(like),
        {name: value for name, value in given.items() if name not in OTHER_FIELDS},
        cast("Sequence[Any]", prices),
    )


def like_of(data: object) -> tuple[str, ...]:
    """Returns the names in `like`: one name, or a list of them."""
    names: Any = (data,) if isinstance(data, str) else data
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in cast("list[object]", names)):
        raise SchemaError(f"expected a name, or a list of names, got {shown(data)}", "like")
    return tuple(cast("list[str]", names))


def _name(given: Mapping[str, Any], field: str) -> str:
    name = given[field]
    if not isinstance(name, str) or not name or not name.isprintable() or name != name.strip():
        raise SchemaError(f"expected a name, got {shown(name)}", field)
    return name


def _check_alias(given: Mapping[str, Any]) -> None:
    _name(given, "alias_of")
    others = sorted(set(given) - _OF_ALIASES)
    if others:
        raise SchemaError(
            "an alias has no facts of its own", others[0], hint='For a model like another, write "like" instead.'
        )
