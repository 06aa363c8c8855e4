"""Dated snapshots of models whose prices or limits are not those of the model without the date.

Without a row, a dated name is looked up as the model without the date, and has its prices and limits.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from model_facts import AS_OF
from rows import ProviderRows, Row

from abstractcore.catalogue.rows import NameRules

_LIMITS = ("context_tokens", "max_output_tokens")
_TAKEN = ("context_tokens", "retires")


@dataclass(frozen=True)
class Snapshot:
    """A dated name that a source knows, the model without the date, and what differs: names with both values."""

    provider: str
    model: str
    base: str
    differences: dict[str, tuple[Any, Any]]
    row: Row


def snapshot_rows(found: list[Snapshot], kept: Container[str]) -> dict[str, Row]:
    """Returns a row for each snapshot that differs, and an alias for each other one of the same model: with a date that
    no source knows, the price of such a model is an estimate. Those that are `kept` have a row already.
    """
    several = {each.base for each in found if each.differences}
    return {
        each.model: each.row if each.differences else {"alias_of": each.base}
        for each in found
        if each.base in several and each.model not in kept
    }


def snapshots(
    provider: str,
    rows: ProviderRows,
    listed: Mapping[str, Row],
    prices: list[Mapping[str, Any]],
    names: NameRules,
) -> Iterator[Snapshot]:
    """Yields the dated names of models with a hand-kept row that `listed` or one of the lists of `prices` has.

    A source is compared with itself: what it says of the snapshot with what it says of the model without the date.
    """
    for model in sorted({*listed, *(name for each in prices for name in each)}):
        base = _base(model, rows, names) if names.has_date(model) else None
        if base is None:
            continue
        fact, usual = listed.get(model, {}), listed.get(base, {})
        differing = {name: (usual[name], fact[name]) for name in _LIMITS if _differ(usual.get(name), fact.get(name))}
        for each in prices:
            if _differ(each.get(base), each.get(model)):
                differing["price"] = (each[base], each[model])
        own = {name: fact[name] for name in _TAKEN if name in fact}
        source = "model_facts" if fact else "genai_prices"
        row = {**rows.models[base], **own, "source": source, "checked": AS_OF}
        yield Snapshot(provider, model, base, differing, row)


def _base(model: str, rows: ProviderRows, names: NameRules) -> str | None:
    """Returns the model with a row that the dated name is looked up as."""
    base = next((name for name in names.variants(model) if name in rows.models), None)
    aliases = [name for name in (model, base) if name is not None and "alias_of" in rows.models.get(name, {})]
    return None if aliases else base


def _differ(one: object, other: object) -> bool:
    """Returns whether two values are known and differ."""
    return one is not None and other is not None and one != other
