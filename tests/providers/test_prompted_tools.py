"""Tools in the prompt, and calls in texts, over every wire format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstractcore import Message, ToolSpec, create_llm, record, replay
from abstractcore.schema import TextPart, ToolCall
from abstractcore.tools.prompted import TOOL_FORMATS, tool_format
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.wire_streams import answered_with, call_in, served, text_of

WEATHER = ToolSpec("weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
OSLO = ToolCall.of("call_0_0", "weather", {"city": "Oslo"})
HERMES = tool_format("hermes").write_calls([OSLO])
LOCAL_SERVERS = ("llama-cpp", "lmstudio", "ollama", "openai-compatible", "vllm")


def answer_of(call_style: Any, llm: Any, streamed: bool, *arguments: Any, **options: Any) -> Any:
    """The response of a call, streamed or not."""
    if not streamed:
        return call_style.generate(llm, *arguments, **options)
    with call_style.stream(llm, *arguments, **options) as stream:
        for _ in stream:
            pass
    return stream.response


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_call_in_a_text_is_a_call_over_every_format(
    call_style: Any, server: Any, llm_of: Any, format: str, streamed: bool
):
    pieces = ["Let me ", "look.\n", HERMES[:8], HERMES[8:9], HERMES[9:]]
    text = served(format, text_of(format, *pieces)) if streamed else answered_with(format, TextPart("".join(pieces)))
    server.script(text)
    response = answer_of(call_style, llm_of(format), streamed, "Oslo?", tools=[WEATHER], tool_format="hermes")
    assert (response.content, response.tool_calls, response.finish_reason) == ("Let me look.", (OSLO,), "tool_calls")
    assert "tools_as_prompt" in [warning.code for warning in response.warnings]
    sent = call_in(format, server.requests[0])
    assert sent.tools == ()
    assert '"name": "weather"' in sent.messages[0].text
    server.script(answered_with(format, TextPart("It is sunny.")))
    history = [Message.user("Oslo?"), response, response.tool_calls[0].result("sunny")]
    again = answer_of(call_style, llm_of(format), False, messages=history, tools=[WEATHER], tool_format="hermes")
    assert again.content == "It is sunny."
    sent = call_in(format, server.requests[1])
    assert not any(message.tool_calls for message in sent.messages)
    assert "<tool_call>" in next(message.text for message in sent.messages if message.role == "assistant")
    assert "<tool_response>\nsunny" in sent.messages[-1].text


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", LOCAL_SERVERS)
def test_local_server_that_returns_calls_as_text_is_rescued(
    call_style: Any, server: Any, llm_of: Any, provider: str, streamed: bool
):
    format = "ollama" if provider == "ollama" else "openai_chat"
    pieces = ["```json\n", '{"name": "wea', 'ther", "arguments": {"city": "Oslo"}}', "\n```"]
    answer = served(format, text_of(format, *pieces)) if streamed else answered_with(format, TextPart("".join(pieces)))
    llm = llm_of(format, provider=provider, model="some-model")
    server.script(answer)
    response = answer_of(call_style, llm, streamed, "Oslo?", tools=[WEATHER])
    assert (response.tool_calls, response.content, response.finish_reason) == ((OSLO,), "", "tool_calls")
    assert "tool_call_rescued" in [warning.code for warning in response.warnings]
    assert call_in(format, server.requests[0]).tools != ()
    server.script(answer)
    off = answer_of(call_style, llm, streamed, "Oslo?", tools=[WEATHER], rescue=False)
    assert (off.tool_calls, off.content) == ((), "".join(pieces))


@pytest.mark.parametrize("format", ["openai_chat", "anthropic_messages"])
def test_vendor_of_whole_calls_is_not_rescued(call_style: Any, server: Any, llm_of: Any, format: str):
    text = '{"name": "weather", "arguments": {"city": "Oslo"}}'
    server.script(answered_with(format, TextPart(text)))
    response = call_style.generate(llm_of(format), "hi", tools=[WEATHER])
    assert (response.tool_calls, response.content) == ((), text)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_profile_without_tools_has_them_in_the_prompt(call_style: Any, name: str, streamed: bool):
    written = tool_format(name).write_calls([OSLO], [WEATHER])
    facts = {"tools": "never", "tool_prompt": name}
    with create_llm("scripted", replies=[written, "It is sunny."], facts=facts) as llm:
        first = answer_of(call_style, llm, streamed, "Oslo?", tools=[WEATHER])
        assert first.tool_calls == (OSLO,)
        history = [Message.user("Oslo?"), first, first.tool_calls[0].result("sunny")]
        second = answer_of(call_style, llm, streamed, messages=history, tools=[WEATHER])
        assert second.content == "It is sunny."
        assert [call.tools for call in llm.calls] == [(), ()]
        assert "sunny" in llm.calls[1].messages[-1].text


def test_recording_holds_what_the_server_sent(call_style: Any, tmp_path: Path):
    path, facts = tmp_path / "calls.jsonl", {"tools": "never"}
    with create_llm("scripted", replies=[HERMES], facts=facts, middleware=[record(path)]) as llm:
        first = call_style.generate(llm, "Oslo?", tools=[WEATHER])
    assert "<tool_call>" in path.read_text(encoding="utf-8")
    with create_llm("scripted", facts=facts, middleware=[replay(path)]) as llm:
        assert call_style.generate(llm, "Oslo?", tools=[WEATHER]).tool_calls == first.tool_calls == (OSLO,)


def test_records_and_middleware_have_the_reply_as_read(call_style: Any):
    seen: list[Any] = []

    class Watching:
        async def around_call(self, context: Any, next: Any) -> Any:
            seen.append(await next(context))
            return seen[-1]

    with create_llm("scripted", replies=[HERMES], facts={"tools": "never"}, middleware=[Watching()]) as llm:
        assert call_style.generate(llm, "hi", tools=[WEATHER]).tool_calls == (OSLO,)
    assert seen[0].tool_calls == (OSLO,)
