"""Builds the catalogue of models from its sources: one file a provider, which the wheel holds, and the differences.

    python catalogue/build.py           write the files
    python catalogue/build.py --check   fail if they are not what would be written

Hand-kept rows (`rows/`, `prices/`) win over genai-prices, and that over `sources/model_facts.jsonl`. A model that only
the last one lists is in the table with what it says; what it does not say is as for an unknown model.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from checks import check, check_settings
from differences import Difference, report
from filled import Taken, same_model, taken
from header_lines import header_lines
from model_facts import AS_OF, base_prices, facts
from overview import with_examples, with_table
from prices import Prices, ProviderPrices
from rows import CatalogueError, ProviderRows, Row, hand_rows, json_of, resolved, with_types
from snapshots import Snapshot, snapshot_rows, snapshots
from tool_prompts import ToolPrompts

from abstractcore.catalogue.rows import NameRules, like_of
from abstractcore.registry import Registry
from abstractcore_providers.vendors.vendor_provider import VendorProvider

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent / "providers" / "abstractcore_providers" / "catalogue"
PAGE = HERE.parent / "docs" / "catalogue.md"
EXAMPLES_PAGE = HERE.parent / "docs" / "providers.md"
_LISTED = "listed"
"""The template of models that only `model_facts` lists: they take what an unknown model may take."""
_OF_UNKNOWN = ("known", "assumed", "encodable")
"""Facts that a model that does not chat does not share with an unknown one."""
_DATED = re.compile(r"(-20\d\d-?\d\d-?\d\d|-0\d{3}|@\d+)$")
_LONG_RETIRED = "2026-05-01"


def main() -> int:
    """Writes the files, or compares them with those on the disk."""
    try:
        if "--check" in sys.argv:
            stale = out_of_date()
            if stale:
                print(f"out of date: {', '.join(stale)}. Run: make catalogue", file=sys.stderr)
            return 1 if stale else 0
        built = dict(built_files())
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 1
    for path, text in built.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    written = [len(text) for path, text in built.items() if path.parent == OUTPUT]
    print(f"{len(written)} providers, {sum(written) // 1000} kB")
    return 0


def out_of_date() -> list[str]:
    """Returns the names of the files that differ from what would be written; raises `CatalogueError`."""
    built = dict(built_files())
    stale = [path.name for path, text in built.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return sorted([*stale, *(path.name for path in OUTPUT.glob("*.jsonl") if path not in built)])


def built_files() -> Iterator[tuple[Path, str]]:
    """Yields each file and its text; raises `CatalogueError` for an error in a source."""
    hand, listed = hand_rows(HERE / "rows"), facts(HERE / "sources" / "model_facts.jsonl")
    sources = json_of(HERE / "sources.json")
    tool_prompts = ToolPrompts(HERE / "tool_prompts.jsonl", sources)
    prices = Prices(HERE / "prices", base_prices(HERE / "sources" / "model_facts.jsonl"))
    differences: list[Difference] = []
    dated: list[Snapshot] = []
    all_taken: list[Taken] = []
    built: dict[str, str] = {}
    registry = Registry.from_entry_points()
    all_rows = dict(hand)
    for path in sorted((HERE / "providers").glob("*.json")):
        provider, header = path.stem, json_of(path)
        shared = header.pop("models_of", None)
        rows = hand.pop(provider, ProviderRows()) if shared is None else _rows_of(all_rows[shared["provider"]], shared)
        _check_references(provider, rows, sources)
        more = listed.get(provider, {})
        filled = taken(provider, rows, more)
        for each in filled:
            rows.models[each.model] |= each.facts
        all_taken += filled
        names = NameRules(**header.get("names", {}))
        of_provider = list(snapshots(provider, rows, more, prices.lists(provider), names))
        dated += of_provider
        only_listed = _only_listed(rows, more, header) | snapshot_rows(of_provider, rows.models)
        priced = prices.of(provider, {**only_listed, **rows.models})
        if priced is not None:
            only_priced = {"source": "genai_prices", "checked": header["as_of"]}
            only_listed |= {model: {"like": [_LISTED], **only_priced} for model in priced.chat}
            no_files = {name: fact for name, fact in header.get("unknown", {}).items() if name not in _OF_UNKNOWN}
            only_listed |= {model: {**no_files, **only_priced} for model in priced.others}
        for table in (rows.models, rows.families, only_listed):
            tool_prompts.add_to(table, rows.templates)
        if header.pop("open_models", False):
            tool_prompts.add_families(rows.families)
        built[provider] = _text(provider, header, rows, only_listed, sources, priced)
        check(provider, built[provider], rows, prices.files[provider].name if priced else "")
        check_settings(provider, built[provider], rows, _setting_names(registry, provider))
        differences += _differences(provider, rows, more)
        if priced is not None:
            differences += prices.differences(provider, priced.by_model)
        yield OUTPUT / f"{provider}.jsonl", built[provider]
    if hand:
        provider, rows = min(hand.items())
        place = next(iter(rows.places.values()))
        raise CatalogueError(f"{place}: there is no provider {provider!r}: providers/{provider}.json does not exist.")
    yield HERE / "differences.md", report(differences, dated, all_taken)
    yield PAGE, with_table(PAGE.read_text(encoding="utf-8"), built)
    examples = json_of(HERE / "examples.json")
    yield EXAMPLES_PAGE, with_examples(EXAMPLES_PAGE.read_text(encoding="utf-8"), built, examples)


def _rows_of(rows: ProviderRows, shared: Row) -> ProviderRows:
    """Returns the rows of another provider that has the same models, without the facts that are of that provider."""

    def kept(table: dict[str, Row]) -> dict[str, Row]:
        without = shared["without"]
        return {name: {field: row[field] for field in row if field not in without} for name, row in table.items()}

    return ProviderRows(kept(rows.models), kept(rows.families), kept(rows.templates), dict(rows.places))


def _setting_names(registry: Registry, provider: str) -> frozenset[str]:
    """Returns the settings that the wire format of a provider knows; those that are no vendor's have none."""
    found = registry.provider(provider)
    return found.setting_names() if isinstance(found, VendorProvider) else frozenset()


