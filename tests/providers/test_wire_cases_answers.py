"""Tool calls, reasoning and usage in streams of real servers, end to end, sync and async."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from re import fullmatch
from typing import Any, get_args

import pytest

from abstractcore import Message, ModelReply, Price, ReasoningPart, ToolCall, ToolCallDelta, ToolResult, Usage
from abstractcore.schema import ModelCall, TextPart, ToolSpec, deltas_of
from abstractcore_providers.common.call_options import AS_RECEIVED
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.formats.anthropic_messages import wire as anthropic
from tests.providers.formats.cohere_chat import wire as cohere
from tests.providers.formats.gemini import wire as gemini
from tests.providers.formats.gemini_interactions import wire as interactions
from tests.providers.formats.ollama import wire as ollama
from tests.providers.formats.openai_chat import wire as chat
from tests.providers.published import provider_of, response_of
from tests.providers.wire_streams import INPUT, OUTPUT, SPEECH, Piece, call_in, reply_to, said, served, text_of

FRAGMENT_FORMATS = [name for name in FORMATS if name not in ("gemini", "ollama")]
"""Those whose tool calls come in fragments; the others send them whole."""
every_format = pytest.mark.parametrize("format", FORMATS)
ODD_ID = "call|" + "äöü." * 20
"""Longer than 64 characters, and of letters that most vendors refuse in an id."""


# Tool calls


@every_format
def test_two_tool_calls_with_one_index_are_two_calls(call_style, server, llm_of, format):
    """Two tool calls, both index 0, ids differ."""
    pieces = [Piece(0, "", "f", "a"), Piece(0, '{"a":1}'), Piece(0, "", "f", "b"), Piece(0, '{"b":2}')]
    server.script(served(format, said(format, SPEECH[format].calls(pieces))))
    calls = reply_to(call_style, llm_of(format), tools=[]).tool_calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [("a", "f", {"a": 1}), ("b", "f", {"b": 2})]


@pytest.mark.parametrize("format", FRAGMENT_FORMATS)
def test_interleaved_parallel_calls_are_two_calls(call_style, server, llm_of, format):
    """Interleaved argument fragments of parallel calls."""
    begun = [Piece(0, "", "f", "a"), Piece(1, "", "g", "b")]
    more = [Piece(0, '{"a"'), Piece(1, '{"b"'), Piece(0, ":1}"), Piece(1, ":2}")]
    server.script(served(format, said(format, SPEECH[format].calls([*begun, *more]))))
    stream = call_style.stream(llm_of(format), "hi")
    deltas = list(stream)
    calls = stream.response.tool_calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [("a", "f", {"a": 1}), ("b", "g", {"b": 2})]
    assert sum(isinstance(delta, ToolCallDelta) for delta in deltas) == 4


@every_format
def test_generated_id_of_a_call_is_sent_back_with_its_result(call_style, server, llm_of, format):
    """A tool call without id: make one only when absent."""
    pieces = [Piece(0, "{}", "f"), Piece(1, "{}", "g", "given")]
    server.script(served(format, said(format, SPEECH[format].calls(pieces))))
    server.script(served(format, text_of(format, "done")))
    llm = llm_of(format)
    made, given = (reply := reply_to(call_style, llm)).tool_calls
    assert (made.id, given.id) == ("call_0", "given")
    results = Message.tool(ToolResult.text(made.id, "of f"), ToolResult.text("given", "of g"))
    reply_to(call_style, llm, messages=[Message.user("hi"), reply.message(), results])
    assert paired(format, server.requests[1]) == [("call_0", "of f"), ("given", "of g")]


@every_format
def test_two_calls_with_one_id_are_distinct_and_sent_back_with_their_results(call_style, server, llm_of, format):
    """Two tool calls with one id: the second gets its own, streamed or not, and keeps the vendor's."""
    pieces = [Piece(0, "{}", "f", "same"), Piece(1, '{"a":1}', "f", "same"), Piece(2, '{"b":2}', "g", "call_1")]
    server.script(served(format, said(format, SPEECH[format].calls(pieces))))
    server.script(served(format, text_of(format, "done")))
    llm = llm_of(format)
    reply = reply_to(call_style, llm)
    assert [call.id for call in reply.tool_calls] == ["same", "call_1", "call_2"]
    assert [call.arguments for call in reply.tool_calls] == [{}, {"a": 1}, {"b": 2}]
    assert received(reply) == [None, {"id": "same"}, {"id": "call_1"}]
    whole = decoded_with_ids(format, reply, ["same", "same", "call_1"])
    assert [call.id for call in whole.tool_calls] == ["same", "call_1", "call_2"]
    assert received(whole) == received(reply)
    results = Message.tool(*(ToolResult.text(call.id, f"result {i}") for i, call in enumerate(reply.tool_calls)))
    reply_to(call_style, llm, messages=[Message.user("hi"), reply.message(), results])
    sent = paired(format, server.requests[1])
    assert [text for _, text in sent] == ["result 0", "result 1", "result 2"]
    assert len({id for id, _ in sent}) == 3


