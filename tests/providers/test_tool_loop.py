"""The tool loop in each wire format, whole and streamed: calls, their ids, results in order, and the next request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from abstractcore import LLM, GenerateResponse, ToolCall, ToolEnded, ToolOutput, create_llm, tool
from abstractcore.schema import ModelCall, ModelReply, ReasoningPart, TextPart, ToolResult, Usage
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.serving import FormatServer

EVENTS = "text/event-stream"
ROUTES: dict[str, tuple[str, str, str]] = {
    "anthropic_messages": ("anthropic", "claude-sonnet-5", EVENTS),
    "bedrock_converse": ("bedrock", "anthropic.claude-sonnet-4-5", "application/vnd.amazon.eventstream"),
    "cohere_chat": ("cohere", "command-a-03-2025", EVENTS),
    "gemini": ("google", "gemini-flash-latest", EVENTS),
    "gemini_interactions": ("google-interactions", "gemini-flash-latest", EVENTS),
    "ollama": ("ollama", "qwen3", "application/x-ndjson"),
    "openai_chat": ("openai", "gpt-4.1", EVENTS),
    "openai_responses": ("openai-responses", "gpt-5", EVENTS),
}
"""For each format: a provider, a model, and the content type of its streams."""
QUESTION = "Is it warmer in Oslo or in Lima?"
CELSIUS = {"Oslo": 4.5, "Lima": 19.0}
ANSWER = "In Lima."


@contextmanager
def conversing(format: str) -> Iterator[FormatServer]:
    """A server that calls both tools at once, then one of them again, and answers when it has three results."""
    provider, model, stream_type = ROUTES[format]
    thought = ReasoningPart("Both.", "c2ln", origin=f"{provider}/{model}")
    calls = (ToolCall.of("call_b", "temperature", {"city": "Oslo"}), ToolCall.of("call_a", "rain", {"city": "Lima"}))

    def reply(call: ModelCall) -> ModelReply:
        usage = Usage(input=10, output=5)
        known = {"usage": usage, "model": model, "provider": provider}
        rounds = sum(message.role == "tool" for message in call.messages)
        if rounds == 2:
            return ModelReply((TextPart(ANSWER),), "stop", id="r3", **known)
        if rounds == 1:
            again = ToolCall.of("call_c", "temperature", {"city": "Lima"})
            return ModelReply((again,), "tool_calls", id="r2", **known)
        parts = (thought, TextPart("Let me look."), *calls) if format == "anthropic_messages" else calls
        return ModelReply(parts, "tool_calls", id="r1", **known)

    with FormatServer(FORMATS[format](), stream_type, reply) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def run(call_style: Any, llm: LLM, streamed: bool, **request: Any) -> tuple[GenerateResponse[Any], list[Any]]:
    """Returns the response, and the events of a stream."""
    if not streamed:
        return call_style.generate(llm, QUESTION, **request), []
    with call_style.stream(llm, QUESTION, **request) as stream:
        events = list(stream)
    return stream.response, events


def test_every_format_is_tried():
    assert set(ROUTES) == set(FORMATS)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", ROUTES)
def test_two_calls_of_one_reply_are_run_and_answered_in_order(format, streamed, call_style, services):
    second_done = threading.Event()

    @tool
    def temperature(city: str) -> ToolOutput:
        """Returns degrees Celsius in a city, when the other tool has ended."""
        assert second_done.wait(30)
        return ToolOutput(CELSIUS[city], data=city)

    @tool
    def rain(city: str) -> bool:
        """Returns whether it rains in a city."""
        second_done.set()
        return False

    provider, model, _ = ROUTES[format]
    with conversing(format) as server:
        llm = create_llm(provider, model=model, base_url=server.url, api_key="k", services=services)
        response, events = run(call_style, llm, streamed, tools=[temperature, rain], run_tools=True)
    assert (response.content, response.loop.status) == (ANSWER, "answered")
    assert [(step.call.name, step.result.as_text, step.data) for step in response.tool_steps] == [
        ("temperature", "4.5", "Oslo"),
        ("rain", "false", None),
        ("temperature", "19.0", "Lima"),
    ]
    assert (response.usage.input, response.usage.output) == (30, 15)
    assert sum(isinstance(event, ToolEnded) for event in events) == (3 if streamed else 0)

    first, second, third = server.calls
    assert [spec.name for spec in first.tools] == [spec.name for spec in third.tools] == ["temperature", "rain"]
    assert [message.role for message in second.messages] == ["user", "assistant", "tool"]
    assert [message.role for message in third.messages] == ["user", *(("assistant", "tool") * 2)]
    assert third.messages[:3] == second.messages
    asked = [call for message in third.messages for call in message.tool_calls]
    results = [part for message in third.messages for part in message.parts if isinstance(part, ToolResult)]
    assert [(call.name, call.arguments) for call in asked] == [
        ("temperature", {"city": "Oslo"}),
        ("rain", {"city": "Lima"}),
        ("temperature", {"city": "Lima"}),
    ]
    assert len({call.id for call in asked}) == 3
    assert [(result.call_id, result.as_text) for result in results] == list(
        zip((call.id for call in asked), ("4.5", "false", "19.0"), strict=True)
    )
    made = [call.id for reply in response.steps for call in reply.tool_calls]
    assert [step.call.id for step in response.tool_steps] == made
    kept = [part for message in response.messages for part in message.parts if isinstance(part, ToolResult)]
    assert [result.call_id for result in kept] == made
    reasoning = [part for part in third.messages[1].parts if isinstance(part, ReasoningPart)]
    assert len(reasoning) == (1 if format == "anthropic_messages" else 0)
