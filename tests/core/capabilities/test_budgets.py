"""Budgets of backends: what their calls cost is counted, whole and streamed."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import BackendError, Billing, Budget, BudgetExceededError, ConfigurationError, Usage
from abstractcore.ports import Made
from abstractcore.testing import CallStyle
from tests.backend_doubles import WAV, Beeper, WithBackend, call, spoken

QUARTER = Usage(billing=Billing(cost=Decimal("0.25")))


class Singer:
    """A vendor that reports what it charges."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def tts(self, text: str) -> Made:
        if text == "fail":
            raise ZeroDivisionError
        return Made.of(WAV, "audio/wav", usage=QUARTER)

    def tts_stream(self, text: str) -> Iterator[Made]:
        yield Made.of(b"12", "audio/pcm;rate=8000;channels=1")
        yield Made((), usage=QUARTER)


def test_speech_counts_what_it_costs_and_reserves_what_it_has_cost(call_style: CallStyle, with_backend: WithBackend):
    budget = Budget(1, unpriced=Decimal("0.9"))
    llm = with_backend(voice=Singer, budgets=[budget])
    call(call_style, llm.voice, "tts", "Hello")
    assert budget.state().spent == Decimal("0.25")
    for _ in range(3):
        call(call_style, llm.voice, "tts", "Hello")
    with pytest.raises(BudgetExceededError) as caught:
        call(call_style, llm.voice, "tts", "Hello")
    assert (caught.value.spent, caught.value.needed) == (1, Decimal("0.25"))


def test_streamed_speech_counts_at_its_end(call_style: CallStyle, with_backend: WithBackend):
    budget = Budget(1, unpriced=Decimal("0.9"))
    spoken(call_style, with_backend(voice=Singer, budgets=[budget]).voice, "one two")
    assert (budget.state().spent, budget.state().reserved) == (Decimal("0.25"), 0)


def test_backend_that_fails_counts_what_was_reserved(call_style: CallStyle, with_backend: WithBackend):
    budget = Budget(1, unpriced=Decimal("0.9"))
    llm = with_backend(voice=Singer, budgets=[budget])
    with pytest.raises(BackendError):
        call(call_style, llm.voice, "tts", "fail")
    assert budget.state().spent == Decimal("0.9")


def test_backend_whose_price_is_unknown_is_refused(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Singer, budgets=[Budget(1)])
    with pytest.raises(ConfigurationError, match="no price is known for the backend tests:voice"):
        call(call_style, llm.voice, "tts", "Hello")


def test_backend_on_this_machine_is_free(call_style: CallStyle, with_backend: WithBackend):
    budget = Budget(Decimal("0.000001"))
    call(call_style, with_backend(voice=Beeper, budgets=[budget]).voice, "tts", "Hello")
    assert budget.state().spent == 0


def test_no_other_model_speaks_instead(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Singer, budgets=[Budget(1, unpriced=2, on_exceeded="scripted/small")])
    with pytest.raises(BudgetExceededError):
        call(call_style, llm.voice, "tts", "Hello")
