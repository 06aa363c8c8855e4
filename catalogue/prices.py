"""The price rows of all providers: hand-kept ones, and those of genai-prices.

A file of `prices/` is for one or several providers. Its first line says which models of genai-prices are theirs, and
what their rows share; each other line is a price row of a model, or with `amend` a change of the rows of genai-prices.
A model with hand-kept rows has only those.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from differences import Difference
from model_facts import AS_OF
from prices_of_genai import GenaiModel, genai_models, without_date
from rows import CatalogueError, Row, json_lines

from abstractcore.catalogue.price_rows import PriceHeader, read_price_row
from abstractcore.errors import SchemaError

_BASE = ("input", "output")
_SHARED = ("sets", "tool_fees", "allowances", "holidays")
_AMENDED = ("rates", "derived", "when", "instead", "sure", "sure_until", "least", "note", "source")


@dataclass
class PriceFile:
    """A file of `prices/`: its header, its rows by model, and its changes of other rows, in order."""

    name: str
    header: Row
    rows: dict[str, list[Row]] = field(default_factory=dict[str, "list[Row]"])
    amendments: list[Row] = field(default_factory=list[Row])

    @property
    def shared(self) -> Row:
        """What its rows share."""
        return {name: self.header[name] for name in _SHARED if name in self.header}


@dataclass(frozen=True)
class ProviderPrices:
    """The prices of one provider: by model, and what their rows share. `chat` are models without facts, `others` those
    that do not chat.
    """

    shared: Row
    by_model: dict[str, list[Row]]
    chat: list[str]
    others: list[str]


class Prices:
    """All price files. `listed` are base prices by provider and model, of the source that lists no others."""

    def __init__(self, folder: Path, listed: Mapping[str, Mapping[str, Row]]) -> None:
        self.files: dict[str, PriceFile] = {}
        self._listed = listed
        for path in sorted(folder.glob("*.jsonl")):
            file = _read(path)
            for provider in file.header["providers"]:
                if provider in self.files:
                    raise CatalogueError(f"{path.name}: {self.files[provider].name} has the prices of {provider}.")
                self.files[provider] = file

    def of(self, provider: str, models: Mapping[str, Row]) -> ProviderPrices | None:
        """Returns the prices of a provider, whose models with facts are given; None without any."""
        file = self.files.get(provider)
        if file is None:
            return None
        if "estimates_of" in file.header:
            return self._estimates(provider, file.header["estimates_of"], models)
        genai = _genai(file)
        found: dict[str, list[Row]] = {}
        for model, row in models.items():
            if "alias_of" in row:
                continue
            name = model if model in file.rows else _name_in(genai, file.header.get("names", {}).get(model, model))
            rows = file.rows.get(model) or (genai[name].rows if name else [])
            if rows:
                found[model] = rows
        chat = self._new(file, "chat", genai, models)
        others = self._new(file, "others", genai, models) if provider == file.header["providers"][0] else []
        found |= {name: file.rows.get(name) or genai[name].rows for name in (*chat, *others)}
        used = {name: _with_amendments(name, rows, file) for name, rows in found.items()}
        used |= {model: _routed(row, used.get(model, []), used) for model, row in models.items() if row.get("routed")}
        return ProviderPrices(*_with_sets(file.shared, used), chat, others)

    def lists(self, provider: str) -> list[Mapping[str, Any]]:
        """Returns the prices of each source by the exact names of models, for comparison within the source."""
        file = self.files.get(provider)
        models = _genai(file).values() if file else ()
        return [{name: model.rows for model in models for name in model.names}, self._listed.get(provider, {})]

    def _new(
        self, file: PriceFile, field: str, genai: Mapping[str, GenaiModel], models: Mapping[str, Row]
    ) -> list[str]:
        """Returns the models with prices and without facts that a pattern in the header of the file names."""
        pattern = re.compile(file.header.get(field, "$^"))
        names = (name for name in {*genai, *file.rows} if pattern.fullmatch(name))
        return sorted(name for name in names if name not in models and without_date(name) not in models)

    def differences(self, provider: str, by_model: Mapping[str, list[Row]]) -> Iterator[Difference]:
        """Yields the base prices of rows on which the other source does not agree."""
        listed = self._listed.get(provider, {})
        for model, rows in by_model.items():
            row, theirs = _row_at(rows, AS_OF), listed.get(model, {})
            for meter, rate in theirs.items():
                ours = (row or {}).get("rates", {}).get(meter)
                if Decimal(ours or "-1") != Decimal(rate) and (ours is not None or meter in ("input", "output")):
                    yield Difference(provider, model, f"price: {meter}", ours, rate, self._reason(provider, model))

    def _reason(self, provider: str, model: str) -> str:
        """Returns why the prices of a model are as they are."""
        file = self.files[provider]
        hand = [row.get("note") or row["source"] for row in file.rows.get(model, ())]
        changed = [each["note"] for each in file.amendments if "note" in each and _concerns(each, model)]
        return (hand or changed or ["genai-prices"])[-1]

    def _estimates(self, provider: str, other: str, models: Mapping[str, Row]) -> ProviderPrices:
        """Returns the prices at another provider as estimates, for models with the same listed base prices there."""
        theirs = self.of(other, models)
        listed = self._listed.get(provider, {})
        found: dict[str, list[Row]] = {}
        for model in models:
            row = _row_at(theirs.by_model.get(model, []), AS_OF) if theirs else None
            if theirs and row and "alias_of" not in models[model] and _agrees(row["rates"], listed.get(model, {})):
                when = row.get("when", [])
                written = theirs.shared["sets"][when] if isinstance(when, str) else _written(when, theirs.shared)
                rates = {meter: rate for meter, rate in row["rates"].items() if not meter.endswith("_search")}
                found[model] = [{"sure": False, "rates": rates, "when": written}]
        return ProviderPrices(*_with_sets({}, found), [], [])


def _routed(row: Row, own: list[Row], by_model: Mapping[str, list[Row]]) -> list[Row]:
    """Returns the prices of a model until it is retired, and from then on those of the model that answers instead."""
    day = row["retires"]
    before = [{**each, "until": min(each.get("until", day), day)} for each in own if each.get("from", "") < day]
    after = by_model.get(row["replaced_by"], [])
    return before + [
        {**each, "from": max(each.get("from", day), day)} for each in after if each.get("until", "9") > day
    ]


def _row_at(rows: Iterable[Row], day: str) -> Row | None:
    """Returns the row that is valid on a day."""
    return next((row for row in rows if row.get("from", "") <= day < row.get("until", "9")), None)


def _agrees(rates: Row, listed: Row) -> bool:
    return all(meter in listed and Decimal(rates.get(meter) or "-1") == Decimal(listed[meter]) for meter in _BASE)


def _written(when: list[Any], shared: Row) -> list[Row]:
    return [each for name in when for each in (shared["sets"][name] if isinstance(name, str) else [name])]


def _read(path: Path) -> PriceFile:
    lines = list(json_lines(path))
    if not lines or not isinstance(lines[0][1].get("providers"), list):
        raise CatalogueError(f"{path.name}:1: the first line is a header with `providers`, a list.")
    (_, header), *rest = lines
    file = PriceFile(path.name, header)
    for number, line in rest:
        if "amend" in line:
            unknown = sorted(set(line) - {"amend", "of", *_AMENDED})
            if unknown:
                raise CatalogueError(f"{path.name}:{number}: a change has no field {unknown[0]!r}.")
            file.amendments.append(line)
        elif "model" in line:
            _check_price(line, file, f"{path.name}:{number}")
            file.rows.setdefault(line.pop("model"), []).append(line)
        else:
            raise CatalogueError(f"{path.name}:{number}: expected 'model' or 'amend'.")
    return file


def _check_price(line: Row, file: PriceFile, where: str) -> None:
    """Reads a price row as the package does; raises `CatalogueError` for a value that it would refuse."""
    row = {name: value for name, value in line.items() if name != "model"}
    try:
        read_price_row(row, PriceHeader.read(file.shared), "", line["model"], "prices")
    except SchemaError as error:
        raise CatalogueError(f"{where}: model {line['model']!r}: {error}") from error


def _genai(file: PriceFile) -> dict[str, GenaiModel]:
    """Returns the models of genai-prices that are a file's, by our ids."""
    found: dict[str, GenaiModel] = {}
    keep = re.compile(file.header.get("only", ""))
    prefix = file.header.get("genai_prefix", "")
    for source in file.header.get("genai", ()):
        for model in genai_models(source).values():
            name = model.id
            if prefix:
                # A price everywhere goes before those of regions, which are amendments.
                if name.startswith(prefix):
                    name = name.removeprefix(prefix)
                elif f"{prefix}{name.removeprefix('regional.')}" in genai_models(source):
                    continue
                name = name.removeprefix("regional.")
            if keep.search(name):
                found.setdefault(name, model)
    return found


