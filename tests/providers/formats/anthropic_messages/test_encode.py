"""Encoding calls as requests: parts, options, warnings, refusals."""

import base64
import json
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, ServerError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    Citation,
    DocumentPart,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    OpaquePart,
    OutputSchema,
    Part,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    VideoPart,
    WireRequest,
)
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages, MessagesDialect
from tests.providers.answering import answered
from tests.providers.formats.anthropic_messages.wire import MESSAGES, ORIGIN, body_of, call, response

PNG = Blob.from_bytes(b"png", "image/png")
PDF = Blob.from_bytes(b"%PDF", "application/pdf", name="a.pdf")
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
TOOL = ToolSpec("f", "F.", SCHEMA)


def encoded64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def content_of(*parts: Any) -> Any:
    return body_of(call(Message.user(*parts)))["messages"][0]["content"]


def warned(**fields: Any) -> list[tuple[str, str, Any, Any]]:
    messages = fields.pop("messages", ())
    found = MESSAGES.encode(call(*messages, **fields)).warnings
    assert all(warning.message for warning in found)
    return [(warning.code, warning.path, warning.requested, warning.sent) for warning in found]


# Content


def test_minimal_call_matches_the_reference():
    assert body_of(call()) == {"model": "m", "max_tokens": 20_000, "messages": [{"role": "user", "content": "hi"}]}
    request = MESSAGES.encode(call()).request
    assert (request.url, request.method, request.headers) == ("/messages", "POST", {"content-type": "application/json"})


@pytest.mark.parametrize(
    ("part", "source"),
    [
        (ImagePart(PNG), {"type": "base64", "media_type": "image/png", "data": encoded64(b"png")}),
        (ImagePart(Blob.from_url("https://a/b", "image/*")), {"type": "url", "url": "https://a/b"}),
        (ImagePart(Blob.from_provider_file("anthropic", "f1", "image/png")), {"type": "file", "file_id": "f1"}),
        (DocumentPart(PDF), {"type": "base64", "media_type": "application/pdf", "data": encoded64(b"%PDF")}),
        (DocumentPart(Blob.from_url("https://a/b", "application/pdf")), {"type": "url", "url": "https://a/b"}),
        (
            DocumentPart(Blob.from_provider_file("anthropic", "f1", "application/pdf")),
            {"type": "file", "file_id": "f1"},
        ),
        (
            DocumentPart(Blob.from_bytes("Grün".encode(), "text/plain")),
            {"type": "text", "media_type": "text/plain", "data": "Grün"},
        ),
    ],
)
def test_file_is_sent_by_its_source(part: Any, source: Any):
    encoded = MESSAGES.encode(call(Message.user(part)))
    (block,) = json.loads(encoded.request.body)["messages"][0]["content"]
    assert (block["type"], block["source"], encoded.warnings) == (part.type, source, ())


def test_text_file_is_a_text_document_for_any_text_type():
    part = DocumentPart(Blob.from_bytes(b"# Title", "text/markdown", name="notes.md"))
    (block,) = content_of(part)
    assert block["title"] == "notes.md"
    assert block["source"] == {"type": "text", "media_type": "text/plain", "data": "# Title"}
    assert warned(messages=(Message.user(part),)) == [
        ("relabelled", "messages[0].parts[0].blob.media_type", "text/markdown", "text/plain")
    ]


@pytest.mark.parametrize(
    "part",
    [
        AudioPart(Blob.from_bytes(b"x", "audio/wav")),
        VideoPart(Blob.from_bytes(b"x", "video/mp4")),
        ImagePart(Blob.from_bytes(b"x", "image/tiff")),
        ImagePart(Blob.from_artifact("0" * 64, "image/png", 1)),
        ImagePart(Blob.from_provider_file("openai", "f", "image/png")),
        DocumentPart(Blob.from_bytes(b"x", "application/msword")),
        DocumentPart(Blob.from_bytes(b"\xff", "text/plain")),
        DocumentPart(Blob.from_url("https://a", "text/plain")),
    ],
    ids=lambda part: part.blob.media_type,
)
def test_unsupported_content_is_refused_with_its_path(part: Any):
    with pytest.raises(UnsupportedContentError, match=r"messages\[0\]\.parts\[1\]"):
        MESSAGES.encode(call(Message.user("look", part)))
    asked = Message.assistant(ToolCall("c1", "f"))
    with pytest.raises(UnsupportedContentError, match=r"messages\[1\]\.parts\[0\]\.content\[0\].*'c1'"):
        MESSAGES.encode(call(asked, Message.tool(ToolResult("c1", (part,)))))


