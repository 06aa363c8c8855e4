"""Tool loops of the embedded models: real calls, whose results are sent back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from abstractcore import LLM, Services, ToolEnded, ToolPolicy, create_llm, tool
from abstractcore.stores.models import FileModelStore

pytestmark = [pytest.mark.process, pytest.mark.weights]

pytest.importorskip("xllamacpp")
SUNNY = "sunny, 21 degrees"


@tool(read_only=True)
def weather(city: str) -> str:
    """The weather of a city."""
    return SUNNY


@pytest.fixture(scope="module")
def llm(models: FileModelStore) -> Iterator[LLM]:
    services = Services(models=models, environment={})
    yield create_llm("local", context_size=1024, threads=1, temperature=0, services=services)
    provider: Any = services.registry.provider("local")
    provider.close()
    services.close()


@pytest.mark.parametrize("streamed", [False, True])
def test_default_model_calls_a_tool_and_is_given_its_result(call_style: Any, llm: LLM, streamed: bool):
    """It has too few parameters to answer well: it may call the tool again."""
    options: dict[str, Any] = {"tools": [weather], "tool_choice": "required", "max_output_tokens": 60}
    options["run_tools"] = ToolPolicy(max_rounds=2)
    if streamed:
        with call_style.stream(llm, "What is the weather in Oslo?", **options) as stream:
            ended = sum(isinstance(event, ToolEnded) for event in stream)
        response = stream.response
        assert ended == len([step for step in response.tool_steps if step.outcome == "done"])
    else:
        response = call_style.generate(llm, "What is the weather in Oslo?", **options)
    first = response.tool_steps[0]
    assert (first.call.name, first.call.arguments, first.result.as_text) == ("weather", {"city": "Oslo"}, SUNNY)
    assert len(response.steps) == 2
    assert response.loop is not None
    assert response.loop.status in ("answered", "max_rounds")
    assert [message.role for message in response.messages[:3]] == ["assistant", "tool", "assistant"]