def _name_in(genai: Mapping[str, GenaiModel], model: str) -> str | None:
    """Returns the name of the model in genai-prices: the same, or the same but for a date and a version at its end."""
    if model in genai:
        return model
    for name, found in genai.items():
        if model in found.names:
            return name
    base = without_date(model)
    return next((name for name in genai if base in (name, without_date(name))), None)


def _with_amendments(model: str, rows: list[Row], file: PriceFile) -> list[Row]:
    """Returns the rows of a model with the file's changes; hand-kept rows stay as they are."""
    if model in file.rows:
        return rows
    return [_amended(row, model, file.amendments) for row in rows]


def _concerns(amendment: Row, model: str) -> bool:
    return any(re.fullmatch(pattern, model) for pattern in amendment["amend"])


def _amended(row: Row, model: str, amendments: Iterable[Row]) -> Row:
    result: Row = {**row, "rates": dict(row["rates"]), "when": list(row.get("when", ()))}
    for each in amendments:
        if not _concerns(each, model):
            continue
        if "of" in each and each["of"] != row.get("from"):
            continue
        result["rates"] |= each.get("rates", {})
        for meter, (base, factor) in each.get("derived", {}).items():
            result["rates"][meter] = _number(Decimal(result["rates"][base]) * Decimal(factor))
        result["when"] = [*(each["instead"] if "instead" in each else result["when"]), *each.get("when", ())]
        result |= {name: each[name] for name in ("sure", "sure_until", "least") if name in each}
    result["rates"] = {meter: rate for meter, rate in result["rates"].items() if rate != ""}
    return result


