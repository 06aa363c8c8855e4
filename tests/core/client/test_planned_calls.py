"""Plans of calls as data."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from abstractcore import InvalidInputError, ModelCall, create_llm


def test_plan_of_a_call_is_that_of_its_arguments(tmp_path: Path):
    notes = tmp_path / "notes.txt"
    notes.write_text("Bring two copies.")
    llm = create_llm("openai/gpt-5.4-mini", api_key="none")
    call = llm.build("What is to be brought?", media=[notes], temperature=0.2, thinking="low")
    plan = llm.plan("What is to be brought?", media=[notes], temperature=0.2, thinking="low")
    assert [decision.route for decision in plan] == ["inline"]
    assert [warning.path for warning in plan.warnings] == ["sampling.temperature"]
    assert llm.plan_call(call) == asyncio.run(llm.aplan_call(call)) == plan


@pytest.mark.parametrize("call", [None, {}, "hi", ModelCall])
def test_value_that_is_not_a_call_has_no_plan(call: object):
    llm = create_llm("scripted", replies=[])
    with pytest.raises(InvalidInputError, match=r"^call: expected a ModelCall, got "):
        llm.plan_call(call)  # type: ignore[arg-type]