def received(reply: ModelReply) -> list[Any]:
    """What is noted of each call's own id."""
    return [call.provider_options.get(AS_RECEIVED) for call in reply.tool_calls]


def decoded_with_ids(format: str, reply: ModelReply, ids: list[str]) -> ModelReply:
    """Returns the content of a body with `reply` and these ids in its calls."""
    bare = [ToolCall(f"id-{i}", call.name, call.arguments_text) for i, call in enumerate(reply.tool_calls)]
    body = FORMATS[format]().render(replace(reply, parts=tuple(bare))).body
    for i, id in enumerate(ids):
        body = body.replace(f'"id-{i}"'.encode(), json.dumps(id).encode())
    return FORMATS[format]().decode(response_of(body.decode()))


@every_format
def test_generated_ids_are_the_same_streamed_and_not(call_style, server, llm_of, format):
    pieces = [Piece(0, "{}", "f"), Piece(1, "{}", "g")]
    server.script(served(format, said(format, SPEECH[format].calls(pieces))))
    reply = reply_to(call_style, llm_of(format))
    body = json.loads(FORMATS[format]().render(reply).body)
    whole = FORMATS[format]().decode(response_of(without_ids(body)))
    assert [call.id for call in whole.tool_calls] == [call.id for call in reply.tool_calls] == ["call_0", "call_1"]


def without_ids(value: Any) -> Any:
    """The JSON without ids of calls and items."""
    if isinstance(value, list):
        return [without_ids(item) for item in value]
    if isinstance(value, dict):
        return {name: without_ids(item) for name, item in value.items() if name not in ("id", "call_id", "toolUseId")}
    return value


@every_format
def test_call_with_a_replaced_id_is_sent_to_any_vendor_without_loss(format):
    """The original id of a call is kept privately: it is neither sent nor a loss."""
    calls = (ToolCall("a", "f"), ToolCall("b", "f", provider_options={AS_RECEIVED: {"id": "a"}}))
    results = Message.tool(*(ToolResult.text(call.id, "done") for call in calls))
    messages = (Message.user("hi"), Message.assistant(*calls), results)
    encoded = FORMATS[format]().encode(ModelCall("m", messages, provider_of(format), (ToolSpec("f"),)))
    reply = ModelReply(calls, "tool_calls", model="m", provider=provider_of(format))
    rendered, renderer = FORMATS[format]().render(reply), FORMATS[format]().renderer()
    stream = b"".join(map(renderer.feed, deltas_of(reply))) + renderer.finish()
    assert AS_RECEIVED.encode() not in encoded.request.body + rendered.body + stream
    assert [each for each in (*encoded.warnings, *rendered.warnings) if "options" in each.path] == []


