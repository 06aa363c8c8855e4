"""Tools of the embedded models: in the prompt, with calls that a grammar constrains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from abstractcore import LLM, Message, Services, ToolChoice, ToolSpec, create_llm
from abstractcore.stores.models import FileModelStore

pytestmark = [pytest.mark.process, pytest.mark.weights]

pytest.importorskip("xllamacpp")
WEATHER = ToolSpec(
    "weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"enum": ["x", 'y"\\', 1, None]}, "b": {"type": ["integer", "null"]}}},
    {"type": "object", "properties": {"é": {"type": "number"}}, "required": ["é"]},
    {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/B"}}}, "$defs": {"B": {}}},
    {"type": "object", "properties": {"a": {"anyOf": [{"type": "object"}, {"type": "object", "properties": {}}]}}},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {},
]


@pytest.fixture(scope="module")
def llm(models: FileModelStore) -> Iterator[LLM]:
    services = Services(models=models, environment={})
    yield create_llm("local", context_size=1024, threads=1, temperature=0, services=services)
    provider: Any = services.registry.provider("local")
    provider.close()
    services.close()


@pytest.mark.parametrize("streamed", [False, True])
def test_required_call_is_a_call(call_style: Any, llm: LLM, streamed: bool):
    options: dict[str, Any] = {"tools": [WEATHER], "tool_choice": "required", "max_output_tokens": 60}
    if streamed:
        with call_style.stream(llm, "What is the weather in Oslo?", **options) as stream:
            for _ in stream:
                pass
        response = stream.response
    else:
        response = call_style.generate(llm, "What is the weather in Oslo?", **options)
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("weather", {"city": "Oslo"})]
    assert (response.content, response.finish_reason) == ("", "tool_calls")
    assert [warning.code for warning in response.warnings] == ["tools_as_prompt"]


def test_answer_that_needs_no_tool_is_text(llm: LLM):
    response = llm.generate("Say hello in French.", tools=[WEATHER], max_output_tokens=30)
    assert response.tool_calls == ()
    assert "Bonjour" in response.content


@pytest.mark.parametrize("index", range(len(SCHEMAS)))
def test_grammar_of_every_schema_is_accepted(llm: LLM, index: int):
    tools = [ToolSpec("f", "", SCHEMAS[index]), WEATHER]
    choice = ToolChoice("tool", "f")
    response = llm.generate("Call f.", tools=tools, tool_choice=choice, parallel_tool_calls=True, max_output_tokens=12)
    assert (response.usage.output or 0) > 0


def test_stronger_model_calls_tools_where_it_needs_them_also_without_a_grammar(stronger_llm: Any):
    """The user's own option wins: no grammar. Questions with the grammar are in test_tool_questions."""
    options: dict[str, Any] = {
        "tools": [WEATHER],
        "max_output_tokens": 40,
        "provider_options": {"local": {"grammar": ""}},
    }
    response = stronger_llm.generate("What is the weather in Oslo?", **options)
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("weather", {"city": "Oslo"})]
    history = [response, response.tool_calls[0].result("sunny, 21 degrees")]
    answer = stronger_llm.generate(messages=[Message.user("What is the weather in Oslo?"), *history], **options)
    assert "sunny" in answer.content
    assert answer.tool_calls == ()
    assert stronger_llm.generate("Say hello.", **options).tool_calls == ()
