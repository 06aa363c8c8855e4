"""The table of docs/catalogue.md: what the catalogue holds, by provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta

from rows import CatalogueError, Row, merged, resolved

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
    lines: list[Row] = [json.loads(line) for line in text.splitlines()]
    header, others = lines[0], lines[1:]
    every: Row = header.get("every", {})
    rows = [
        merged(every, resolved(row, header["templates"])) for row in others if "model" in row and "alias_of" not in row
    ]
    if not rows:
        return ""
    day = date.fromisoformat(header["as_of"])
    living = [row for row in rows if _retires(row) > day]
    sees = sum(any(kind.startswith("image") for kind in row.get("accepts", ())) for row in living)
    thinks = sum(_thinks(row) for row in living)
    priced = sum("prices" in row for row in living)
    soon = sum(_retires(row) <= day + _SOON for row in living)
    return f"| `{provider}` | {len(living)} | {sees} | {thinks} | {priced} | {soon} |\n"


def _retires(row: Row) -> date:
    return date.fromisoformat(row.get("retires") or "9999-12-31")


def _thinks(row: Row) -> bool:
    thinking: Row = row.get("thinking") or {}
    return bool(thinking.get("levels") or thinking.get("budget") or thinking.get("on_by_default"))
