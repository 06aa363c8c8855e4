"""Requests: what is written where, and what is left out with a warning or refused."""

from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    Citation,
    DocumentPart,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    MediaControls,
    Message,
    ModelCall,
    OpaquePart,
    OutputSchema,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    VideoPart,
)
from abstractcore.testing import check_call_losses, check_encode_again
from tests.providers.formats.gemini_interactions.wire import INTERACTIONS, PROVIDER, body_of, call, steps_of

ORIGIN = f"{PROVIDER}/m"
UPLOADED = "https://generativelanguage.googleapis.com/v1beta/files/abc"
SIGNATURE = "c2lnbg=="


def warnings_of(some: ModelCall) -> dict[str, str]:
    """The codes of the warnings by path, after a check that each is true and none is missing."""
    check_call_losses(INTERACTIONS, some)
    check_encode_again(INTERACTIONS, some)
    return {warning.path: warning.code for warning in INTERACTIONS.encode(some).warnings}


def test_smallest_request_stores_nothing():
    assert body_of(call()) == {
        "model": "m",
        "input": [{"type": "user_input", "content": [{"type": "text", "text": "hi"}]}],
        "store": False,
    }
    assert INTERACTIONS.encode(call()).request.url == "/interactions"


def test_stream_is_in_the_body():
    encoded = INTERACTIONS.encode(call(stream=True))
    assert encoded.request.url == "/interactions"
    assert b'"stream":true' in encoded.request.body


def test_settings_of_all_kinds():
    body = body_of(
        call(
            sampling=Sampling(100, 0.5, 0.9, seed=7, stop=("END",)),
            thinking="low",
            tool_choice=ToolChoice("tool", "price"),
            tools=(ToolSpec("price", "A price.", {"type": "object", "properties": {"of": {"type": "string"}}}),),
            hosted_tools=(HostedTool("web_search"), HostedTool("file_search", {"top_k": 5})),
        )
    )
    assert body["generation_config"] == {
        "max_output_tokens": 100,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "stop_sequences": ["END"],
        "thinking_level": "low",
        "thinking_summaries": "auto",
        "tool_choice": {"allowed_tools": {"mode": "any", "tools": ["price"]}},
    }
    assert [tool["type"] for tool in body["tools"]] == ["function", "google_search", "file_search"]
    assert body["tools"][2] == {"type": "file_search", "top_k": 5}


@pytest.mark.parametrize(("mode", "sent"), [("auto", "auto"), ("none", "none"), ("required", "any")])
def test_tool_choice(mode: Any, sent: str):
    assert body_of(call(tool_choice=ToolChoice(mode)))["generation_config"] == {"tool_choice": sent}


def test_what_the_format_lacks_is_named():
    some = call(
        sampling=Sampling(top_k=3, presence_penalty=0.5, frequency_penalty=0.5, top_logprobs=2),
        thinking=1024,
        parallel_tool_calls=False,
        tools=(ToolSpec("f", strict=True),),
    )
    assert warnings_of(some) == dict.fromkeys(
        (
            "sampling.top_k",
            "sampling.presence_penalty",
            "sampling.frequency_penalty",
            "sampling.top_logprobs",
            "thinking",
            "parallel_tool_calls",
            "tools[0].strict",
        ),
        "unsupported_option",
    )


@pytest.mark.parametrize(
    ("thinking", "level", "code"),
    [("off", None, "unsupported_option"), ("xhigh", "xhigh", None), ("max", "xhigh", "thinking_changed")],
)
def test_thinking_levels(thinking: Any, level: str | None, code: str | None):
    some = call(thinking=thinking)
    assert body_of(some).get("generation_config", {}).get("thinking_level") == level
    assert warnings_of(some) == ({} if code is None else {"thinking": code})


SCHEMA = OutputSchema("o", {"title": "o", "type": "object", "properties": {"n": {"type": "integer"}}})
WRITTEN = {"type": "text", "mime_type": "application/json", "schema": dict(SCHEMA.schema)}


@pytest.mark.parametrize(
    ("output", "modalities", "sent"),
    [
        (SCHEMA, (), WRITTEN),
        (None, ("image",), [{"type": "image"}]),
        (SCHEMA, ("image", "text"), [{"type": "image"}, WRITTEN]),
    ],
)
def test_response_format(output: Any, modalities: Any, sent: Any):
    assert body_of(call(output=output, modalities=modalities))["response_format"] == sent


