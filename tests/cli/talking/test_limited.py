"""The length of answers in a spoken conversation."""

from __future__ import annotations

import pytest

from abstractcore_cli.plugins import ConnectionArguments
from abstractcore_cli.talking.conversation import limited


@pytest.mark.parametrize(
    ("provider", "given", "limit"),
    [(None, None, 60), (None, 200, 200), ("openai/gpt-5.4-mini", None, None), ("openai/gpt-5.4-mini", 200, 200)],
)
def test_embedded_model_answers_briefly_unless_a_limit_is_given(
    provider: str | None, given: int | None, limit: int | None
):
    connection = ConnectionArguments(provider, max_tokens=given, quiet=True)
    assert limited(connection).max_tokens == limit