def _number(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _with_sets(shared: Row, by_model: dict[str, list[Row]]) -> tuple[Row, dict[str, list[Row]]]:
    """Returns what rows share and the rows: conditions that several models have become a set with a name, fees that
    all models have are left out of rows."""
    sets: dict[str, list[Row]] = dict(shared.get("sets", {}))
    names = {json.dumps(conditions): name for name, conditions in sets.items()}
    written = Counter(json.dumps(row["when"]) for rows in by_model.values() for row in rows if _several(row))
    for conditions, count in sorted(written.items()):
        if count > 1 and conditions not in names:
            name = f"set-{hashlib.sha256(conditions.encode()).hexdigest()[:6]}"
            if name in sets:
                raise CatalogueError(f"two lists of conditions are called {name!r}: take more digits.")
            names[conditions], sets[name] = name, json.loads(conditions)
    fees = shared.get("tool_fees", {})
    result = {model: [_short(row, names, fees) for row in rows] for model, rows in sorted(by_model.items())}
    used = set(_used(result))
    kept = {name: conditions for name, conditions in sorted(sets.items()) if name in used}
    return {**shared, **({"sets": kept} if kept or "sets" in shared else {})}, result


def _several(row: Row) -> bool:
    return isinstance(row.get("when"), list) and bool(row["when"]) and not any(isinstance(c, str) for c in row["when"])


def _short(row: Row, names: Mapping[str, str], fees: Row) -> Row:
    rates = {meter: rate for meter, rate in row["rates"].items() if fees.get(meter) != rate}
    when = names.get(json.dumps(row.get("when"))) or row.get("when")
    result = {name: value for name, value in row.items() if name not in ("rates", "when", "note")}
    return {**result, "rates": rates, **({"when": when} if when else {})}


def _used(by_model: Mapping[str, list[Row]]) -> Iterator[str]:
    for rows in by_model.values():
        for row in rows:
            when: Any = row.get("when", ())
            yield from [when] if isinstance(when, str) else [name for name in when if isinstance(name, str)]
