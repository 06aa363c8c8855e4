"""The tables of docs/catalogue.md and docs/providers.md: what the catalogue holds, and models to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from rows import CatalogueError, Row

from abstractcore.catalogue.documents import Document
from abstractcore.catalogue.provider_file import CatalogueProvider
from examples import example_line

BEGIN, END = "<!-- built by catalogue/build.py -->\n", "<!-- end -->\n"
_SOON = timedelta(days=120)
_HEAD = """| provider | models | that see | that think | with prices | retire within 120 days |
|---|---|---|---|---|---|
"""
_HEAD_OF_EXAMPLES = """| models of a provider | files | thinking | $ per million tokens, in / out |
|---|---|---|---|
"""


def with_table(page: str, files: Mapping[str, str]) -> str:
    """Returns docs/catalogue.md with the table of these files, by provider, between its two marks."""
    return _replaced(page, "docs/catalogue.md", _HEAD, [_line(name, text) for name, text in sorted(files.items())])


def with_examples(page: str, files: Mapping[str, str], examples: Mapping[str, list[str]]) -> str:
    """Returns docs/providers.md with the table of the example models of each provider, in the order of `examples`."""
    lines = [example_line(_file(name, files[name]), models) for name, models in examples.items()]
    return _replaced(page, "docs/providers.md", _HEAD_OF_EXAMPLES, lines)


def _replaced(page: str, name: str, head: str, lines: list[str]) -> str:
    if BEGIN not in page or END not in page:
        raise CatalogueError(f"{name} has no table: it stands between {BEGIN.strip()} and {END.strip()}.")
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{head}{''.join(lines)}{END}{rest.split(END)[1]}"


def _file(provider: str, text: str) -> CatalogueProvider:
    return CatalogueProvider(Document(f"{provider}.jsonl", text), provider)


def _line(provider: str, text: str) -> str:
    file = _file(provider, text)
    models = [row for row in file.models.values() if row.alias_of is None]
    if not models:
        return ""
    assert file.header.as_of is not None
    day = file.header.as_of
    living = [(row, facts) for row in models if _retires(facts := file.facts(row)) > day]
    sees = sum(any(kind.startswith("image") for kind in facts.get("accepts", ())) for _, facts in living)
    thinks = sum(_thinks(facts) for _, facts in living)
    priced = sum(bool(row.prices) for row, _ in living)
    soon = sum(_retires(facts) <= day + _SOON for _, facts in living)
    return f"| `{provider}` | {len(living)} | {sees} | {thinks} | {priced} | {soon} |\n"


def _retires(row: Row) -> date:
    return date.fromisoformat(row.get("retires") or "9999-12-31")


def _thinks(row: Row) -> bool:
    thinking: Row = row.get("thinking") or {}
    return bool(thinking.get("levels") or thinking.get("budget") or thinking.get("on_by_default"))
