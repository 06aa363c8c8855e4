"""`abstractcore models search`: the models of the catalogue that can do something."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import groupby
from typing import TYPE_CHECKING

import abstractcore

from .catalogues import check_provider, entries, facts_json, files_of, kinds_of, open_catalogue, short, thinking_of
from .json_output import catalogue_json
from .model_prices import current_rate, dollars
from .reporting import reported
from .screen import note, show_group, write

if TYPE_CHECKING:
    from ..catalogue import FileCatalogue, ModelEntry

_TOKENS = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([km]?)", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
COLUMNS = ("context", "files", "thinking", "$ in", "$ out")


@dataclass(frozen=True, slots=True)
class Search:
    """What a model must be able to do: `files` are kinds ("image", "pdf"), `context` is as given, as in "200k"."""

    provider: str | None = None
    files: tuple[str, ...] = ()
    tools: bool = False
    thinking: bool = False
    structured: bool = False
    context: str | None = None
    max_price: str | None = None


def show_found(search: Search, *, as_json: bool) -> None:
    """Prints the models of the catalogue that fit, without retired ones."""
    with reported(as_json=as_json):
        catalogue = open_catalogue()
        if search.provider is not None:
            check_provider(catalogue, search.provider)
        now = time.time()
        found = list(_found(catalogue, search, now))
        if as_json:
            write(catalogue_json({"models": [facts_json(entry) for entry in found]}))
            return
        for provider, group in groupby(found, key=lambda entry: entry.provider):
            rows = [summary_row(catalogue, entry, now, entry.name) for entry in group]
            show_group(provider, COLUMNS, rows)
        note(f"{len(found)} models; prices in dollars per million tokens; ? is unknown.")


def summary_row(catalogue: FileCatalogue, entry: ModelEntry, now: float, name: str) -> tuple[str, ...]:
    """Returns the name of a model and the cells of `COLUMNS`."""
    rows = catalogue.models(entry.provider).price_rows(entry.name) if entry.match == "model" else ()
    return (
        name,
        short(entry.profile.context_tokens),
        files_of(entry),
        thinking_of(entry),
        *(dollars(current_rate(rows, meter, now)) for meter in ("input", "output")),
    )


def _found(catalogue: FileCatalogue, search: Search, now: float) -> Iterator[ModelEntry]:
    context = None if search.context is None else _tokens(search.context)
    limit = None if search.max_price is None else _price(search.max_price)
    today = time.strftime("%Y-%m-%d", time.gmtime(now))
    for entry in entries(catalogue, [search.provider] if search.provider else catalogue.providers):
        profile = entry.profile
        if profile.retires is not None and profile.retires <= today:
            continue
        if not _can(entry, search) or (context and (profile.context_tokens or 0) < context):
            continue
        if limit is not None:
            price = current_rate(catalogue.models(entry.provider).price_rows(entry.name), "input", now)
            if price is None or price > limit:
                continue
        yield entry


def _can(entry: ModelEntry, search: Search) -> bool:
    """Returns whether a model can do what is asked. Tools and structured output are usual: only a model that is known
    to have none is left out.
    """
    profile = entry.profile
    if not set(search.files) <= set(kinds_of(list(profile.accepts))):
        return False
    if search.tools and profile.tools == "never":
        return False
    if search.structured and profile.structured_output not in (None, "schema"):
        return False
    thinking = profile.thinking
    return not search.thinking or (thinking is not None and bool(thinking.levels or thinking.budget))


def _tokens(text: str) -> int:
    """Returns a number of tokens, as in 200000, 200k or 1M."""
    found = _TOKENS.fullmatch(text.strip())
    if found is None:
        raise abstractcore.InvalidInputError(
            f"{text!r} is not a number of tokens.", hint="For example: --context 200k."
        )
    number = Decimal(found[1].replace(",", "").replace("_", ""))
    return int(number * _FACTORS[found[2].lower()])


def _price(text: str) -> Decimal:
    try:
        price = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        price = Decimal("NaN")
    if not price.is_finite() or price < 0:
        raise abstractcore.InvalidInputError(
            f"{text!r} is not a price in dollars per million tokens of input.", hint="For example: --max-price 2."
        )
    return price