def test_images_and_documents_are_sent_inside_tool_results():
    result = ToolResult("c1", (TextPart("see"), ImagePart(PNG), DocumentPart(PDF)), is_error=True)
    body = body_of(call(Message.assistant(ToolCall("c1", "f")), Message.tool(result)))
    (block,) = body["messages"][1]["content"]
    assert (block["type"], block["tool_use_id"], block["is_error"]) == ("tool_result", "c1", True)
    assert [item["type"] for item in block["content"]] == ["text", "image", "document"]


def test_empty_tool_result_has_no_content():
    body = body_of(call(Message.assistant(ToolCall("c1", "f")), Message.tool(ToolResult("c1", ()))))
    assert body["messages"][1]["content"] == [{"type": "tool_result", "tool_use_id": "c1"}]


@pytest.mark.parametrize("others", [(ToolCall("c1", "f"),), ()], ids=["a call", "nothing else"])
def test_whitespace_only_answer_text_is_left_out(others: Any):
    answer = Message.assistant(TextPart("\n\n"), *others)
    result = [Message.tool(ToolResult.text(part.id, "done")) for part in others]
    encoded = MESSAGES.encode(call(Message.user("hi"), answer, *result, Message.user("and?")))
    texts = [block for message in json.loads(encoded.request.body)["messages"] for block in message["content"]]
    assert {"type": "text", "text": "\n\n"} not in texts
    assert [(each.code, each.path) for each in encoded.warnings] == [("part_left_out", "messages[1].parts[0]")]


def test_whitespace_next_to_words_is_unchanged():
    point = CachePoint()
    parts = (TextPart("\n", cache=point), ToolCall("c1", "f"), TextPart("words"))
    encoded = MESSAGES.encode(call(Message("assistant", parts), Message.tool(ToolResult.text("c1", "done"))))
    (answer, _) = json.loads(encoded.request.body)["messages"]
    assert [block.get("text") for block in answer["content"]] == ["\n", None, "words"]
    assert encoded.warnings == ()


# System messages


def test_first_system_message_is_the_system_prompt():
    body = body_of(call(Message.system("Be brief."), Message.user("hi")))
    assert body["system"] == "Be brief."
    assert len(body["messages"]) == 1


MIXED = (
    Message.system("a"),
    Message.user("b"),
    Message.system("c"),
    Message.assistant("d"),
    Message.system("e"),
    Message.user("f"),
)


def test_later_system_messages_move_to_the_top_with_a_warning():
    body = body_of(call(*MIXED))
    assert [block["text"] for block in body["system"]] == ["a", "c", "e"]
    assert [message["content"] for message in body["messages"]] == ["b", [{"type": "text", "text": "d"}], "f"]
    assert warned(messages=MIXED) == [("reordered", "messages[2]", 2, 1), ("reordered", "messages[4]", 4, 2)]


def test_system_messages_stay_in_place_for_models_that_accept_it():
    transpiler = AnthropicMessages(MessagesDialect(system_in_place=True))
    body = body_of(call(*MIXED), transpiler)
    assert [block["text"] for block in body["system"]] == ["a", "e"]
    assert [message["role"] for message in body["messages"]] == ["user", "system", "assistant", "user"]


def test_messages_ending_in_a_cache_point_are_not_merged():
    first = Message("system", (TextPart("a", cache=CachePoint()), TextPart("b", cache=CachePoint())))
    made = call(first, Message.system("c"), Message.user("hi"))
    encoded = MESSAGES.encode(made)
    assert encoded.warnings == ()
    assert MESSAGES.parse(encoded.request).call.messages == made.messages


def test_conversation_of_system_messages_only_is_refused():
    with pytest.raises(InvalidInputError, match="only system messages") as caught:
        MESSAGES.encode(call(Message.system("a")))
    assert caught.value.path == "messages"


# Answers


