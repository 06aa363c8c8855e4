"""`ModelRow`: a line of a provider's file, or a table of the user's, before its facts are read.

Follows aliases from name to name, to the row of a model. `ModelEntry`: what the catalogue knows about a model. The
names of models: variants of a name, and the families that a name belongs to. Knows no model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn, cast

from ..errors import SchemaError
from ..ports import ModelProfile
from ..registry import did_you_mean, nearest_names
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


Match = Literal["model", "family", "unknown"]


class ModelEntry(NamedTuple):
    """What the catalogue knows about a model of a provider.

    `match` is how it was found: by its own row, by that of its family, or not at all. `name` is the name in that row,
    empty without one. `facts` are the fields of `profile` as JSON values; `own_facts` names those that are
    from the user's file, with "prices" if these are. `prices` are as in the file.
    """

    provider: str
    name: str
    match: Match
    facts: Facts
    profile: ModelProfile
    own_facts: frozenset[str] = frozenset()
    prices: Sequence[Any] = ()


_DATE = re.compile(r"(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|-(?:0[1-9]|1[0-2])-20\d\d)$")
_SHORT_DATE = re.compile(r"-\d{4}$")
_BOUNDARY = re.compile(r"[-:@]|$")
_VERSION = re.compile(r"-\d{1,2}(?![0-9A-Za-z]|\.\d{1,2}[A-Za-z])")
_VERSION_LENGTH = 7
"""Characters that `_VERSION` looks at, at most."""


@dataclass(frozen=True, slots=True)
class NameRules:
    """How a provider's names of models vary, besides dates such as `-2026-10-07`, `-20261007` and `-10-2026`.

    Of a path, the part after the last of `after` is the name ("/"). `prefixes` ("us.") and `suffixes" (":0") may be
    left out. `short_dates` allows four digits ("-2512"), `tags` any ":tag" at the end. Raises `SchemaError` for an
    empty text.
    """

    after: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    short_dates: bool = False
    tags: bool = False

    def __post_init__(self) -> None:
        for field in ("after", "prefixes", "suffixes"):
            if "" in getattr(self, field):
                raise SchemaError("expected text, got ''", field)

    def variants(self, name: str) -> Iterator[str]:
        """Yields the names that may mean the same model as `name`, the most similar first; not `name` itself."""
        found = [name]
        for shorter in (self._after_path, self._without_prefix, self._without_suffix, self._without_date):
            for each in tuple(found):
                short = shorter(each)
                if short and short not in found:
                    found.append(short)
        yield from found[1:]

    def has_date(self, name: str) -> bool:
        """Returns whether a variant of `name` is without a date that it has."""
        return any(self._without_date(each) != each for each in (name, *self.variants(name)))

    def _after_path(self, name: str) -> str:
        for separator in self.after:
            name = name.rpartition(separator)[2]
        return name

    def _without_prefix(self, name: str) -> str:
        found = (name.removeprefix(prefix) for prefix in self.prefixes if name.startswith(prefix))
        return next(found, "")

    def _without_suffix(self, name: str) -> str:
        found = (name.removesuffix(suffix) for suffix in self.suffixes if name.endswith(suffix))
        return next(found, name.rpartition(":")[0] if self.tags else "")

    def _without_date(self, name: str) -> str:
        short = _DATE.sub("", name)
        return _SHORT_DATE.sub("", name) if self.short_dates and short == name else short


class Families:
    """The names of a provider's families."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known = frozenset(names)
        self._longest = max(map(len, self._known), default=0) + _VERSION_LENGTH

    def of(self, names: Iterable[str]) -> str | None:
        """Returns the longest family that one of the `names` belongs to.

        A name belongs to a family that it equals or continues after a "-", ":" or "@". A number of one or two digits
        after a "-", or one after a ".", is the version of another family; one with a letter behind it is a size
        ("-1.7b"). The last part of a path belongs to its family too, and so does a name in capitals.
        """
        variants = dict.fromkeys(each for name in names for each in (name, name.rpartition("/")[2].lower()))
        found = (
            name[: boundary.start()]
            for name in (each[: self._longest] for each in variants)  # a name may be a server's, of any length
            for boundary in _BOUNDARY.finditer(name)
            if name[: boundary.start()] in self._known and not _VERSION.match(name, boundary.start())
        )
        return max(found, key=len, default=None)
