"""Writes the tables of embedding and rerank models in docs/embedding-models.md. `python -m` runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.providers.catalogue_rows import PROVIDERS, rows

PAGE = Path(__file__).parents[1] / "docs" / "embedding-models.md"
_TABLE = re.compile(r"(<!-- models with (embedding|reranking), by `make docs` -->\n).*?(?=<!-- end -->)", re.DOTALL)
_METERS = {"input": "a million tokens", "input_image": "a million of images", "search_unit": "a thousand searches"}
_KINDS = {"audio": "audio", "image": "images", "video": "videos"}
Row = Mapping[str, Any]


def page() -> str:
    """The page with its tables as they are to be."""
    return _TABLE.sub(lambda found: found[1] + _table(found[2]), PAGE.read_text(encoding="utf-8"))


def _table(fact: str) -> str:
    cells = _embedding_cells if fact == "embedding" else _reranking_cells
    head = (
        ("model", "dimensions", "limits", "purposes", "price") if fact == "embedding" else ("model", "limits", "price")
    )
    written = [f"| {' | '.join((name, *cells(row[fact], row)))} |" for name, row in _models(fact)]
    return "\n".join(["", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *written, "", ""])


def _models(fact: str) -> Iterator[tuple[str, Row]]:
    for provider in PROVIDERS:
        if provider != "openai-responses":  # the models of openai
            yield from ((f"`{provider}/{model}`", row) for model, row in rows(provider).items() if fact in row)


def _embedding_cells(rules: Row, row: Row) -> tuple[str, ...]:
    names = {"items": "texts", "item_tokens": "tokens a text", "request_tokens": "tokens"}
    files = (
        [f"+ {', '.join(sorted({each.partition('/')[0] for each in row['accepts']}))}"] if row.get("accepts") else []
    )
    return (
        _dimensions(rules),
        ", ".join([*_limits(rules, names), *files]),
        _purposes(rules),
        _price(row),
    )


def _reranking_cells(rules: Row, row: Row) -> tuple[str, ...]:
    names = {"documents": "documents", "document_tokens": "tokens a document", "query_tokens": "tokens of the query"}
    return ", ".join(_limits(rules, names)), _price(row)


def _limits(rules: Row, names: Mapping[str, str]) -> list[str]:
    found = ((rules[name], what) for name, what in names.items() if name in rules)
    return [f"1 {what.removesuffix('s')}" if count == 1 else f"{count:,} {what}" for count, what in found]


def _dimensions(rules: Row) -> str:
    own = f"{rules['dimensions']:,}" if "dimensions" in rules else ""
    others = [f"{each:,}" for each in rules.get("dimension_choices", ()) if each != rules.get("dimensions")]
    if "dimension_range" in rules:
        others = ["{:,} to {:,}".format(*rules["dimension_range"])]
    return f"{own} ({', '.join(others)})" if others else own


def _purposes(rules: Row) -> str:
    purposes = sorted({*rules.get("purposes", ()), *rules.get("prefixes", ())})
    needed = ", one is needed" if rules.get("requires_purpose") else ""
    return ("all" if len(purposes) == 8 else ", ".join(purposes)) + needed


def _price(row: Row) -> str:
    rates = row["prices"][-1]["rates"] if row.get("prices") else {}
    return ", ".join(f"${rates[meter]} {what}" for meter, what in _METERS.items() if rates.get(meter))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