TURN = (
    ReasoningPart("Two.", "s1", origin=ORIGIN),
    ReasoningPart(redacted_data="xyz", origin=ORIGIN),
    TextPart("So."),
    ReasoningPart("", "s2", origin=ORIGIN),
    ToolCall("c1", "f", '{"a": 1.10,\n "b" : 2}'),
    ToolCall("c2", "f", "{}"),
)


def test_answer_is_sent_back_in_order_with_signatures_and_arguments():
    request = MESSAGES.encode(call(*answered(Message("assistant", TURN)))).request
    assert [block["type"] for block in json.loads(request.body)["messages"][0]["content"]] == [
        "thinking",
        "redacted_thinking",
        "text",
        "thinking",
        "tool_use",
        "tool_use",
    ]
    assert b'"input":{"a": 1.10,\n "b" : 2}' in request.body
    assert MESSAGES.parse(request).call.messages[0].parts == TURN


def test_reasoning_of_another_model_is_left_out_with_a_warning():
    made = call(*answered(Message("assistant", TURN))).with_(model="another")
    encoded = MESSAGES.encode(made)
    assert [warning.path for warning in encoded.warnings] == [f"messages[0].parts[{i}]" for i in (0, 1, 3)]
    assert {warning.code for warning in encoded.warnings} == {"reasoning_left_out"}


@pytest.mark.parametrize(
    ("part", "warning"),
    [
        (ReasoningPart("r", origin=ORIGIN), ("reasoning_left_out", "", None, None)),
        (ReasoningPart("r", "s", "d", ORIGIN), ("redacted_data_left_out", ".redacted_data", None, None)),
        (ReasoningPart("r", None, "d", ORIGIN), ("text_left_out", ".text", None, None)),
        (ImagePart(PNG), ("part_left_out", "", None, None)),
        (OpaquePart("openai", "k", {"a": 1}), ("part_left_out", "", None, None)),
        (OpaquePart("anthropic", "text", {"text": "a"}), ("part_left_out", "", None, None)),
        (HostedToolCall("h", "web_search"), ("part_left_out", "", None, None)),
        (HostedToolResult("h", (TextPart("found"),)), ("part_left_out", "", None, None)),
        (TextPart("a", (Citation("https://a"),)), ("citation_left_out", ".citations[0]", None, None)),
        (ToolCall("c", "f", signature="s"), ("signature_left_out", ".signature", None, None)),
        (ToolCall("c", "f", ""), ("arguments_changed", ".arguments_text", "", "{}")),
        (ToolCall("c", "f", " {} "), ("arguments_changed", ".arguments_text", " {} ", "{}")),
        (
            ToolCall("c", "f", "{broken"),
            ("arguments_changed", ".arguments_text", "{broken", '{"INVALID_JSON":"{broken"}'),
        ),
    ],
)
def test_unsupported_parts_of_an_answer_have_a_warning(part: Part, warning: tuple[str, str, Any, Any]):
    code, inside, requested, sent = warning
    found = warned(messages=answered(Message("assistant", (part, TextPart("so"))), Message.user("go on")))
    assert found == [(code, f"messages[0].parts[0]{inside}", requested, sent)]


def test_provider_parts_are_sent_back():
    place = {"type": "page_location", "document_index": 0, "start_page_number": 1, "end_page_number": 2}
    parts = (
        HostedToolCall("h", "web_search", '{"query": "a"}', {"type": "server_tool_use"}),
        HostedToolResult("h", (), {"type": "web_search_tool_result", "content": []}),
        OpaquePart("anthropic", "compaction", {"content": "c"}),
        TextPart("Not cited.", (Citation("T", "T", "q", 4, 9, place),)),
    )
    request = MESSAGES.encode(call(Message("assistant", parts), Message.user("go on"))).request
    content = json.loads(request.body)["messages"][0]["content"]
    kinds = ["server_tool_use", "web_search_tool_result", "compaction", "text", "text", "text"]
    assert [block["type"] for block in content] == kinds
    assert content[4] == {
        "type": "text",
        "text": "cited",
        "citations": [{**place, "document_title": "T", "cited_text": "q"}],
    }
    assert MESSAGES.parse(request).call.messages[0].parts == parts


