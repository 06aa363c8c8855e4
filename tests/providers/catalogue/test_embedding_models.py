"""What the catalogue says of models that embed and rank, and its tables in docs/embedding-models.md."""

from typing import Any

import pytest

from tests.embedding_table import PAGE, page
from tests.providers.catalogue_rows import PROVIDERS, rows

EMBEDDERS: list[tuple[str, str, Any]] = [
    (provider, model, row) for provider in PROVIDERS for model, row in rows(provider).items() if "embedding" in row
]


def test_tables_in_docs_are_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"


@pytest.mark.parametrize(("provider", "model", "row"), EMBEDDERS, ids=[f"{p}-{m}" for p, m, _ in EMBEDDERS])
def test_a_model_that_embeds_has_its_dimensions_among_those_of_requests(provider: str, model: str, row: Any):
    rules = row["embedding"]
    choices, (lowest, highest) = rules.get("dimension_choices", []), rules.get("dimension_range", (1, 10**6))
    assert not choices or rules["dimensions"] in choices
    assert lowest <= rules["dimensions"] <= highest
    assert row["produces"] == []
    assert row["source"]
    assert row["checked"]


def test_no_model_embeds_and_chats():
    for _, model, row in EMBEDDERS:
        assert row.get("tools", "never") == "never", model
        assert "thinking" not in row, model
