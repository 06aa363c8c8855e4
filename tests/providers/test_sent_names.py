"""Names that a vendor refuses: sent under others in every wire format, restored in calls, answers and streams."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import TypedDict

from abstractcore import Message, ToolChoice, ToolSpec, record, replay, tool
from abstractcore.errors import OutputValidationError, StreamInterruptedError
from abstractcore.schema import ModelReply, TextDelta, TextPart, ToolCall, ToolCallDelta, ToolCallStart, deltas_of
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import LAST_CHUNK, answer, chunk, stream_head
from tests.providers.published import provider_of
from tests.providers.wire_streams import call_in

TOOL_NAMES: Mapping[str, re.Pattern[str]] = {
    "anthropic_messages": re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    "bedrock_converse": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    "gemini": re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
    "gemini_interactions": re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
    "openai_chat": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    "openai_responses": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
}
"""What the vendors' pages say (docs/decisions/0025-tool-names.md). The others name no rule."""
PROPERTIES: Mapping[str, re.Pattern[str]] = dict.fromkeys(
    ("anthropic_messages", "bedrock_converse"), re.compile(r"[a-zA-Z0-9_.-]{1,64}")
)
LONG = "mcp__plugin_browser__" + "performance_analyze_insight_" * 4
NAMES = (
    "get weather!",
    "get_weather_",
    "天気",
    "9lives.of:cats",
    LONG[:65],
    LONG[:65] + "x",
    LONG[:128],
    LONG + "z" * 30,
)
"""Two are alike but for characters that are refused, two but for their end."""
PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "$top": {"type": "integer"},
        "filter[x]": {"type": "array", "items": {"type": "object", "properties": {"ä": {"type": "string"}}}},
        "filter(x)": {"$ref": "#/$defs/T"},
        "k" * 65: {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"@id": {"type": "string"}}}]},
        "any": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["$top"],
    "$defs": {"T": {"type": "object", "properties": {"a b": {"type": "boolean"}}}},
}
ARGUMENTS = json.dumps(
    {
        "$top": 1.0,
        "filter[x]": [{"ä": 'say "$top"'}],
        "filter(x)": {"a b": True},
        "k" * 65: {"@id": "$top"},
        "any": {"ok": "$top"},
    },
    ensure_ascii=False,
)
WHOLE_OR_STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
EVERY_FORMAT = pytest.mark.parametrize("format", FORMATS)
Answer = TypedDict("Answer", {"$top": int, "filter[x]": "list[Item]"})
Item = TypedDict("Item", {"ä b": str})
Query = TypedDict("Query", {"$top": int})


def split(reply: ModelReply) -> Iterator[Any]:
    """Deltas with texts of one letter each."""
    for delta in deltas_of(reply):
        if isinstance(delta, ToolCallDelta):
            yield from (ToolCallDelta(0, delta.block, letter) for letter in delta.arguments_text)
        elif isinstance(delta, TextDelta):
            yield from (TextDelta(0, delta.block, letter) for letter in delta.text)
        else:
            yield delta


def answered(format: str, *parts: Any, streamed: bool) -> bytes:
    """The vendor's response, streamed letter by letter where its format splits texts."""
    reason = "tool_calls" if isinstance(parts[-1], ToolCall) else "stop"
    reply = ModelReply(parts, reason, model="m", provider=provider_of(format))
    if not streamed:
        return answer(FORMATS[format]().render(reply).body)
    renderer = FORMATS[format]().renderer()
    body = b"".join(map(renderer.feed, split(reply))) + renderer.finish()
    return stream_head() + chunk(body) + LAST_CHUNK


def generated(call_style: Any, llm: Any, streamed: bool, **request: Any) -> tuple[Any, list[Any]]:
    """The response, and the deltas of a stream."""
    if not streamed:
        return call_style.generate(llm, **request), []
    with call_style.stream(llm, **request) as stream:
        deltas = list(stream)
    return stream.response, deltas


def sent_by(format: str, llm: Any, **request: Any) -> Any:
    """The call as the vendor reads it."""
    transpiler = FORMATS[format]()
    return transpiler.parse(transpiler.encode(llm.build("hi", **request)).request).call


def properties(own: Any, sent: Any) -> Iterator[tuple[str, str]]:
    """The names of properties in a schema, each with that in another schema, in the same place."""
    if isinstance(own, list):
        for one, other in zip(own, sent, strict=True):
            yield from properties(one, other)
    elif isinstance(own, dict):
        for keyword, value in own.items():
            if keyword == "properties":
                yield from zip(value, sent["properties"], strict=True)
                yield from properties(list(value.values()), list(sent["properties"].values()))
            elif keyword in sent:
                yield from properties(value, sent[keyword])