def test_opaque_parts_of_the_vendor_are_sent():
    parts = (
        OpaquePart("anthropic", "search_result", {"source": "a", "title": "t", "content": []}),
        OpaquePart("anthropic", "document", {"source": {"type": "content", "content": "x"}}),
        OpaquePart("anthropic", "note", {"text": "n"}),
        TextPart("hi"),
    )
    made = call(Message("user", parts))
    encoded = MESSAGES.encode(made)
    assert encoded.warnings == ()
    assert MESSAGES.parse(encoded.request).call.messages == made.messages


def test_tool_set_has_no_name():
    toolset = HostedTool("computer_use", {"configs": {"zoom": {"enabled": False}}})
    made = call(hosted_tools=(toolset,))
    assert body_of(made)["tools"] == [{"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}}]
    assert MESSAGES.parse(MESSAGES.encode(made).request).call.hosted_tools == (toolset,)


def test_thinking_off_is_written_in_the_models_own_way():
    newest = AnthropicMessages(MessagesDialect(off="between_tools"))
    made = call(thinking="off")
    assert body_of(made, newest)["thinking"] == {"type": "between_tools"}
    assert newest.parse(newest.encode(made).request).call.thinking == "off"
    other = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "a"}],
        "thinking": {"type": "disabled"},
    }
    parsed = newest.parse(WireRequest("/messages", {}, json.dumps(other).encode())).call
    assert parsed.provider_options == {"anthropic": {"thinking": {"type": "disabled"}}}


def test_item_options_are_written_into_their_objects():
    cited: Any = {"anthropic": {"citations": {"enabled": True}, "context": "c"}}
    called, toolset = {"anthropic": {"caller": {"type": "direct"}}}, {"anthropic": {"toolset_name": "computer"}}
    shown = TextPart("a", provider_options={"anthropic": {"y": 2}})
    made = call(
        Message("user", (DocumentPart(PDF, provider_options=cited), TextPart("hi")), {"anthropic": {"x": 1}}),
        Message.assistant(ToolCall("c1", "f", provider_options=called)),
        Message.tool(ToolResult("c1", (shown,), provider_options=toolset)),
    )
    asked, said, answer = body_of(made)["messages"]
    assert asked["x"] == 1
    assert (asked["content"][0]["citations"], asked["content"][0]["context"]) == ({"enabled": True}, "c")
    assert said["content"][0]["caller"] == {"type": "direct"}
    assert answer["content"][0]["toolset_name"] == "computer"
    assert answer["content"][0]["content"] == [{"type": "text", "text": "a", "y": 2}]
    assert MESSAGES.parse(MESSAGES.encode(made).request).call.messages == made.messages


def test_item_options_without_an_object_or_of_other_providers_have_a_warning():
    own: Any = {"anthropic": {"x": 1}}
    quote = Citation("u", start=0, end=1, provider_metadata={"encrypted_index": "e"})
    found = warned(
        messages=(
            Message("system", (TextPart("s"),), own),
            Message("user", (TextPart("hi", provider_options={"openai": {"x": 1}}),)),
            Message.assistant(TextPart("ab", (quote,), provider_options=own)),
            Message.user("so?"),
        )
    )
    assert [(code, path) for code, path, _, _ in found] == [
        ("options_left_out", "messages[0].provider_options.anthropic"),
        ("other_provider_options", "messages[1].parts[0].provider_options.openai"),
        ("options_left_out", "messages[2].parts[0].provider_options.anthropic"),
    ]


def test_item_option_with_a_schema_field_is_refused_with_its_path():
    part = TextPart("hi", provider_options={"anthropic": {"cache_control": {"type": "ephemeral"}}})
    with pytest.raises(InvalidInputError) as caught:
        MESSAGES.encode(call(Message("user", (part,))))
    assert caught.value.path == "messages[0].parts[0].provider_options.anthropic.cache_control"


def test_system_texts_with_options_stay_in_their_message():
    one = TextPart("a", provider_options={"anthropic": {"x": 1}})
    several = Message("system", (one, TextPart("b")))
    made = call(several, Message("system", (one,)), Message.system("c"), Message.user("d"))
    encoded = MESSAGES.encode(made)
    assert encoded.warnings == ()
    assert MESSAGES.parse(encoded.request).call.messages == made.messages


