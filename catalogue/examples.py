"""The example models of docs/providers.md: what they accept, whether they think, what they cost, as their rows say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta

from rows import CatalogueError

from abstractcore.catalogue.price_rows import PriceRow
from abstractcore.catalogue.provider_file import CatalogueProvider
from abstractcore.catalogue.provider_models import ProviderModels
from abstractcore.catalogue.rows import ModelEntry
from abstractcore.ports import ModelProfile

_LEAST = timedelta(days=90)
_KINDS = {"image/": "images", "image": "images", "application/pdf": "PDF", "audio": "audio", "video": "video"}
"""What the table calls media types, by their beginning."""


def example_line(file: CatalogueProvider, models: list[str]) -> str:
    """Returns the line of a provider; raises `CatalogueError` for a model without a row, and for one that is retired
    less than 90 days after the day of the file.
    """
    provider, day = file.header.provider, file.header.as_of or date.min
    catalogue = ProviderModels(provider, file, None, lambda: _noon(day))
    entries = {model: catalogue.entry(model) for model in models}
    for model, entry in entries.items():
        _check(model, entry, day)
    prices = [_price(catalogue.price_rows(model), day) for model in models]
    first, *others = models
    names = ", ".join([f"`{provider}/{first}`", *(f"`{model}`" for model in others)])
    columns = [_joined(_files, entries.values()), _joined(_thinking, entries.values()), _once(prices)]
    return f"| {names} | {' | '.join(columns)} |\n"


def _check(model: str, entry: ModelEntry, day: date) -> None:
    if entry.match != "model":
        raise CatalogueError(f"examples: {entry.provider} has no row for {model!r}.")
    retires = entry.profile.retires
    if retires is not None and date.fromisoformat(retires) - day < _LEAST:
        raise CatalogueError(f"examples: {model!r} of {entry.provider} is retired on {retires}: take a newer model.")


def _joined(cell: Callable[[ModelProfile], str], entries: Iterable[ModelEntry]) -> str:
    return _once([cell(entry.profile) for entry in entries])


def _once(cells: list[str]) -> str:
    """Returns the cells of several models, or the only one if they are the same."""
    return cells[0] if len(set(cells)) == 1 else "; ".join(cells)


def _files(profile: ModelProfile) -> str:
    kinds = profile.accepts or ()
    return (
        ", ".join(
            dict.fromkeys(name for start, name in _KINDS.items() if any(kind.startswith(start) for kind in kinds))
        )
        or "text"
    )


def _thinking(profile: ModelProfile) -> str:
    thinking = profile.thinking
    if thinking is None:
        return "?"
    if thinking.levels:
        lowest, highest = thinking.levels[0], thinking.levels[-1]
        found = f"{lowest} to {highest}" if lowest != highest else lowest
    elif thinking.budget:
        found = "by budget"
    else:
        return "always" if thinking.on_by_default else "no"
    return f"off, {found}" if thinking.can_be_off else found


def _price(rows: Iterable[PriceRow], day: date) -> str:
    row = next((row for row in rows if row.covers(_noon(day))), None)
    if row is None:
        return "?"
    given, produced = row.rates.get("input"), row.rates.get("output")
    return "?" if given is None or produced is None else f"{given.normalize():f} / {produced.normalize():f}"


def _noon(day: date) -> float:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()
