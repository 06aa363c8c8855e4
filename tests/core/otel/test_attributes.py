"""Names and values of attributes: in OpenTelemetry's conventions, and in those of OpenInference."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import Limits, Price, ReasoningPart, Services, TextPart, Usage, context, create_llm, tool
from abstractcore.otel import CONVENTIONS, attributes, metrics, names, openinference
from abstractcore.otel.messages import content_of_call, content_of_reply, text_of_result
from abstractcore.otel.names import Metric
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallRecord,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    ToolCall,
    ToolResult,
)
from abstractcore.testing import ScriptedReply
from tests.core.otel.conftest import Program
from tests.core.tools.loops import calls

USAGE = Usage(input=100, output=40, cached=60, cache_written=20, reasoning=10, input_audio=5, output_audio=2)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@tool(price="0.25")
def add(left: int, right: int) -> int:
    """Adds two numbers."""
    return left + right


def attributes_of(program: Program, name: str) -> dict[str, Any]:
    return dict(program.span(name).attributes or {})


def test_call_has_the_names_of_the_conventions(program: Program, services: Services):
    reply = ScriptedReply.text("hello", usage=USAGE)
    llm = create_llm("scripted", model="m", replies=[reply], services=services, price=Price(input=1, output=2))
    program.instrument()
    asked = {"temperature": 0.5, "max_output_tokens": 9, "stop": ["."], "prompt_name": "refund@3"}
    with context(session="s-1", tags={"team": "office"}), llm.stream("hi", **asked) as stream:
        list(stream)
    found = attributes_of(program, "chat m")
    (record,) = program.calls()
    assert record.cost is not None
    assert found.pop("gen_ai.response.time_to_first_chunk") == record.seconds_to_first
    assert found == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "m",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.stop_sequences": (".",),
        "gen_ai.response.model": "m",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.cache_write.input_tokens": 20,
        "gen_ai.usage.reasoning.output_tokens": 10,
        "gen_ai.usage.audio.input_tokens": 5,
        "gen_ai.usage.audio.output_tokens": 2,
        "gen_ai.conversation.id": "s-1",
        "gen_ai.prompt.name": "refund",
        "gen_ai.prompt.version": "3",
        "abstractcore.trace_id": record.trace_id,
        "abstractcore.outcome": "done",
        "abstractcore.attempts": 1,
        "abstractcore.cost.usd": float(record.cost),
        "abstractcore.cost.source": "computed",
        "abstractcore.tag.team": "office",
        "abstractcore.tag.session": "s-1",
        "abstractcore.tag.prompt": "refund@3",
    }


def test_wait_for_limits_is_an_attribute(program: Program, services: Services):
    llm = create_llm("scripted", model="m", replies=["a", "b"], services=services, limits=Limits(1))
    program.instrument()
    for _ in range(2):
        llm.generate("hi")
    found = [dict(span.attributes or {}).get("abstractcore.seconds_waited") for span in program.finished()]
    assert found == [None, 60.0]


def test_interaction_and_tool_run_have_the_names_of_the_conventions(program: Program, services: Services):
    replies = [calls(("add", {"left": 1, "right": 2})), "3"]
    llm = create_llm("scripted", model="m", replies=replies, services=services)
    program.instrument()
    llm.generate("hi", tools=[add], run_tools=True)
    (run,) = program.tool_runs()
    assert attributes_of(program, "execute_tool add") == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "add",
        "gen_ai.tool.call.id": run.call_id,
        "gen_ai.tool.type": "function",
        "abstractcore.trace_id": run.trace_id,
        "abstractcore.parent_id": run.parent_id,
        "abstractcore.outcome": "done",
        "abstractcore.tool.source": "function",
        "abstractcore.cost.usd": 0.25,
    }
    assert attributes_of(program, "invoke_agent") == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "m",
        "abstractcore.trace_id": run.parent_id,
        "abstractcore.outcome": "done",
        "abstractcore.interaction.kind": "tools",
        "abstractcore.loop.status": "answered",
        "abstractcore.calls": 2,
        "abstractcore.tool_runs": 1,
    }


def test_openinference_has_its_own_names(program: Program, services: Services):
    replies = [calls(("add", {"left": 1, "right": 2})), ScriptedReply.text("3", usage=USAGE)]
    llm = create_llm("scripted", model="m", replies=replies, services=services, price=Price(input=1, output=2))
    program.instrument(names="openinference", capture="full")
    with context(session="s-1", tags={"user": "ann"}):
        llm.generate("hi", tools=[add], run_tools=True, temperature=0.5, prompt_name="sum@2")
    spans = [dict(span.attributes or {}) for span in program.finished()]
    of_kind = {span["openinference.span.kind"]: span for span in spans}
    assert sorted(of_kind) == ["AGENT", "LLM", "TOOL"]
    assert not any(name.startswith("gen_ai.") for span in spans for name in span)
    cost = program.calls()[1].cost
    assert cost is not None
    expected = {
        "llm.model_name": "m",
        "llm.provider": "scripted",
        "llm.finish_reason": "stop",
        "llm.invocation_parameters": '{"temperature":0.5}',
        "llm.token_count.prompt": 100,
        "llm.token_count.completion": 40,
        "llm.token_count.total": 140,
        "llm.token_count.prompt_details.cache_read": 60,
        "llm.token_count.prompt_details.cache_write": 20,
        "llm.token_count.completion_details.reasoning": 10,
        "llm.cost.total": float(cost),
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "hi",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "add",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": '{"left": 1, "right": 2}',
        "llm.input_messages.2.message.tool_call_id": "call_0_0",
        "llm.input_messages.2.message.content": "3",
        "llm.output_messages.0.message.content": "3",
        "output.value": "3",
        "session.id": "s-1",
        "user.id": "ann",
        "prompt.id": "sum@2",
        "llm.prompt_template.version": "2",
    }
    assert {name: of_kind["LLM"].get(name) for name in expected} == expected
    assert (of_kind["TOOL"]["tool.name"], of_kind["TOOL"]["output.value"]) == ("add", "3")
    assert json.loads(of_kind["TOOL"]["input.value"]) == {"left": 1, "right": 2}


def record(**fields: Any) -> CallRecord:
    given: dict[str, Any] = {
        "trace_id": "t",
        "parent_id": None,
        "provider": "openai",
        "model": "m",
        "outcome": "done",
        "streamed": False,
        "started_at": 1.0,
        "seconds": 1.0,
        "seconds_to_first": None,
        "call_digest": "",
        "reply_digest": None,
        "call": None,
        "reply": None,
        "attempts": (),
        "usage": Usage(),
        "cost": None,
        "media": (),
        "warnings": (),
        "error": None,
    }
    return CallRecord(**{**given, **fields})


@pytest.mark.parametrize(
    ("provider", "expected", "openinference_name"),
    [
        ("openai-responses", "openai", "openai"),
        ("vertex-anthropic", "gcp.vertex_ai", "google"),
        ("bedrock", "aws.bedrock", "aws"),
        ("mistral", "mistral_ai", "mistralai"),
        ("ollama", "ollama", "ollama"),
    ],
)
def test_provider_has_the_name_of_the_conventions(provider: str, expected: str, openinference_name: str):
    made = record(provider=provider)
    assert attributes.of_record(made, with_content=False)["gen_ai.provider.name"] == expected
    assert openinference.of_record(made, with_content=False)["llm.provider"] == openinference_name


@pytest.mark.parametrize(
    ("operation", "name", "kind"),
    [("embed", "embeddings m", "EMBEDDING"), ("chat", "chat m", "LLM"), ("transcribe", "transcribe m", "CHAIN")],
)
def test_operation_has_the_name_of_the_conventions(operation: str, name: str, kind: str):
    made = record(operation=operation, usage=Usage(input=3))
    assert attributes.span_name(made) == name
    assert openinference.of_record(made, with_content=False)["openinference.span.kind"] == kind


def test_unknown_cost_is_not_zero():
    own = attributes.own_attributes(record(cost_reason="no price"))
    assert (own.get("abstractcore.cost.usd"), own["abstractcore.cost.reason"]) == (None, "no price")
    own = attributes.own_attributes(record(estimated_cost=Decimal("0.5")))
    assert (own.get("abstractcore.cost.usd"), own["abstractcore.cost.estimated_usd"]) == (None, 0.5)


def test_messages_follow_the_schema_of_the_conventions():
    picture = ImagePart(Blob.from_bytes(PNG, "image/png"))
    call = ModelCall(
        model="m",
        messages=(
            Message("system", (TextPart("Be brief."),)),
            Message(
                "user", (TextPart("What is this?"), picture, AudioPart(Blob.from_url("https://x.org/a", "audio/wav")))
            ),
            Message("assistant", (ReasoningPart("Hm."), ToolCall("c", "look", '{"x": 1}'), ToolCall("d", "look", "["))),
            Message("tool", (ToolResult.text("c", "a cat"), ToolResult.of("d", "no", picture))),
        ),
    )
    found = {name: json.loads(value) for name, value in content_of_call(call).items()}
    assert found["gen_ai.system_instructions"] == [{"type": "text", "content": "Be brief."}]
    user, assistant, results = found["gen_ai.input.messages"]
    sha256 = picture.blob.sha256
    assert user["parts"] == [
        {"type": "text", "content": "What is this?"},
        {"type": "file_reference", "modality": "image", "mime_type": "image/png", "sha256": sha256, "size": len(PNG)},
        {"type": "file_reference", "modality": "audio", "mime_type": "audio/wav"},
    ]
    assert assistant["parts"] == [
        {"type": "reasoning", "content": "Hm."},
        {"type": "tool_call", "id": "c", "name": "look", "arguments": {"x": 1}},
        {"type": "tool_call", "id": "d", "name": "look", "arguments": "["},
    ]
    assert results["parts"][0] == {"type": "tool_call_response", "id": "c", "response": "a cat"}
    assert "image/png" in results["parts"][1]["response"]
    reply = ModelReply(
        (
            HostedToolCall("h", "web_search", '{"q": "cats"}'),
            HostedToolResult("h", (TextPart("found"),)),
            OpaquePart("openai", "compaction"),
        ),
        "tool_calls",
    )
    (answer,) = json.loads(content_of_reply(reply)["gen_ai.output.messages"])
    assert (answer["role"], answer["finish_reason"]) == ("assistant", "tool_call")
    assert [part["type"] for part in answer["parts"]] == ["server_tool_call", "server_tool_call_response", "opaque"]


def test_result_of_texts_is_text():
    assert text_of_result(ToolResult.of("c", "one", "two")) == ToolResult.of("c", "one", "two").as_text


def test_names_are_those_of_one_table():
    """No other module has a name of the conventions; each metric has a unit and, if it has values, boundaries."""
    url, commit, day = CONVENTIONS
    assert (url.split("/")[-1], len(commit), len(day)) == ("semantic-conventions-genai", 40, 10)
    found = [each for each in vars(names).values() if isinstance(each, Metric)] + list(names.USED.values())
    assert len({metric.name for metric in found}) == len(found) == 16
    for metric in found:
        assert (metric.boundaries is not None) == (metric.kind == "histogram")
        assert metric.name.startswith(("gen_ai.client.", "abstractcore."))
    assert found[0].boundaries is not None
    assert [round(each, 2) for each in found[0].boundaries] == [
        0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ]  # fmt: skip
    for module in (attributes, metrics):
        assert module.__file__ is not None
        with open(module.__file__, encoding="utf-8") as file:
            assert '"gen_ai.' not in file.read()