def test_invalid_ids_are_replaced_deterministically():
    turn = (
        Message.assistant(ToolCall("a b", "f"), ToolCall("ok", "f"), ToolCall("", "f")),
        Message.tool(ToolResult.text("a b", "1"), ToolResult.text("ok", "2"), ToolResult.text("", "3")),
    )
    names = [block["id"] for block in body_of(call(*turn))["messages"][0]["content"]]
    assert names == ["call_0_0", "ok", "call_0_2"]
    longer = body_of(call(*turn, *turn))["messages"]
    assert [block["id"] for block in longer[0]["content"]] == names
    assert [block["tool_use_id"] for block in longer[1]["content"]] == names
    again = [block["id"] for block in longer[2]["content"]]
    assert again == [block["tool_use_id"] for block in longer[3]["content"]]
    assert not set(again) & set(names)


# Cache points


def test_cache_points_are_written_on_parts_and_tools_with_their_ttl():
    made = call(
        Message("system", (TextPart("s", cache=CachePoint(3600)),)),
        Message.user(TextPart("a", cache=CachePoint()), ImagePart(PNG, cache=CachePoint(300))),
        Message.assistant(TextPart("b", cache=CachePoint()), ToolCall("c1", "f", cache=CachePoint())),
        Message.tool(ToolResult("c1", (TextPart("x", cache=CachePoint()),), cache=CachePoint())),
        tools=(ToolSpec("f", "", SCHEMA, cache=CachePoint(3600)),),
    )
    body = body_of(made)
    plain, hour = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
    assert body["system"][0]["cache_control"] == hour
    user, assistant, tool = body["messages"]
    marks = [block["cache_control"] for block in (*user["content"], *assistant["content"], *tool["content"])]
    assert marks == [plain, {"type": "ephemeral", "ttl": "5m"}, plain, plain, plain]
    assert tool["content"][0]["content"][0]["cache_control"] == plain
    assert body["tools"][0]["cache_control"] == hour
    assert MESSAGES.encode(made).warnings == ()


@pytest.mark.parametrize(("asked", "sent"), [(10, 300), (301, 3600), (86400, 3600)])
def test_unsupported_ttl_becomes_the_closest(asked: int, sent: int):
    found = warned(messages=(Message.user(TextPart("a", cache=CachePoint(asked))),))
    assert found == [("cache_time_changed", "messages[0].parts[0].cache.ttl", asked, sent)]


@pytest.mark.parametrize(
    ("tool", "system", "result", "user", "shortened"),
    [
        (3600, 3600, 3600, 300, []),
        (3600, 3600, None, None, []),
        (300, 3600, None, None, ["messages[0].parts[0]"]),
        (None, 3600, None, 3600, ["messages[0].parts[0]", "messages[3].parts[0]"]),
        (3600, 300, None, 3600, ["messages[3].parts[0]"]),
        (3600, 3600, 300, 3600, ["messages[2].parts[0]", "messages[3].parts[0]"]),
    ],
)
def test_ttl_of_a_cache_point_is_capped_by_earlier_ones(
    tool: int | None, system: int | None, result: int | None, user: int | None, shortened: list[str]
):
    messages = (
        Message("system", (TextPart("s", cache=CachePoint(system)),)),
        Message.assistant(ToolCall("c1", "f")),
        Message.tool(ToolResult("c1", (TextPart("x", cache=CachePoint(result)),), cache=CachePoint(3600))),
        Message.user(TextPart("a", cache=CachePoint(user))),
    )
    if result is None:
        messages = (*messages[:2], Message.tool(ToolResult.text("c1", "x")), messages[3])
    found = warned(messages=messages, tools=(ToolSpec("f", "", SCHEMA, cache=CachePoint(tool)),))
    assert found == [("cache_time_changed", f"{path}.cache.ttl", 3600, 300) for path in shortened]


def test_moved_system_message_keeps_its_cache_point():
    messages = (
        Message.user(TextPart("a", cache=CachePoint(3600))),
        Message("system", (TextPart("s", cache=CachePoint(300)),)),
    )
    found = [warning[:2] for warning in warned(messages=messages)]
    assert found == [("reordered", "messages[1]"), ("cache_time_changed", "messages[0].parts[0].cache.ttl")]


# Options