def paired(format: str, request) -> list[tuple[str, str]]:
    """The ids of the calls in a request, each with the text of its result."""
    answer, results = call_in(format, request).messages[1:3]
    texts = {part.call_id: part.content[0].text for part in results.parts}
    return [(call.id, texts[call.id]) for call in answer.tool_calls]


LEGAL_IDS: dict[str, tuple[dict[str, str], str]] = {
    "anthropic_messages": ({}, r"[a-zA-Z0-9_-]+"),
    "bedrock_converse": ({}, r"[a-zA-Z0-9_-]{1,64}"),
    "openai_chat": ({"provider": "mistral", "model": "mistral-large-latest"}, r"[a-zA-Z0-9]{9}"),
    "openai_responses": ({}, r".{1,64}"),
}
"""The ids that vendors prescribe; the others take any."""


@pytest.mark.parametrize("format", LEGAL_IDS)
@pytest.mark.parametrize("id", ["x", ODD_ID], ids=["short", "long"])
def test_id_invalid_in_the_next_dialect_is_replaced_there_only(call_style, server, llm_of, format, id):
    """Ids longer or shorter than the next dialect allows: map ids per dialect on the way out and back."""
    options, legal = LEGAL_IDS[format]
    server.script(served("openai_chat", said("openai_chat", chat_calls_with(id))))
    server.script(served(format, said(format, SPEECH[format].calls([Piece(0, "{}", "f", "abcDEF123")]))))
    first = reply_to(call_style, llm_of("openai_chat"))
    assert [call.id for call in first.tool_calls] == [id, "call_1"]
    results = Message.tool(ToolResult.text(id, "one"), ToolResult.text("call_1", "two"))
    second = reply_to(call_style, llm_of(format, **options), messages=[Message.user("hi"), first.message(), results])
    (one, text), (other, other_text) = paired(format, server.requests[1])
    assert (text, other_text) == ("one", "two")
    assert one != other
    assert fullmatch(legal, one)
    assert fullmatch(legal, other)
    assert [call.id for call in second.tool_calls] == ["abcDEF123"]


def chat_calls_with(id: str) -> list[Any]:
    return SPEECH["openai_chat"].calls([Piece(0, "{}", "f", id), Piece(1, "{}", "g", "call_1")])


# Why it ended


@every_format
def test_unknown_finish_reason_with_tool_calls_is_tool_calls(call_style, server, llm_of, format):
    """Unknown finish reason of a compatible server: results are needed; its value is kept."""
    calls = SPEECH[format].calls([Piece(0, "", "f", "a"), Piece(0, '{"a":1}')])
    reason = "function_calls"
    frames = said(format, calls, reason)
    if format == "openai_responses":  # it has no word for a good end but its status
        frames = said(format, calls)
        frames[-1]["response"]["status"] = reason
    server.script(served(format, frames))
    reply = reply_to(call_style, llm_of(format))
    assert (reply.finish_reason, reply.raw_finish_reason) == ("tool_calls", reason)
    whole = FORMATS[format]().decode(response_of(whole_with(format, reply, reason)))
    assert (whole.finish_reason, whole.raw_finish_reason) == ("tool_calls", reason)


def whole_with(format: str, reply: ModelReply, reason: str) -> Any:
    """The body of `reply` with another word for why it ended."""
    body = json.loads(FORMATS[format]().render(reply).body)
    for place in (body, *body.get("choices", ()), *body.get("candidates", ())):
        for name in ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "status"):
            if name in place:
                place[name] = reason
    return body


def vendors_ends() -> dict[str, Any]:
    """Each vendor's own list of finish reasons, by format."""
    bedrock = import_module("botocore.session").get_session().get_service_model("bedrock-runtime")
    return {
        "anthropic_messages": get_args(import_module("anthropic.types").StopReason),
        "bedrock_converse": bedrock.shape_for("StopReason").enum,
        "gemini": [reason.value for reason in import_module("google.genai.types").FinishReason],
        "openai_responses": get_args(import_module("openai.types.responses").ResponseStatus),
    }


