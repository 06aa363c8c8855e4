"""Decisions and scores of the embedded model, with probabilities."""

import pytest

from abstractcore.testing import AsyncCalls

pytestmark = [pytest.mark.process, pytest.mark.weights]


def test_embedded_model_decides_with_a_probability(call_style, small_llm):
    if isinstance(call_style, AsyncCalls):
        decision = call_style.run(small_llm.adecide("Is snow white?", ["yes", "no"], max_output_tokens=40))
    else:
        decision = small_llm.decide("Is snow white?", ["yes", "no"], max_output_tokens=40)
    assert decision.choice in ("yes", "no")
    assert 0 < decision.probability <= 1
    assert sum(decision.probabilities.values()) == pytest.approx(1)


def test_embedded_model_scores(small_llm):
    score = small_llm.score("How warm is fire?", 1, 3, max_output_tokens=40)
    assert 1 <= score.mean <= 3