def test_every_option_has_its_field():
    options = call(
        sampling=Sampling(100, 0.5, 0.9, 40, stop=("END",)),
        tools=(TOOL, ToolSpec("g", strict=True)),
        hosted_tools=(HostedTool("web_search", {"max_uses": 5}), HostedTool("code_interpreter")),
        tool_choice=ToolChoice("tool", "f"),
        parallel_tool_calls=False,
        output=OutputSchema("Answer", {**SCHEMA, "title": "Answer"}),
        stream=True,
        provider_options={"anthropic": {"metadata": {"user_id": "u"}, "output_config": {"effort": "max"}}},
    )
    body = body_of(options)
    del body["model"], body["messages"]
    assert MESSAGES.encode(options).warnings == ()
    assert body == {
        "max_tokens": 100,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "stop_sequences": ["END"],
        "tools": [
            {"name": "f", "description": "F.", "input_schema": SCHEMA},
            {
                "name": "g",
                "input_schema": {
                    "type": "object",
                    "description": "No parameters.",
                    "properties": {},
                    "required": [],
                    "additionalProperties": False,
                },
                "strict": True,
            },
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
            {"type": "code_execution_20250825", "name": "code_execution"},
        ],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        "output_config": {"format": {"type": "json_schema", "schema": {**SCHEMA, "title": "Answer"}}, "effort": "max"},
        "stream": True,
        "metadata": {"user_id": "u"},
    }


