"""A model that its provider has retired: calls and plans have a warning from that day on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.testing import VirtualClock

NOON = 43_200.0
RETIRED = 20_778 * 86_400.0
"""The beginning of 2026-11-21, UTC."""


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(time_of_day=RETIRED - NOON)


@pytest.fixture
def llm(clock: VirtualClock) -> Iterator[LLM]:
    services = Services(environment={}, clock=clock)
    facts = {"retires": "2026-11-21", "replaced_by": "newer"}
    yield create_llm("scripted", replies=["a"] * 4, facts=facts, services=services, strict=True)
    services.close()


def test_warning_begins_on_the_day_and_is_no_loss_for_a_strict_call(call_style, llm: LLM, clock: VirtualClock):
    assert (call_style.generate(llm, "hi").warnings, llm.plan("hi").warnings) == ((), ())
    clock.sleep(NOON)
    response = call_style.generate(llm, "hi")
    assert response.content == "a"
    assert llm.plan("hi").warnings == response.warnings
    (warning,) = response.warnings
    assert (warning.code, warning.path) == ("retired_model", "model")
    assert warning.message.endswith("is retired as of 2026-11-21: use 'newer' instead")