def test_vendor_specific_ends_are_not_tool_calls():
    """A call that the model wrote wrongly, one too many, an error: each vendor's own list, beside a call."""
    words = vendors_ends()
    reply = ModelReply((ToolCall("a", "f", "{}"),), "tool_calls", model="m")
    for format, known in words.items():
        for word in {*known} - {"failed", "incomplete", "FINISH_REASON_UNSPECIFIED", "STOP", "completed", "tool_use"}:
            read = FORMATS[format]().decode(response_of(whole_with(format, reply, word)))
            assert (read.finish_reason == "tool_calls", read.raw_finish_reason) == (False, word), format


OPEN_ENDS = {"FINISH_REASON_UNSPECIFIED", "OTHER", "cancelled"}
"""Values that name no reason."""


def test_no_end_that_a_vendor_names_is_unknown():
    reply = ModelReply((TextPart("a"),), "stop", model="m")
    for format, known in vendors_ends().items():
        for word in {*known} - {"failed", "incomplete"}:
            read = FORMATS[format]().decode(response_of(whole_with(format, reply, word)))
            assert (read.finish_reason == "unknown") == (word in OPEN_ENDS), (format, word)


# Reasoning


THINK_TAGS = "<think>Hm, well.</think>Hello"
REASONING: dict[str, tuple[str, list[Any]]] = {
    "reasoning_content": ("openai_chat", [chat.chunk(reasoning_content=t) for t in ("Hm, ", "well.")]),
    "reasoning": ("openai_chat", [chat.chunk(reasoning=t) for t in ("Hm, ", "well.")]),
    "anthropic": (
        "anthropic_messages",
        anthropic.block(
            0, *({"type": "thinking_delta", "thinking": t} for t in ("Hm, ", "well.")), type="thinking", thinking=""
        ),
    ),
    "gemini": ("gemini", [gemini.chunk({"text": t, "thought": True}) for t in ("Hm, ", "well.")]),
    "interactions": (
        "gemini_interactions",
        [
            interactions.start(1, "thought"),
            *(interactions.delta(1, "thought_summary", content={"type": "text", "text": t}) for t in ("Hm, ", "well.")),
            interactions.stop(1),
        ],
    ),
    "cohere": ("cohere_chat", [cohere.thought("Hm, "), cohere.thought("well.")]),
    "ollama": ("ollama", [ollama.line(thinking="Hm, "), ollama.line(thinking="well.")]),
}
ANSWERS = {
    "anthropic_messages": anthropic.text(1, "Hello"),
    "cohere_chat": [cohere.text("Hello", 1)],
}


@pytest.mark.parametrize("name", REASONING)
def test_reasoning_is_a_separate_part_and_never_text(call_style, server, llm_of, name):
    """`reasoning_content`, `reasoning`: reasoning parts."""
    format, thought = REASONING[name]
    text_frames = ANSWERS.get(format) or SPEECH[format].text(["Hello"])
    server.script(served(format, said(format, [*thought, *text_frames])))
    llm = llm_of(format, **({"provider": "openai-compatible"} if format == "openai_chat" else {}))
    reply = reply_to(call_style, llm)
    assert (reply.reasoning, reply.text) == ("Hm, well.", "Hello")
    assert isinstance(reply.parts[0], ReasoningPart)


def test_think_tags_split_anywhere_are_reasoning(call_style, server, llm_of):
    """`<think>` split over chunks: reasoning parts."""
    llm = llm_of("openai_chat", provider="openai-compatible")
    for place in range(1, len(THINK_TAGS)):
        server.script(served("openai_chat", text_of("openai_chat", THINK_TAGS[:place], THINK_TAGS[place:])))
        reply = reply_to(call_style, llm)
        assert (reply.reasoning, reply.text) == ("Hm, well.", "Hello")


# Usage