def test_schema_without_the_modality_text_adds_it_with_a_warning():
    some = call(output=SCHEMA, modalities=("image",))
    assert body_of(some)["response_format"] == [{"type": "image"}, WRITTEN]
    assert warnings_of(some) == {"modalities": "modalities_changed"}


# Messages


def test_all_system_messages_are_one_text():
    some = call(Message.user("hi"), Message.system("One."), Message.assistant("ho"), Message.system("Two."))
    body = body_of(some)
    assert body["system_instruction"] == "One.\n\nTwo."
    assert [step["type"] for step in body["input"]] == ["user_input", "model_output"]
    assert warnings_of(some) == {"messages[1].parts": "merged", "messages[3]": "merged", "messages[1]": "reordered"}


def test_media_of_every_kind():
    parts = (
        ImagePart(Blob.from_bytes(b"ia", "image/png"), controls=MediaControls(resolution="low")),
        AudioPart(Blob.from_url("gs://b/a.wav", "audio/wav")),
        VideoPart(Blob.from_provider_file(PROVIDER, UPLOADED, "video/mp4"), controls=MediaControls(end=90.25, fps=2)),
        DocumentPart(Blob.from_bytes(b"ia", "application/pdf")),
    )
    (step,) = body_of(call(Message("user", parts)))["input"]
    assert step["content"] == [
        {"type": "image", "mime_type": "image/png", "data": "aWE=", "resolution": "low"},
        {"type": "audio", "mime_type": "audio/wav", "uri": "gs://b/a.wav"},
        {
            "type": "video",
            "mime_type": "video/mp4",
            "uri": UPLOADED,
            "processing": {"type": "static", "end_offset": "90.25s", "fps": 2},
        },
        {"type": "document", "mime_type": "application/pdf", "data": "aWE="},
    ]


@pytest.mark.parametrize(
    "blob",
    [
        Blob.from_provider_file("google", UPLOADED, "image/png"),
        Blob.from_provider_file(PROVIDER, "file-1", "image/png"),
        Blob.from_artifact("0" * 64, "image/png", 3),
    ],
    ids=["another provider's", "no URI", "artifact"],
)
def test_file_that_cannot_be_sent_is_refused_with_its_path(blob: Blob):
    with pytest.raises(UnsupportedContentError, match=r"messages\[0\]\.parts\[0\]"):
        INTERACTIONS.encode(call(Message("user", (ImagePart(blob),))))


def test_url_of_an_uploaded_file_is_a_stored_file():
    some = call(Message("user", (DocumentPart(Blob.from_url(UPLOADED, "application/pdf")),)))
    assert warnings_of(some) == {"messages[0].parts[0].blob": "sent_by_reference"}