def _text(
    provider: str,
    header: Row,
    rows: ProviderRows,
    listed: dict[str, Row],
    sources: dict[str, str],
    priced: ProviderPrices | None,
) -> str:
    kinds: dict[str, list[str]] = header.pop("kinds", {})
    of_listed: Row = header.pop("listed", {})
    files: Row = header.pop("files", {})
    templates = _with_types(rows.templates, kinds)
    if listed:
        templates[_LISTED] = {**with_types(header.get("unknown", {}), kinds), **of_listed, "known": True}
    models, families = _with_types({**listed, **rows.models}, kinds), _with_types(rows.families, kinds)
    every = [*models.values(), *families.values()]
    used = {name: templates[name] for name in sorted(_used_templates(every, templates))}
    named = {row["source"] for row in [*every, *used.values()] if "source" in row}
    defaults = {
        name: {**files, **with_types(header.get(name, {}), kinds)}
        for name in ("unknown", "every")
        if files or name in header
    }
    addresses = {name: sources[name] for name in sorted(named)}
    shared = priced.shared if priced is not None else {}
    by_model = priced.by_model if priced is not None else {}
    lines = header_lines(provider, {**header, **defaults, "sources": addresses, "templates": used, "prices": shared})
    lines += [
        {"model": name, **models[name], **({"prices": by_model[name]} if name in by_model else {})}
        for name in sorted(models)
    ]
    lines += [{"family": name, **families[name]} for name in sorted(families)]
    return "".join(f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n" for line in lines)


def _with_types(table: dict[str, Row], kinds: dict[str, list[str]]) -> dict[str, Row]:
    return {name: with_types(row, kinds) for name, row in table.items()}


def _check_references(provider: str, rows: ProviderRows, sources: Mapping[str, str]) -> None:
    """Raises `CatalogueError` for a hand-kept row with a template or a source that does not exist."""
    for (kind, name), place in rows.places.items():
        row = rows.table(kind)[name]
        for template in like_of(row.get("like", ())):
            if template not in (*rows.templates, _LISTED):
                raise CatalogueError(f"{place}: {kind} {name!r}: {provider} has no template {template!r}.")
        if row.get("source", "model_facts") not in sources:
            raise CatalogueError(f"{place}: {kind} {name!r}: sources.json does not name {row['source']!r}.")


def _used_templates(rows: Iterable[Row], templates: Mapping[str, Row]) -> set[str]:
    """Returns the names of the templates that rows use, and that these use."""
    used: set[str] = set()
    waiting = [name for row in rows for name in like_of(row.get("like", ()))]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += like_of(templates[name].get("like", ()))
    return used


def _only_listed(rows: ProviderRows, listed: dict[str, Row], header: Row) -> dict[str, Row]:
    """Returns the rows of models that no hand-kept row describes, under none of their names, without those that ended
    long ago, and without files that cannot be sent. None limits the output: the source alone is no reason to reduce it.
    """
    names = NameRules(**header.get("names", {}))
    encodable = set(header.get("unknown", {}).get("encodable", ()))
    found: dict[str, Row] = {}
    for model, fact in listed.items():
        base = _DATED.sub("", model)
        known = any(name in rows.models for name in (model, base, *names.variants(model)))
        if known or fact.get("retires", AS_OF) < _LONG_RETIRED:
            continue
        if base != model and listed.get(base) == fact:
            continue
        same = same_model(model, rows, listed)
        if same is not None:
            found[model] = {"alias_of": same, "source": "model_facts", "checked": AS_OF}
            continue
        accepts = [kind for kind in fact.get("accepts", ()) if not encodable or kind in encodable]
        own = {name: fact[name] for name in fact if name not in ("accepts", "max_output_tokens")}
        own |= {"accepts": accepts} if accepts else {}
        found[model] = {"like": [_LISTED], **own, "source": "model_facts", "checked": AS_OF}
    return found


def _differences(provider: str, rows: ProviderRows, listed: dict[str, Row]) -> Iterator[Difference]:
    for model, row in sorted(rows.models.items()):
        fact, ours = listed.get(model), resolved(row, rows.templates)
        if fact is None or "alias_of" in row:
            continue
        for name in ("context_tokens", "max_output_tokens", "retires"):
            if name in fact and name in ours and fact[name] != ours[name]:
                yield Difference(provider, model, name, ours[name], fact[name], ours.get("source", ""))
        for kind in fact.get("accepts", ()):
            if "accepts" in ours and not any(item == kind or item.startswith(f"{kind}/") for item in ours["accepts"]):
                yield Difference(provider, model, "accepts", sorted(ours["accepts"]), kind, ours.get("source", ""))


if __name__ == "__main__":
    sys.exit(main())