@every_format
def test_usage_is_counted_once(call_style, server, llm_of, format):
    """Usage after the last choice, or cumulative over two events (Anthropic): read once, right."""
    server.script(served(format, text_of(format, "Hel", "lo")))
    usage = reply_to(call_style, llm_of(format)).usage
    assert (usage.input, usage.output) == (INPUT, OUTPUT)


def test_usage_in_the_last_choice_chunk_is_counted_once(call_style, server, llm_of):
    """Usage only in the last choice chunk; in every chunk: read once."""
    counts = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT}
    last = [chat.chunk(content="Hello"), chat.chunk("stop", usage=counts)]
    each = [chat.chunk(content="Hello", usage={**counts, "completion_tokens": 1}), last[1]]
    for frames in (last, each):
        server.script(served("openai_chat", frames))
        usage = reply_to(call_style, llm_of("openai_chat")).usage
        assert (usage.input, usage.output) == (INPUT, OUTPUT)


@every_format
def test_missing_usage_is_none_not_zero(call_style, server, llm_of, format):
    """Usage: none at all is `None`."""
    frames = text_of(format, "Hello", counted=False)
    if format == "anthropic_messages":
        frames[0]["message"].pop("usage")
    server.script(served(format, frames))
    assert reply_to(call_style, llm_of(format)).usage == Usage()


CACHED: dict[str, Any] = {
    "anthropic_messages": {"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30},
    "bedrock_converse": {
        "inputTokens": 10,
        "outputTokens": 5,
        "cacheReadInputTokens": 60,
        "cacheWriteInputTokens": 30,
    },
    "cohere_chat": {"tokens": {"input_tokens": 100, "output_tokens": 5}, "cached_tokens": 60},
    "gemini": {"promptTokenCount": 100, "candidatesTokenCount": 5, "cachedContentTokenCount": 60},
    "gemini_interactions": {"total_input_tokens": 100, "total_output_tokens": 5, "total_cached_tokens": 60},
    "openai_chat": {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
    },
    "openai_responses": {
        "input_tokens": 100,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
    },
}
"""A hundred tokens of input, sixty from the cache and thirty written to it where the vendor says so."""
WITHOUT_WRITTEN = ("cohere_chat", "gemini", "gemini_interactions")
PRICE = Price(input=3, output=15, cached="0.3", cache_written="3.75")


@pytest.mark.parametrize("format", CACHED)
def test_cached_and_written_tokens_are_separate_with_their_own_price(call_style, server, llm_of, format):
    """Cached and cache-written tokens: separate fields; cost uses them."""
    frames = text_of(format, "Hello", counted=False)
    server.script(served(format, counted(format, frames)))
    with call_style.stream(llm_of(format, price=PRICE), "hi") as stream:
        list(stream)
    written = None if format in WITHOUT_WRITTEN else 30
    usage = stream.response.usage
    assert (usage.input, usage.output, usage.cached, usage.cache_written) == (100, 5, 60, written)
    plain = 100 - 60 - (written or 0)
    dollars = plain * Decimal(3) + 60 * Decimal("0.3") + (written or 0) * Decimal("3.75") + 5 * 15
    assert stream.response.cost == dollars / 1_000_000


def counted(format: str, frames: list[Any]) -> list[Any]:
    """Returns the frames with the usage of `CACHED`, in the vendor's fields."""
    counts = CACHED[format]
    if format == "anthropic_messages":
        frames[0]["message"]["usage"] = {**counts, "output_tokens": 1}
        frames[-2]["usage"] = {"output_tokens": 5}
    elif format == "bedrock_converse":
        frames.append({"metadata": {"usage": counts}})
    elif format == "cohere_chat":
        frames[-1]["delta"]["usage"] = counts
    elif format == "gemini":
        frames[-1]["usageMetadata"] = counts
    elif format == "gemini_interactions":
        frames[-1]["interaction"]["usage"] = counts
    elif format == "openai_chat":
        frames.append({**chat.chunk(), "choices": [], "usage": counts})
    else:
        frames[-1]["response"]["usage"] = counts
    return frames
