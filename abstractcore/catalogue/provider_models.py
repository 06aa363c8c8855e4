"""`ProviderModels`: looks up the models of one provider, in its file and among the user's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from time import gmtime, strftime, time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..errors import SchemaError
from ..registry import did_you_mean, nearest_names
from ..schema import EMPTY
from ..schema.base_error import shown
from .facts import Facts, family_facts, merged, overriding, profile_of
from .provider_file import CatalogueProvider
from .rows import MAX_LIKE, Families, Match, ModelEntry, ModelRow, NameRules, alias_target, check_aliases

if TYPE_CHECKING:
    from .price_rows import PriceRow
    from .user_file import UserFile

_LONGEST_COMPARED = 200
_UNKNOWN: Facts = {"known": False}


class _MergedRow(NamedTuple):
    """The facts and prices of a row with those of the rows that it is like; `depth` is the length of the longest chain
    of user's rows.
    """

    facts: Facts
    prices: Sequence[Any] = ()
    depth: int = 0


class ProviderModels:
    """The models of a provider: those of its `file`, and those of the user's file, which win.

    A name is found as it is, then by its variants, then by its family. Entries are made when they are first looked up.
    """

    def __init__(
        self,
        provider: str,
        file: CatalogueProvider | None,
        user: UserFile | None,
        time: Callable[[], float] = time,
    ) -> None:
        self._provider = provider
        self._file = file
        self._user = user
        self._time = time
        self._own: Mapping[str, ModelRow] = user.rows(provider) if user else {}
        self._of_file: Mapping[str, ModelRow] = file.models if file else {}
        self._families: Mapping[str, ModelRow] = file.families if file else {}
        self._family_names = Families(self._families)
        self._models = {**self._of_file, **self._own}
        self._names = file.header.names if file else NameRules()
        self._unknown: Facts = file.unknown() if file else _UNKNOWN
        self._targets: dict[str, ModelRow] = {}
        self._entries: dict[tuple[Match, str], ModelEntry] = {}
        self._merged: dict[str, _MergedRow] = {}
        self._price_rows: dict[tuple[str, bool], Sequence[PriceRow]] = {}
        if self._own:
            check_aliases(self._models, self._refuse)

    @property
    def names(self) -> list[str]:
        """The names of models with a row, aliases included, sorted."""
        return sorted(self._models)

    def entry(self, name: str) -> ModelEntry:
        """Returns the entry of a model; raises `ConfigurationError` for an invalid row."""
        match, row = self._find(name, self._models)
        key = (match, row.name if row else "")
        found = self._entries.get(key)
        return found or self._entries.setdefault(key, self._new_entry(match, row))

    def price_rows(self, name: str) -> Sequence[PriceRow]:
        """Returns the price rows of a model; none if only its family is known, since another version may have another
        price. They are not sure for a date without a row if another date has other prices. Raises `ConfigurationError`
        for an invalid one.
        """
        from .price_rows import PriceHeader, read_price_rows

        match, row = self._find(name, self._models)
        if match != "model" or row is None:
            return ()
        sure = not self._is_guess(name)
        found = self._price_rows.get((row.name, sure))
        if found is None:
            header = self._file.prices if self._file else PriceHeader()
            try:
                found = read_price_rows(self.entry(name).prices, header, self._provider, row.name)
            except SchemaError as error:
                self._refuse(error, row)
            if not sure:
                found = tuple(replace(each, sure=False) for each in found)
            found = self._price_rows.setdefault((row.name, sure), found)
        return found

    def has_own_row(self, name: str) -> bool:
        """Returns whether a model is found in the user's file."""
        row = self._find(name, self._models)[1]
        return row is not None and self._is_own(row)

    def are_variants(self, one: str, other: str) -> bool:
        """Returns whether two names may mean the same model by the rules for names alone."""
        return not {one, *self._names.variants(one)}.isdisjoint((other, *self._names.variants(other)))

    def address(self, source: str) -> str:
        """Returns the address of a source that the header names; that of another one is its own."""
        return self._file.header.sources.get(source, source) if self._file else source

    def alias(self, name: str) -> str | None:
        """Returns the model that a name with a row is an alias of."""
        row = self._models.get(name)
        return alias_target(row, self._models, self._targets).name if row and row.alias_of else None

    def similar(self, name: str) -> tuple[str, ...]:
        """Returns up to three names with a row that are similar to a name; none for a name of more than 200 characters,
        which would take long to compare.
        """
        return tuple(nearest_names(name, self._models)) if len(name) <= _LONGEST_COMPARED else ()

    def check(self) -> None:
        """Makes the entry and the prices of every row; raises `ConfigurationError` for the first invalid one."""
        if self._file is not None:
            self._file.check()
        for name in self._models:
            self.entry(name)
            self.price_rows(name)

    def _find(self, name: str, models: Mapping[str, ModelRow]) -> tuple[Match, ModelRow | None]:
        known = self._targets if models is self._models else None
        row = models.get(name)
        if row is not None:
            return "model", alias_target(row, models, known)
        variants = list(self._names.variants(name))
        for variant in variants:
            if variant in models:
                return "model", alias_target(models[variant], models, known)
        family = self._family_names.of((name, *variants))
        return ("unknown", None) if family is None else ("family", self._families[family])

    def _is_guess(self, name: str) -> bool:
        """Returns whether a name is only known without its date, and other dates of that model have other prices."""
        if name in self._models or not self._names.has_date(name):
            return False
        return self._variant(name) in self._with_snapshots

    @cached_property
    def _with_snapshots(self) -> frozenset[str]:
        """The models that have other prices at another date, by row."""
        dated = ((row, self._variant(name)) for name, row in self._models.items() if row.prices)
        return frozenset(
            base
            for row, base in dated
            if base and alias_target(self._models[base], self._models, self._targets).prices != row.prices
        )

    def _variant(self, name: str) -> str | None:
        """Returns the first variant of a name that has a row."""
        return next((each for each in self._names.variants(name) if each in self._models), None)

    def _new_entry(self, match: Match, row: ModelRow | None) -> ModelEntry:
        if row is None:
            return ModelEntry(self._provider, "", match, self._unknown, profile_of(self._unknown))
        facts, prices, _ = self._facts(match, row, ())
        try:
            profile = profile_of(facts)
        except SchemaError as error:
            self._refuse(error, row)
        own = frozenset[str]()
        if self._is_own(row):
            own = frozenset({*row.facts, "prices"} if row.prices else row.facts)
        return ModelEntry(self._provider, row.name, match, facts, profile, own, prices)

    def _facts(self, match: Match, row: ModelRow, within: tuple[str, ...]) -> _MergedRow:
        """Returns the facts and prices of a row; `within` names the user's rows that are like it. Each of the user's
        rows is merged once, however many are like it.
        """
        if not self._is_own(row):
            assert self._file is not None
            facts = self._file.facts(row)
            if facts.get("routed"):
                facts = self._routed_facts(facts, row)
            return (
                _MergedRow(family_facts(row.name, facts, self._unknown))
                if match == "family"
                else _MergedRow(facts, row.prices)
            )
        found = self._merged.get(row.name)
        if found is None:
            below = self._facts_below(row, (*within, row.name))
            found = _MergedRow(overriding(below.facts, row.facts), row.prices or below.prices, below.depth + 1)
            found = self._merged.setdefault(row.name, found)
        return found

    def _routed_facts(self, facts: Facts, row: ModelRow) -> Facts:
        """Returns the facts of a model that another one answers for once it is retired: from that day the other's, with
        its own retirement.
        """
        day, name = facts.get("retires"), facts.get("replaced_by")
        other = self._of_file.get(name) if isinstance(name, str) else None
        if not isinstance(day, str) or other is None:
            self._refuse(SchemaError("a routed model has `retires`, and a row for `replaced_by`", "routed"), row)
        if strftime("%Y-%m-%d", gmtime(self._time())) < day:
            return facts
        assert self._file is not None
        found = self._file.facts(alias_target(other, self._of_file))
        return {**found, "retires": day, "replaced_by": name, "routed": True}

    def _facts_below(self, row: ModelRow, within: tuple[str, ...]) -> _MergedRow:
        """Returns the facts that those of a user's row override: of the models that it is like, or without the row."""
        if not row.like:
            match, below = self._find(row.name, self._of_file)
            return self._facts(match, below, within) if below else _MergedRow(self._unknown)
        facts: Facts = EMPTY
        prices: Sequence[Any] = ()
        depth = 0
        for name in row.like:
            match, other = self._find(name, self._of_file if name == row.name else self._models)
            if match != "model" or other is None:
                near = nearest_names(name, self._models)
                hint = did_you_mean(near) if near else None
                self._refuse(SchemaError(f"{self._provider} has no row for {shown(name)}", "like", hint=hint), row)
            if other.name in within and self._is_own(other):
                self._refuse(
                    SchemaError(f"the models {', '.join((*within, other.name))} are like each other", "like"), row
                )
            more = self._facts(match, other, within) if len(within) <= MAX_LIKE else None
            if more is None or more.depth > MAX_LIKE:
                self._refuse(SchemaError(f"leads over more than {MAX_LIKE} models to {shown(name)}", "like"), row)
            facts, prices, depth = merged(facts, more.facts), more.prices, max(depth, more.depth)
        return _MergedRow(facts, prices, depth)

    def _is_own(self, row: ModelRow) -> bool:
        return self._own.get(row.name) is row

    def _refuse(self, error: SchemaError, row: ModelRow) -> NoReturn:
        if self._user is not None and self._is_own(row):
            self._user.refuse(error, row)
        assert self._file is not None
        self._file.refuse(error, row)
