"""`abstractcore models search`: the models of the catalogue that can do something.

Prices of the catalogue as lines of text.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from itertools import groupby, starmap
from typing import TYPE_CHECKING, Any, cast

import abstractcore
from abstractcore.schema.amounts import counted

from .catalogues import (
    check_provider,
    does_not_chat,
    entries,
    facts_json,
    files_of,
    is_retired,
    kinds_of,
    left_out,
    open_catalogue,
    short,
    thinking_of,
)
from .reporting import catalogue_json, reported
from .screen import note, show_group, write

if TYPE_CHECKING:
    from abstractcore.catalogue import FileCatalogue, ModelEntry, PriceRow

_UNITS: Mapping[int, str] = {
    1: "each",
    60: "per minute",
    1_000: "per 1,000",
    3_600: "per hour",
    1_000_000: "per million",
}
_SIDES: Mapping[str, str] = {"in": "input", "out": "output"}
_TERMS: Mapping[str, str] = {
    "input_over": "input over {}",
    "input_from": "input from {}",
    "tier": "tier {}",
    "region": "in {}",
    "region_not": "not in {}",
    "from": "from {}",
    "until": "until {}",
    "utc": "{} UTC",
    "days": "{}",
    "not": "not on holidays of {}",
}
"""The conditions of a price, each with its text."""


def current_rate(rows: Iterable[PriceRow], meter: str, now: float) -> Decimal | None:
    """Returns the present price of a meter, before conditions; None if it is unknown."""
    return next((row.rates.get(meter) for row in rows if row.covers(now)), None)


def dollars(rate: Decimal | None) -> str:
    """Returns a price without trailing zeros."""
    return "?" if rate is None else f"{rate.normalize():f}" if rate else "0"


def price_lines(rows: Iterable[PriceRow], now: float) -> Iterator[str]:
    """Yields the present and future prices, and the conditions under which they differ."""
    for row in rows:
        if row.end is None or row.end > now:
            yield _span(row) + "; ".join(_by_unit(row))
            yield from (_condition(each) for each in row.content.get("when", ()))


def _span(row: PriceRow) -> str:
    """Returns the days on which the price begins and ends, and whether it is sure."""
    ends = [f"{word} {_day(at)}" for word, at in (("from", row.start), ("until", row.end)) if at is not None]
    if row.sure_until is not None:
        ends.append(f"an estimate from {_day(row.sure_until)} on")
    if not row.sure:
        ends.append("an estimate")
    return f"{', '.join(ends)}: " if ends else ""


def _day(at: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment:%Y-%m-%d}" if not (moment.hour or moment.minute) else f"{moment:%Y-%m-%d %H:%M} UTC"


def _by_unit(row: PriceRow) -> Iterator[str]:
    """Yields the prices of each unit: those per million tokens first."""
    for unit, rates in row.rates_by_unit():
        yield f"{', '.join(starmap(_price_text, rates.items()))} {_UNITS.get(unit, f'per {unit:,}')}"


def _price_text(meter: str, rate: Decimal | None) -> str:
    return f"{meter} unknown" if rate is None else f"{meter} ${dollars(rate)}"


def _condition(condition: Mapping[str, Any]) -> str:
    terms = [text.format(_words(condition[name])) for name, text in _TERMS.items() if name in condition]
    return f"  {', '.join(terms) or 'always'}: {', '.join(_effects(condition))}"


def _effects(condition: Mapping[str, Any]) -> Iterator[str]:
    times = condition.get("times")
    if isinstance(times, Mapping):
        yield from (f"{_SIDES.get(side, side)} x{factor}" for side, factor in cast("Mapping[str, str]", times).items())
    elif times is not None:
        yield f"x{times}"
    for meter, rate in condition.get("rates", {}).items():
        yield f"{meter} unknown" if rate is None else f"{meter} ${rate}"
    if condition.get("sold") is False:
        yield "not available"


def _words(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return " or ".join(cast("list[str]", value)) if isinstance(value, list | tuple) else str(value)


_TOKENS = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([km]?)", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
_BY_SCHEMA = "answer by a schema"
COLUMNS = ("context", "files", "thinking", "$ in", "$ out")


@dataclass(frozen=True, slots=True)
class Search:
    """What a model must be able to do: `files` are kinds ("image", "pdf"), `context` is as given, as in "200k", `name`
    a part of the model's name.
    """

    provider: str | None = None
    files: tuple[str, ...] = ()
    tools: bool = False
    thinking: bool = False
    structured: bool = False
    context: str | None = None
    max_price: str | None = None
    name: str | None = None


@dataclass(slots=True)
class _SearchResult:
    """The models that fit, with the cells of their rows; how many may fit, since their context is unknown; and the
    errors of the files that could not be read, by provider.
    """

    models: list[tuple[ModelEntry, tuple[str, ...]]] = field(default_factory=list["tuple[ModelEntry, tuple[str, ...]]"])
    without_context: int = 0
    errors: dict[str, str] = field(default_factory=dict[str, str])


def show_search(search: Search, *, as_json: bool) -> None:
    """Prints the models of the catalogue that fit, without retired ones."""
    with reported(as_json=as_json):
        catalogue = open_catalogue()
        if search.provider is not None:
            check_provider(catalogue, search.provider)
        found = _search(catalogue, search)
        if as_json:
            models = [facts_json(entry) for entry, _ in found.models]
            write(catalogue_json({"models": models, "left_out": found.errors}))
            return
        columns = (*COLUMNS, *_asked_columns(search))
        for provider, group in groupby(found.models, key=lambda pair: pair[0].provider):
            show_group(provider, columns, [row for _, row in group])
        note(f"{counted(len(found.models), 'model')}; prices in dollars per million tokens; ? is unknown.")
        for column, what in _asked_columns(search).items():
            unknown = sum(row[1 + columns.index(column)] == "?" for _, row in found.models)
            if unknown:
                note(f"{unknown} of them are not known to {what}: see the column {column}.")
        if found.without_context:
            note(f"{found.without_context} more are left out, since their context is unknown.")


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


def _search(catalogue: FileCatalogue, search: Search) -> _SearchResult:
    found = _SearchResult()
    context = None if search.context is None else _tokens(search.context)
    limit = None if search.max_price is None else _price(search.max_price)
    now = time.time()
    for provider in [search.provider] if search.provider else catalogue.providers:
        with left_out(provider, None if search.provider else found.errors):
            fitting = list(_fitting(catalogue, provider, search, now, limit))
            enough = [entry for entry in fitting if not context or (entry.profile.context_tokens or 0) >= context]
            found.models += [(entry, _row(catalogue, entry, search, now)) for entry in enough]
            if context:
                found.without_context += sum(entry.profile.context_tokens is None for entry in fitting)
    return found


def _fitting(
    catalogue: FileCatalogue, provider: str, search: Search, now: float, limit: Decimal | None
) -> Iterator[ModelEntry]:
    """Yields the models of a provider that fit, whatever their context."""
    for entry in entries(catalogue, [provider]):
        if search.name and search.name.lower() not in entry.name.lower():
            continue
        if is_retired(entry, now) or not _can(entry, search):
            continue
        if limit is not None:
            price = current_rate(catalogue.models(provider).price_rows(entry.name), "input", now)
            if price is None or price > limit:
                continue
        yield entry


def _asked_columns(search: Search) -> dict[str, str]:
    """Returns the columns for what a model may have without being known to, and what it does with it."""
    return {
        **({"tools": "call tools"} if search.tools else {}),
        **({"output": _BY_SCHEMA} if search.structured else {}),
    }


def _row(catalogue: FileCatalogue, entry: ModelEntry, search: Search, now: float) -> tuple[str, ...]:
    profile = entry.profile
    tools = "in the prompt" if profile.tool_prompt else profile.tools
    known = {"tools": tools, "output": profile.structured_output}
    return (
        *summary_row(catalogue, entry, now, entry.name),
        *(known[column] or "?" for column in _asked_columns(search)),
    )


def _can(entry: ModelEntry, search: Search) -> bool:
    """Returns whether a model can do what is asked. Tools and structured output are usual: only a model that is known
    to have none, and one that does not chat, is left out.
    """
    if (search.tools or search.structured) and does_not_chat(entry):
        return False
    profile = entry.profile
    if not set(search.files) <= set(kinds_of(list(profile.accepts))):
        return False
    if search.tools and profile.tools == "never" and profile.tool_prompt is None:
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