def test_whole_turn_of_the_model_is_steps_in_its_order():
    parts = (
        ReasoningPart("Hm.", SIGNATURE, origin=ORIGIN),
        TextPart("Let me look.", (Citation("https://a", "A", start=0, end=3),)),
        ImagePart(Blob.from_bytes(b"ia", "image/png")),
        HostedToolCall("h", "google_search", '{"queries": ["a"]}', {PROVIDER: {"type": "google_search_call"}}),
        HostedToolResult("h", (), {PROVIDER: {"type": "google_search_result", "result": []}}),
        OpaquePart(PROVIDER, "hologram", {"type": "hologram", "projection": "cubic"}),
        ToolCall("c1", "price", '{"of": 1.10}'),
    )
    some = call(Message.user("hi"), Message("assistant", parts), Message.tool(ToolResult.text("c1", "12")))
    assert warnings_of(some) == {}
    steps = body_of(some)["input"]
    assert [step["type"] for step in steps] == [
        "user_input",
        "thought",
        "model_output",
        "google_search_call",
        "google_search_result",
        "hologram",
        "function_call",
        "function_result",
    ]
    assert steps[1] == {"type": "thought", "signature": SIGNATURE, "summary": [{"type": "text", "text": "Hm."}]}
    note = {"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 3}
    assert steps[2]["content"][0] == {"type": "text", "text": "Let me look.", "annotations": [note]}
    assert steps[7] == {"type": "function_result", "call_id": "c1", "name": "price", "result": "12"}
    assert b'"arguments":{"of": 1.10}' in INTERACTIONS.encode(some).request.body


def test_offsets_of_citations_are_bytes():
    text = TextPart("Grüße 😀!", (Citation("https://a", start=3, end=7),))
    (step,) = steps_of(Message("assistant", (text,)))
    note = step["content"][0]["annotations"][0]
    assert text.text.encode()[note["start_index"] : note["end_index"]].decode() == text.text[3:7]


def test_citation_of_another_provider_is_sent_without_its_metadata():
    metadata = {"type": "char_location", "document_index": 0}
    cited = TextPart("hi", (Citation("https://a", "A", "quoted", 0, 2, metadata),))
    (step,) = steps_of(Message("assistant", (cited,)))
    (note,) = step["content"][0]["annotations"]
    assert note == {"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 2}
    path = "messages[1].parts[0].citations[0]"
    assert warnings_of(call(Message.user("hi"), Message("assistant", (cited,)))) == {
        f"{path}.quote": "quote_left_out",
        f"{path}.provider_metadata": "provider_metadata_left_out",
    }


@pytest.mark.parametrize(
    ("thought", "warned"),
    [
        (ReasoningPart("Hm.", SIGNATURE, origin="google/m"), {"messages[1].parts[0]": "part_left_out"}),
        (ReasoningPart("Hm.", "not base64", origin=ORIGIN), {"messages[1].parts[0].signature": "signature_left_out"}),
        (ReasoningPart("", None, "redacted", origin=ORIGIN), {"messages[1].parts[0]": "part_left_out"}),
        (ReasoningPart("Hm.", origin=ORIGIN), {}),
    ],
    ids=["of another provider", "strange signature", "redacted", "unsigned"],
)
def test_thoughts_that_cannot_be_sent_whole(thought: ReasoningPart, warned: dict[str, str]):
    assert warnings_of(call(Message.user("hi"), Message("assistant", (thought, TextPart("ho"))))) == warned


def test_adjacent_assistant_messages_are_one_turn():
    some = call(
        Message.user("hi"),
        Message("assistant", (TextPart("a"), ReasoningPart("x", origin="other/m"))),
        Message("assistant", (TextPart("b"), ToolCall("c1", "f"))),
        Message.tool(ToolResult.text("c1", "12")),
    )
    assert warnings_of(some) == {"messages[1].parts": "merged", "messages[2]": "merged"}
    assert [step["type"] for step in body_of(some)["input"]] == [
        "user_input",
        "model_output",
        "function_call",
        "function_result",
    ]


def test_merged_messages_have_no_warnings_of_their_parts():
    """Also where the name of a called tool is changed."""
    some = call(
        Message.user("hi"), Message.assistant("a"), Message.assistant(ToolCall("c1", "1")), Message.tool("c1", "12")
    )
    assert warnings_of(some) == {"messages[1].parts": "merged", "messages[2]": "merged"}


def test_results_have_text_files_and_errors():
    calls = [ToolCall(f"c{i}", "f") for i in range(4)]
    results = (
        ToolResult.text("c0", "no such thing", is_error=True),
        ToolResult("c1", (TextPart("see"), ImagePart(Blob.from_bytes(b"ia", "image/png")))),
        ToolResult("c2", ()),
        ToolResult("c3", (TextPart("a", provider_options={PROVIDER: {"new": 1}}),)),
    )
    *_, first, second, third, fourth = steps_of(Message.assistant(*calls), Message.tool(*results))
    assert (first["result"], first["is_error"]) == ("no such thing", True)
    image = {"type": "image", "mime_type": "image/png", "data": "aWE="}
    assert second["result"] == [{"type": "text", "text": "see"}, image]
    assert (third["result"], "is_error" in third) == ("", False)
    assert fourth["result"] == [{"type": "text", "text": "a", "new": 1}]


def test_signature_of_a_call_is_left_out_since_thoughts_have_it():
    signed = ToolCall("c1", "f", signature=SIGNATURE)
    some = call(Message.user("hi"), Message.assistant(signed), Message.tool(ToolResult.text("c1", "12")))
    assert warnings_of(some) == {"messages[1].parts[0].signature": "signature_left_out"}


# Options


@pytest.mark.parametrize(
    "options",
    [
        {"service_tier": "flex", "labels": {"a": "b"}, "safety_settings": [{"type": "harassment", "threshold": "off"}]},
        {"store": True, "previous_interaction_id": "v1"},
        {"continuation_token": "tok"},
        {"generation_config": {"speech_config": [{"voice": "kore"}], "thinking_summaries": "none"}},
        {"generation_config": {"tool_choice": "validated"}},
        {"generation_config": {"thinking_level": "low"}},
        {"tools": [{"type": "url_context"}, {"type": "mcp_server", "url": "https://m"}]},
        {"response_format": [{"type": "image", "aspect_ratio": "16:9"}]},
        {"response_format": {"type": "object", "properties": {}}},
        {"agent": True, "agent_config": {"type": "dynamic"}, "environment": "remote"},
    ],
    ids=lambda options: "+".join(options),
)
def test_options_are_fields_of_the_request(options: Any):
    some = call(provider_options={PROVIDER: options})
    assert warnings_of(some) == {}
    body = body_of(some)
    assert {name: body[name] for name in options} == options | ({"agent": "m"} if "agent" in options else {})


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"model": "x"}, "model"),
        ({"input": "x"}, "input"),
        ({"stream": True}, "stream"),
        ({"agent": "deep-research"}, "agent"),
        ({"generation_config": {"seed": 1}}, "generation_config.seed"),
        ({"generation_config": {"tool_choice": "any"}}, "generation_config.tool_choice"),
        (
            {"generation_config": {"thinking_level": "low", "thinking_summaries": "auto"}},
            "generation_config.thinking_level",
        ),
        ({"generation_config": 5}, "generation_config"),
        ({"tools": [{"type": "google_search"}]}, "tools[0]"),
        ({"tools": {}}, "tools"),
        ({"response_format": {"type": "text", "mime_type": "application/json", "schema": {}}}, "response_format"),
    ],
)
def test_option_with_a_field_of_the_call_is_refused(options: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        INTERACTIONS.encode(call(provider_options={PROVIDER: options}))
    assert caught.value.path == f"provider_options.{PROVIDER}.{path}"


def test_default_option_has_no_effect():
    assert warnings_of(call(provider_options={PROVIDER: {"store": False}})) == {
        f"provider_options.{PROVIDER}": "no_effect"
    }


def test_background_answer_need_not_be_streamed():
    some = call(provider_options={PROVIDER: {"background": True}})
    assert warnings_of(some) == {}
    assert {"stream", "store"}.isdisjoint(body_of(some))


def test_background_answer_can_be_streamed():
    some = call(stream=True, provider_options={PROVIDER: {"background": True}})
    assert warnings_of(some) == {}
    assert body_of(some)["background"] is True
    assert "store" not in body_of(some), "it must be stored, which is the provider's default"


def test_background_answer_that_is_not_stored_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        INTERACTIONS.encode(call(stream=True, provider_options={PROVIDER: {"background": True, "store": False}}))
    assert caught.value.path == f"provider_options.{PROVIDER}.store"


def test_agent_has_no_generation_config():
    some = call(
        sampling=Sampling(100, stop=("x",)),
        thinking="low",
        tool_choice=ToolChoice("auto"),
        provider_options={PROVIDER: {"agent": True}},
    )
    body = body_of(some)
    assert (body["agent"], "model" in body, "generation_config" in body) == ("m", False, False)
    paths = ("sampling.max_output_tokens", "sampling.stop", "thinking", "tool_choice")
    assert warnings_of(some) == dict.fromkeys(paths, "unsupported_option")


def test_type_among_the_options_of_a_hosted_tool_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        INTERACTIONS.encode(call(hosted_tools=(HostedTool("web_search", {"type": "x"}),)))
    assert caught.value.path == "hosted_tools[0].options.type"


# State on the server

STORED = {PROVIDER: {"previous_interaction_id": "v1", "store": True}}
ASKED = Message.assistant(TextPart("Let me look."), ToolCall("c1", "f", '{"a": 1}'))
GIVEN = Message.tool(ToolResult.text("c1", "12"))


def test_results_continue_a_stored_interaction_without_its_turn():
    some = call(Message.system("Be brief."), ASKED, GIVEN, Message.user("And?"), provider_options=STORED)
    body = body_of(some)
    assert [step["type"] for step in body["input"]] == ["function_result", "user_input"]
    assert body["input"][0]["call_id"] == "c1"
    assert warnings_of(some) == {
        "messages[1].parts[0]": "part_left_out",
        "messages[1].parts[1].arguments_text": "arguments_left_out",
    }


@pytest.mark.parametrize(
    "messages",
    [
        (Message.user("hi"), ASKED, GIVEN),
        (Message.assistant("ho"), Message.user("And?")),
        (ASKED, GIVEN, Message.assistant("ho"), Message.user("And?")),
    ],
)
def test_stored_conversation_is_not_repeated(messages: Any):
    with pytest.raises(InvalidInputError, match="already contain it"):
        INTERACTIONS.encode(call(*messages, provider_options=STORED))


def test_without_the_option_the_turn_is_sent():
    some = call(Message.user("hi"), ASKED, GIVEN)
    assert [step["type"] for step in body_of(some)["input"]][1:3] == ["model_output", "function_call"]