def with_names(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [with_names(item, names) for item in value]
    if isinstance(value, dict):
        return {names.get(name, name): with_names(item, names) for name, item in value.items()}
    return value


@WHOLE_OR_STREAMED
@EVERY_FORMAT
def test_every_name_goes_out_as_the_vendor_accepts_it_and_comes_back_as_the_calls_own(
    call_style: Any, server: Any, llm_of: Callable[..., Any], format: str, streamed: bool
):
    """In definitions, the choice, calls and the history, each with the others beside it: 8 tools with 8 properties."""
    llm, walked = llm_of(format), 0
    tools = [ToolSpec(name, "A tool.", PARAMETERS) for name in NAMES]
    definitions = dict(zip(NAMES, sent_by(format, llm, tools=tools).tools, strict=True))
    assert len({each.name for each in definitions.values()}) == len(NAMES)
    for name in NAMES:
        sent = definitions[name]
        renamed = dict(properties(PARAMETERS, sent.parameters))
        arguments = json.dumps(with_names(json.loads(ARGUMENTS), renamed), ensure_ascii=False)
        said = ToolCall("c1", sent.name, arguments)
        server.requests.clear()
        server.script(answered(format, said, streamed=streamed))
        choice = {} if format in ("ollama", "cohere_chat") else {"tool_choice": ToolChoice("tool", name)}
        response, deltas = generated(call_style, llm, streamed, prompt="hi", tools=tools, strict=False, **choice)
        (call,) = response.tool_calls
        assert (call.name, call.arguments) == (name, json.loads(ARGUMENTS))
        if format not in ("gemini", "ollama"):  # which send a value, not a text
            assert call.arguments_text == ARGUMENTS
        if streamed:
            assert [each.name for each in deltas if isinstance(each, ToolCallStart)] == [name]
            pieces = [each.arguments_text for each in deltas if isinstance(each, ToolCallDelta)]
            assert "".join(pieces) == call.arguments_text
        history = [Message.user("hi"), response, call.result("done")]
        server.script(answered(format, TextPart("ok"), streamed=streamed))
        generated(call_style, llm, streamed, messages=history, tools=tools, strict=True)
        first, second = (call_in(format, request) for request in server.requests)
        assert second.tools == first.tools == tuple(definitions.values())
        (again,) = [each for message in second.messages for each in message.tool_calls]
        assert (again.name, again.arguments) == (sent.name, said.arguments)
        if choice:
            assert first.tool_choice == ToolChoice("tool", sent.name)
        assert format not in TOOL_NAMES or TOOL_NAMES[format].fullmatch(sent.name)
        assert format in TOOL_NAMES or sent.name == name
        assert all(format not in PROPERTIES or PROPERTIES[format].fullmatch(each) for each in renamed.values())
        assert format in PROPERTIES or all(own == other for own, other in renamed.items())
        walked += 1 + len(renamed)
    in_definition = format != "ollama"  # which is sent the definition in place of its reference
    assert walked == len(NAMES) * (1 + 7 + in_definition)


@WHOLE_OR_STREAMED
@EVERY_FORMAT
def test_typed_answer_has_the_properties_of_its_type(
    call_style: Any, server: Any, llm_of: Callable[..., Any], format: str, streamed: bool
):
    llm = llm_of(format)
    request = llm.build("hi", response_model=Answer)
    schema = request.output.schema
    sent = sent_by(format, llm, response_model=Answer)
    names = dict(properties(schema, sent.output.schema))
    assert all(format not in PROPERTIES or PROPERTIES[format].fullmatch(each) for each in names.values())
    expected = {"$top": 2, "filter[x]": [{"ä b": "$top"}, {"ä b": ""}]}
    text = json.dumps(with_names(expected, names), ensure_ascii=False)
    server.script(answered(format, TextPart(text), streamed=streamed))
    response, deltas = generated(call_style, llm, streamed, prompt="hi", response_model=Answer)
    assert response.output == expected
    assert json.loads(response.content) == expected
    assert not streamed or "".join(each.text for each in deltas if isinstance(each, TextDelta)) == response.content


@WHOLE_OR_STREAMED
def test_typed_answer_that_is_a_tool_call_has_the_properties_of_its_type(
    call_style: Any, server: Any, llm_of: Callable[..., Any], streamed: bool
):
    llm = llm_of("anthropic_messages", model="claude-3-7-sonnet-20250219")
    expected = {"$top": 2, "filter[x]": [{"ä b": "$top"}]}
    server.script(answered("anthropic_messages", ToolCall("c", "final_answer", "{}"), streamed=streamed))
    request: dict[str, Any] = {"prompt": "hi", "response_model": Answer, "output_mode": "tool"}
    with pytest.raises(OutputValidationError, match=r"\$top"):
        generated(call_style, llm, streamed, **request, output_retries=0)
    (offered,) = call_in("anthropic_messages", server.requests[0]).tools
    names = dict(properties(llm.build("hi", response_model=Answer).output.schema, offered.parameters))
    assert all(PROPERTIES["anthropic_messages"].fullmatch(each) for each in names.values())
    said = ToolCall("c", offered.name, json.dumps(with_names(expected, names)))
    server.script(answered("anthropic_messages", said, streamed=streamed))
    response, _ = generated(call_style, llm, streamed, **request)
    assert response.output == expected


def test_partial_outputs_of_a_stream_have_the_properties_of_the_type(
    call_style: Any, server: Any, llm_of: Callable[..., Any]
):
    llm = llm_of("anthropic_messages")
    sent = sent_by("anthropic_messages", llm, response_model=Answer)
    names = dict(properties(llm.build("hi", response_model=Answer).output.schema, sent.output.schema))
    text = json.dumps(with_names({"$top": 2, "filter[x]": [{"ä b": "yes"}]}, names))
    server.script(answered("anthropic_messages", TextPart(text), streamed=True))
    seen: list[Any] = []
    with call_style.stream(llm, "hi", response_model=Answer) as stream:
        for _ in stream:
            seen += [stream.partial_output]
    keys = {name for each in seen if isinstance(each, dict) for name in each}
    assert keys == {"$top", "filter[x]"}


@WHOLE_OR_STREAMED
@EVERY_FORMAT
def test_tools_of_a_loop_get_their_own_arguments(
    call_style: Any, server: Any, llm_of: Callable[..., Any], format: str, streamed: bool
):
    llm, got = llm_of(format), []

    @tool
    def list_items(query: Query) -> str:
        """Lists items."""
        got.append(query)
        return "done"

    (sent,) = sent_by(format, llm, tools=[list_items.spec]).tools
    names = dict(properties(list_items.spec.parameters, sent.parameters))
    arguments = json.dumps(with_names({"query": {"$top": 3}}, names))
    server.script(answered(format, ToolCall("c1", sent.name, arguments), streamed=streamed))
    server.script(answered(format, TextPart("ok"), streamed=streamed))
    response, _ = generated(call_style, llm, streamed, prompt="hi", tools=[list_items], run_tools=True)
    assert (response.content, got) == ("ok", [{"$top": 3}])


@EVERY_FORMAT
def test_tools_in_the_prompt_keep_their_names(call_style: Any, server: Any, llm_of: Callable[..., Any], format: str):
    llm, offered = llm_of(format), ToolSpec(LONG[:100], "A tool.", PARAMETERS)
    said = json.dumps({"name": offered.name, "arguments": json.loads(ARGUMENTS)})
    text = f"<tool_call>\n{said}\n</tool_call>"
    server.script(answered(format, TextPart(text), streamed=False))
    response = call_style.generate(llm, "hi", tools=[offered], tool_format="hermes")
    (call,) = response.tool_calls
    assert (call.name, call.arguments) == (offered.name, json.loads(ARGUMENTS))
    prompt = call_in(format, server.requests[0]).messages[0].text
    assert offered.name in prompt
    assert "filter[x]" in prompt


@WHOLE_OR_STREAMED
@pytest.mark.parametrize("format", ["anthropic_messages", "openai_chat"])
def test_recording_is_replayed_with_the_own_names(
    call_style: Any, server: Any, llm_of: Callable[..., Any], format: str, streamed: bool, tmp_path: Path
):
    offered, tape = ToolSpec(LONG, "A tool.", PARAMETERS), tmp_path / "tape.jsonl"
    sent = sent_by(format, llm_of(format), tools=[offered]).tools[0]
    names = dict(properties(PARAMETERS, sent.parameters))
    said = ToolCall("c1", sent.name, json.dumps(with_names(json.loads(ARGUMENTS), names)))
    server.script(answered(format, said, streamed=streamed))
    found = [
        generated(call_style, llm_of(format, middleware=[of(tape)]), streamed, prompt="hi", tools=[offered])[0]
        for of in (record, replay)
    ]
    assert [each.tool_calls[0].name for each in found] == [LONG, LONG]
    assert [each.tool_calls[0].arguments for each in found] == [json.loads(ARGUMENTS)] * 2
    assert len(server.requests) == 1


def test_partial_reply_of_an_interrupted_stream_has_the_own_names(
    call_style: Any, server: Any, llm_of: Callable[..., Any]
):
    offered = ToolSpec(LONG, "A tool.", PARAMETERS)
    llm = llm_of("anthropic_messages", max_retries=0)
    sent = sent_by("anthropic_messages", llm, tools=[offered]).tools[0]
    top = dict(properties(PARAMETERS, sent.parameters))["$top"]
    reply = ModelReply((ToolCall("c", sent.name, f'{{"{top}": 12'),), "tool_calls", model="m", provider="anthropic")
    renderer = FORMATS["anthropic_messages"]().renderer()
    cut = b"".join(map(renderer.feed, deltas_of(reply)[:-3]))
    server.script(stream_head() + chunk(cut) + LAST_CHUNK)
    with pytest.raises(StreamInterruptedError) as caught, call_style.stream(llm, "hi", tools=[offered]) as stream:
        for _ in stream:
            pass
    assert caught.value.partial is not None
    (call,) = caught.value.partial.tool_calls
    assert (call.name, call.arguments_text) == (LONG, '{"$top": 12')