@pytest.mark.parametrize(
    ("thinking", "fields"),
    [
        ("off", {"thinking": {"type": "disabled"}}),
        (8192, {"thinking": {"type": "enabled", "budget_tokens": 8192}}),
        ("high", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
    ],
)
def test_thinking_is_a_budget_an_effort_or_off(thinking: Any, fields: Any):
    assert body_of(call(thinking=thinking)).items() >= fields.items()
    assert warned(thinking=thinking) == []


@pytest.mark.parametrize("level", ["xhigh", "max"])
def test_highest_levels_are_efforts(level: Any):
    assert warned(thinking=level) == []
    assert body_of(call(thinking=level))["output_config"] == {"effort": level}


def test_minimal_thinking_becomes_low():
    assert warned(thinking="minimal") == [("thinking_changed", "thinking", "minimal", "low")]
    assert body_of(call(thinking="minimal"))["output_config"] == {"effort": "low"}


def test_missing_token_limit_is_set_with_a_warning_and_room_to_think():
    plain = Sampling()
    assert warned(sampling=plain) == [("limit_added", "sampling.max_output_tokens", None, 4096)]
    assert body_of(call(sampling=plain, thinking=10_000))["max_tokens"] == 14_096


@pytest.mark.parametrize(
    ("fields", "warnings"),
    [
        (
            {"sampling": Sampling(9, 1.5, seed=1, presence_penalty=0.5, frequency_penalty=0.5, top_logprobs=2)},
            [
                ("temperature_changed", "sampling.temperature", 1.5, 1.0),
                ("unsupported_option", "sampling.seed", 1, None),
                ("unsupported_option", "sampling.presence_penalty", 0.5, None),
                ("unsupported_option", "sampling.frequency_penalty", 0.5, None),
                ("unsupported_option", "sampling.top_logprobs", 2, None),
            ],
        ),
        (
            {"tools": (TOOL,), "tool_choice": ToolChoice("none"), "parallel_tool_calls": False},
            [("no_effect", "parallel_tool_calls", False, None)],
        ),
        ({"modalities": ("text", "audio")}, [("unsupported_option", "modalities", ["text", "audio"], None)]),
        (
            {"provider_options": {"openai": {"a": 1}}},
            [("other_provider_options", "provider_options.openai", None, None)],
        ),
    ],
    ids=["sampling", "parallel", "modalities", "options"],
)
def test_unsupported_options_have_a_warning(fields: dict[str, Any], warnings: Any):
    assert warned(**fields) == warnings


def test_enforced_schema_is_closed_and_drops_unenforced_constraints():
    loose = {
        "title": "Answer",
        "type": "object",
        "properties": {"minimum": {"type": "integer", "minimum": 1, "oneOf": [{"type": "integer"}]}},
        "$defs": {"D": {"type": "object", "properties": {"u": {"type": "string", "format": "uri", "maxLength": 9}}}},
    }
    closed = {
        "title": "Answer",
        "type": "object",
        "properties": {"minimum": {"type": "integer", "anyOf": [{"type": "integer"}]}},
        "$defs": {
            "D": {
                "type": "object",
                "properties": {"u": {"type": "string", "format": "uri"}},
                "additionalProperties": False,
            }
        },
        "additionalProperties": False,
    }
    made = call(output=OutputSchema("Answer", loose))
    assert body_of(made)["output_config"]["format"]["schema"] == closed
    ((code, path, _, _),) = warned(output=made.output)
    assert (code, path) == ("schema_rewritten", "output.schema")


# Provider options and hosted tools


@pytest.mark.parametrize(
    "option",
    [
        {"model": "n"},
        {"messages": []},
        {"system": "a"},
        {"max_tokens": 5},
        {"temperature": 1},
        {"stream": True},
        {"tool_choice": {"type": "auto"}},
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
        {"tools": [{"name": "f", "input_schema": {}}]},
        {"betas": ["a,b"]},
        {"betas": []},
    ],
    ids=lambda option: next(iter(option)),
)
def test_provider_option_with_a_call_field_is_refused(option: dict[str, Any]):
    with pytest.raises(InvalidInputError) as caught:
        MESSAGES.encode(call(provider_options={"anthropic": option}))
    assert caught.value.path.startswith(f"provider_options.anthropic.{next(iter(option))}")


@pytest.mark.parametrize(
    "option",
    [
        {"service_tier": "auto"},
        {"thinking": {"type": "adaptive", "display": "omitted"}},
        {"output_config": {"effort": "max"}},
        {"tools": [{"type": "bash_20250124", "name": "bash"}]},
        {"cache_control": {"type": "ephemeral"}},
    ],
)
def test_provider_option_without_a_call_field_is_sent(option: dict[str, Any]):
    made = call(provider_options={"anthropic": option})
    assert body_of(made).items() >= option.items()
    assert MESSAGES.parse(MESSAGES.encode(made).request).call == made


def test_betas_are_merged_into_the_header():
    options = {"type": "computer_20250124", "display_width_px": 1024, "display_height_px": 768}
    screen = HostedTool("computer_use", options)
    made = call(hosted_tools=(screen,), provider_options={"anthropic": {"betas": ["context-1m-2025-08-07"]}})
    request = MESSAGES.encode(made).request
    assert request.headers["anthropic-beta"] == "computer-use-2025-01-24,context-1m-2025-08-07"
    assert MESSAGES.parse(request).call == made


def test_hosted_tool_version_is_selected_by_its_type():
    made = call(hosted_tools=(HostedTool("web_search", {"type": "web_fetch_20250910", "name": "web_fetch"}),))
    assert body_of(made)["tools"] == [{"type": "web_fetch_20250910", "name": "web_fetch"}]
    assert MESSAGES.parse(MESSAGES.encode(made).request).call == made


def test_unsupported_hosted_tools_are_refused():
    with pytest.raises(UnsupportedContentError, match=r"hosted_tools\[0\].*file_search"):
        MESSAGES.encode(call(hosted_tools=(HostedTool("file_search"),)))
    with pytest.raises(InvalidInputError) as caught:
        MESSAGES.encode(call(hosted_tools=(HostedTool("web_search", {"type": "bash_20250124"}),)))
    assert caught.value.path == "hosted_tools[0].options"


def test_parameters_that_are_no_object_are_refused():
    with pytest.raises(InvalidInputError) as caught:
        MESSAGES.encode(call(tools=(ToolSpec("f", parameters={"type": "array"}),)))
    assert caught.value.path == "tools[0].parameters.type"


# Counting


def test_token_count_request_omits_sampling():
    made = call(Message.system("s"), Message.user("hi"), tools=(TOOL,), sampling=Sampling(temperature=0.5), stream=True)
    encoded = MESSAGES.operations["count_tokens"].encode(made)
    assert encoded.request.url == "/messages/count_tokens"
    assert json.loads(encoded.request.body).keys() == {"model", "system", "messages", "tools"}
    assert encoded.warnings == ()


def test_token_count_is_read():
    assert MESSAGES.operations["count_tokens"].decode(response({"input_tokens": 2095}), None) == 2095
    for body in (b"{}", b"<html>", b'{"input_tokens": "many"}'):
        with pytest.raises(ServerError):
            MESSAGES.operations["count_tokens"].decode(response(body), None)
