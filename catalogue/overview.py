"""The table of docs/catalogue.md: what the catalogue holds, by provider."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from rows import CatalogueError, Row

from abstractcore.catalogue.documents import Document
from abstractcore.catalogue.provider_file import ProviderFile

BEGIN, END = "<!-- built by catalogue/build.py -->\n", "<!-- end -->\n"
_SOON = timedelta(days=120)
_HEAD = """| provider | models | that see | that think | with prices | retire within 120 days |
|---|---|---|---|---|---|
"""


def with_table(page: str, files: Mapping[str, str]) -> str:
    """Returns the page with the table of these files, by provider, between its two marks."""
    if BEGIN not in page or END not in page:
        raise CatalogueError(f"docs/catalogue.md has no table: it stands between {BEGIN.strip()} and {END.strip()}.")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    lines = [line for provider, text in sorted(files.items()) if (line := _line(provider, text))]
    return f"{before}{BEGIN}{_HEAD}{''.join(lines)}{END}{after}"


def _line(provider: str, text: str) -> str:
    file = ProviderFile(Document(f"{provider}.jsonl", text), provider)
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
