"""Encoding calls as requests: parts, options, warnings, refusals."""

import base64
import json
from dataclasses import replace
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
    ImagePart,
    MediaControls,
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
)
from abstractcore_providers.formats.gemini import Gemini, GenerateContentDialect
from tests.providers.answering import answered
from tests.providers.formats.gemini.wire import GEMINI, body_of, call, check_types, parts_of, response

PNG = Blob.from_bytes(b"png", "image/png")
FILE = "https://generativelanguage.googleapis.com/v1beta/files/abc"
SCHEMA = {"type": "object", "title": "o"}
SIGNATURE = "U2lnbmVk"
ASK = Message.user("hi")
HERE = "google/m"


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (ImagePart(PNG), {"inlineData": {"mimeType": "image/png", "data": encoded(b"png")}}),
        (
            AudioPart(Blob.from_bytes(b"flac", "audio/flac")),
            {"inlineData": {"mimeType": "audio/flac", "data": encoded(b"flac")}},
        ),
        (
            VideoPart(Blob.from_url("gs://bucket/a.mp4", "video/mp4")),
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/a.mp4"}},
        ),
        (
            DocumentPart(Blob.from_provider_file("google", FILE, "application/pdf")),
            {"fileData": {"mimeType": "application/pdf", "fileUri": FILE}},
        ),
        (
            VideoPart(
                Blob.from_url("gs://b/a.mp4", "video/mp4"), controls=MediaControls(None, 1.5, 60, 0.5, "low", None)
            ),
            {
                "fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/a.mp4"},
                "videoMetadata": {"startOffset": "1.5s", "endOffset": "60s", "fps": 0.5},
                "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
            },
        ),
        (
            DocumentPart(Blob.from_bytes(b"# A", "text/markdown")),
            {"inlineData": {"mimeType": "text/markdown", "data": encoded(b"# A")}},
        ),
    ],
    ids=["image", "audio", "video by url", "pdf by id", "part of a video", "a text file with its own type"],
)
def test_media_are_encoded(part: Part, written: Any):
    assert parts_of(Message("user", (TextPart("look"), part))) == [{"text": "look"}, written]


@pytest.mark.parametrize(
    ("part", "what"),
    [
        (ImagePart(Blob.from_bytes(b"", "audio/wav")), r"messages\[1\].parts\[1\]: audio/wav cannot be sent as image"),
        (ImagePart(Blob.from_artifact("0" * 64, "image/png", 1)), "is artifact 0000.*, whose bytes are not available"),
        (DocumentPart(Blob.from_provider_file("google", "f", "application/pdf")), "'f' is not the URI of an uploaded"),
        (DocumentPart(Blob.from_provider_file("xai", FILE, "application/pdf")), "is stored by 'xai', not by 'google'"),
    ],
    ids=["sound as image", "artifact", "no URI", "file of another"],
)
def test_unsupported_content_is_refused_with_its_path(part: Any, what: str):
    with pytest.raises(UnsupportedContentError, match=what):
        GEMINI.encode(call(Message.user("hi"), Message.user("look", part)))


def test_image_in_a_tool_result_is_sent_inside_it():
    asked = Message.assistant(ToolCall("c1", "look"))
    result = Message.tool(ToolResult("c1", (TextPart("see"), ImagePart(PNG), TextPart("there"))))
    (part,) = parts_of(ASK, asked, result)
    assert part["functionResponse"] == {
        "name": "look",
        "id": "c1",
        "response": {"output": ["see", {"$ref": "media_1"}, "there"]},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": encoded(b"png"), "displayName": "media_1"}}],
    }


def test_image_in_a_tool_result_moves_beside_it_with_a_marker_if_the_model_requires_that():
    older = Gemini(GenerateContentDialect(media_in_results=frozenset()))
    asked = Message.assistant(ToolCall("c1", "look"), ToolCall("c2", "look"))
    tool_message = Message.tool(ToolResult("c1", (ImagePart(PNG),)), ToolResult.text("c2", "nothing", is_error=True))
    first, second, marker, image = parts_of(ASK, asked, tool_message, transpiler=older)
    assert first["functionResponse"]["response"] == {"output": [{"$ref": "media_1"}]}
    assert second["functionResponse"]["response"] == {"error": "nothing"}
    assert marker == {"text": "[media_1 of the result of tool call c1]"}
    assert image == {"inlineData": {"mimeType": "image/png", "data": encoded(b"png")}}
    assert (
        older.parse(older.encode(call(Message.user("a"), asked, tool_message)).request).call.messages[2] == tool_message
    )


def test_options_of_result_texts_and_merged_system_messages_have_a_warning():
    own = {"google": {"partMetadata": {}}}
    texts = (TextPart("a", provider_options=own), TextPart("b"))
    result = Message.tool(ToolResult("c", texts))
    asked = call(Message("system", texts, own), Message.user("hi"), Message.assistant(ToolCall("c", "f")), result)
    assert [(w.code, w.path) for w in GEMINI.encode(asked).warnings] == [
        ("options_left_out", "messages[3].parts[0].content[0].provider_options.google"),
        ("options_left_out", "messages[0].provider_options.google"),
        ("options_left_out", "messages[0].parts[0].provider_options.google"),
    ]
    with pytest.raises(InvalidInputError) as caught:
        GEMINI.encode(call(Message.user(TextPart("a", provider_options={"google": {"thoughtSignature": "x"}}))))
    assert caught.value.path == "messages[0].parts[0].provider_options.google.thoughtSignature"


def test_audio_in_a_tool_result_moves_beside_it():
    wav = AudioPart(Blob.from_bytes(b"wav", "audio/wav"))
    parts = parts_of(ASK, Message.assistant(ToolCall("c1", "hear")), Message.tool(ToolResult("c1", (wav,))))
    assert [next(iter(part)) for part in parts] == ["functionResponse", "text", "inlineData"]


def test_system_messages_move_to_the_top_with_a_warning():
    messages = (Message.system("a"), Message.user("b"), Message.system("c"), Message.user("d"), Message.system("e"))
    request = GEMINI.encode(call(*messages))
    body = json.loads(request.request.body)
    assert body["systemInstruction"] == {"parts": [{"text": "a"}, {"text": "c"}, {"text": "e"}]}
    assert [content["parts"][0]["text"] for content in body["contents"]] == ["b", "d"]
    assert [(w.code, w.path, w.sent) for w in request.warnings] == [
        ("reordered", "messages[2]", 1),
        ("reordered", "messages[4]", 2),
    ]


def test_reasoning_is_sent_back_in_order_with_signatures():
    """Think, sign, text with a signature, think, two calls of which the first is signed."""
    answer = Message.assistant(
        ReasoningPart("One.", SIGNATURE, origin=HERE),
        TextPart("Let me look."),
        ReasoningPart("", SIGNATURE, origin=HERE),
        ReasoningPart("Two.", origin=HERE),
        ToolCall("c1", "f", '{"a": 1.10}', SIGNATURE),
        ToolCall("c2", "g", ""),
        ReasoningPart("", "YWJj", origin=HERE),
    )
    request = GEMINI.encode(call(*answered(ASK, answer))).request
    assert b'"args":{"a": 1.10}' in request.body
    assert json.loads(request.body)["contents"][1] == {
        "role": "model",
        "parts": [
            {"text": "One.", "thought": True, "thoughtSignature": SIGNATURE},
            {"text": "Let me look.", "thoughtSignature": SIGNATURE},
            {"text": "Two.", "thought": True},
            {"functionCall": {"name": "f", "id": "c1", "args": {"a": 1.1}}, "thoughtSignature": SIGNATURE},
            {"functionCall": {"name": "g", "id": "c2"}},
            {"text": "", "thoughtSignature": "YWJj"},
        ],
    }
    assert GEMINI.encode(call(*answered(ASK, answer))).warnings == ()
    assert GEMINI.parse(request).call.messages[1] == answer


@pytest.mark.parametrize("origin", ["anthropic/m", "google/other", None])
def test_reasoning_of_another_model_is_left_out_with_a_warning(origin: str | None):
    answer = Message.assistant(ReasoningPart("Hm.", SIGNATURE, origin=origin), "Yes.")
    request = GEMINI.encode(call(*answered(ASK, answer)))
    assert json.loads(request.request.body)["contents"][1]["parts"] == [{"text": "Yes."}]
    assert [(w.code, w.path) for w in request.warnings] == [("part_left_out", "messages[1].parts[0]")]


def test_call_signature_of_another_provider_is_left_out_with_a_warning():
    thought = ReasoningPart("Hm.", "x", origin="anthropic/m")
    answer = Message.assistant(thought, ToolCall("c", "f", "{}", SIGNATURE))
    request = GEMINI.encode(call(*answered(ASK, answer)))
    assert "thoughtSignature" not in request.request.body.decode()
    assert [w.path for w in request.warnings] == ["messages[1].parts[0]", "messages[1].parts[1].signature"]
    odd = GEMINI.encode(call(*answered(ASK, Message.assistant(ToolCall("c", "f", "{}", "not base64")))))
    assert [w.code for w in odd.warnings] == ["signature_left_out"]


def test_every_option_has_its_field():
    options = call(
        sampling=Sampling(10, 0, 0.5, 3, 0, ("x",), 1, -1, 0),
        tools=(ToolSpec("f", "F.", SCHEMA), ToolSpec("g")),
        hosted_tools=(HostedTool("web_search", {"timeRangeFilter": {}}), HostedTool("code_interpreter")),
        tool_choice=ToolChoice("tool", "f"),
        output=OutputSchema("o", SCHEMA),
        thinking="low",
        modalities=("text", "image"),
        stream=True,
        provider_options={
            "google": {
                "safetySettings": [{"category": "c"}],
                "generationConfig": {"candidateCount": 1, "imageConfig": {"aspectRatio": "1:1"}},
                "toolConfig": {"retrievalConfig": {"languageCode": "de"}},
                "tools": [{"urlContext": {}}],
            }
        },
    )
    request = GEMINI.encode(options)
    assert request.warnings == ()
    assert request.request.url == "/models/m:streamGenerateContent?alt=sse"
    body = json.loads(request.request.body)
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "f", "description": "F.", "parametersJsonSchema": SCHEMA},
                    {"name": "g"},
                ]
            },
            {"googleSearch": {"timeRangeFilter": {}}},
            {"codeExecution": {}},
            {"urlContext": {}},
        ],
        "toolConfig": {
            "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]},
            "retrievalConfig": {"languageCode": "de"},
        },
        "generationConfig": {
            "maxOutputTokens": 10,
            "temperature": 0,
            "topP": 0.5,
            "topK": 3,
            "seed": 0,
            "presencePenalty": 1,
            "frequencyPenalty": -1,
            "stopSequences": ["x"],
            "responseLogprobs": True,
            "logprobs": 0,
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
            "responseModalities": ["TEXT", "IMAGE"],
            "thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True},
            "candidateCount": 1,
            "imageConfig": {"aspectRatio": "1:1"},
        },
        "safetySettings": [{"category": "c"}],
    }


@pytest.mark.parametrize(
    ("thinking", "written"),
    [
        ("off", {"thinkingBudget": 0}),
        (0, {"thinkingBudget": 0, "includeThoughts": True}),
        (1024, {"thinkingBudget": 1024, "includeThoughts": True}),
        ("high", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("xhigh", {"thinkingLevel": "XHIGH", "includeThoughts": True}),
    ],
)
def test_thinking_is_a_budget_or_a_level(thinking: Any, written: Any):
    body = body_of(call(thinking=thinking))
    assert body["generationConfig"] == {"thinkingConfig": written}
    check_types(body)


@pytest.mark.parametrize(("mode", "written"), [("auto", "AUTO"), ("none", "NONE"), ("required", "ANY")])
def test_tool_choice_is_encoded(mode: Any, written: str):
    body = body_of(call(tools=(ToolSpec("f"),), tool_choice=ToolChoice(mode)))
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": written}}


def test_schemas_with_references_and_unions_are_sent_unchanged():
    schema = {
        "type": "object",
        "$defs": {"a": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "additionalProperties": False,
    }
    request = GEMINI.encode(call(tools=(ToolSpec("f", parameters=schema),)))
    assert request.warnings == ()
    (tools,) = json.loads(request.request.body)["tools"]
    assert tools["functionDeclarations"][0]["parametersJsonSchema"] == schema


def test_minimal_call_has_no_options():
    assert body_of(call()).keys() == {"contents"}


@pytest.mark.parametrize(
    ("fields", "warnings"),
    [
        ({"parallel_tool_calls": False}, [("unsupported_option", "parallel_tool_calls", False, None)]),
        ({"tools": (ToolSpec("f", strict=True),)}, [("unsupported_option", "tools[0].strict", True, None)]),
        (
            {"output": OutputSchema("o", {}, "d", strict=False)},
            [
                ("name_left_out", "output.name", "o", "output"),
                ("description_left_out", "output.description", "d", None),
                ("always_strict", "output.strict", False, True),
            ],
        ),
        (
            {"provider_options": {"anthropic": {"a": 1}}},
            [("other_provider_options", "provider_options.anthropic", None, None)],
        ),
        (
            {
                "messages": (
                    Message.user(
                        TextPart("hi", (Citation("s"),), CachePoint()),
                        ImagePart(PNG, "high", CachePoint()),
                        AudioPart(Blob.from_bytes(b"", "audio/wav"), "words", "a1"),
                    ),
                    Message.assistant(ToolCall("c", "t", "[1]", cache=CachePoint()), OpaquePart("p", "k")),
                    Message.tool(ToolResult("c", (), cache=CachePoint())),
                )
            },
            [
                ("citations_left_out", "messages[0].parts[0].citations", None, None),
                ("cache_left_out", "messages[0].parts[0].cache", None, None),
                ("cache_left_out", "messages[0].parts[1].cache", None, None),
                ("detail_left_out", "messages[0].parts[1].detail", None, None),
                ("transcript_left_out", "messages[0].parts[2].transcript", None, None),
                ("id_left_out", "messages[0].parts[2].id", None, None),
                ("cache_left_out", "messages[1].parts[0].cache", None, None),
                ("arguments_rewritten", "messages[1].parts[0].arguments_text", "[1]", "{}"),
                ("part_left_out", "messages[1].parts[1]", None, None),
                ("cache_left_out", "messages[2].parts[0].cache", None, None),
            ],
        ),
    ],
    ids=["parallel", "strict", "output", "options", "messages"],
)
def test_unsupported_options_have_a_warning(fields: dict[str, Any], warnings: list[tuple[str, str, Any, Any]]):
    messages = fields.pop("messages", ())
    found = GEMINI.encode(call(*messages, **fields)).warnings
    assert [(warning.code, warning.path, warning.requested, warning.sent) for warning in found] == warnings
    assert all(warning.message for warning in found)


@pytest.mark.parametrize(
    ("option", "path"),
    [
        ({"contents": []}, "contents"),
        ({"system_instruction": {}}, "system_instruction"),
        ({"generationConfig": {"temperature": 1}}, "generationConfig.temperature"),
        ({"generation_config": {"max_output_tokens": 1}}, "generation_config.max_output_tokens"),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}, "generationConfig.thinkingConfig"),
        ({"generationConfig": 5}, "generationConfig"),
        ({"tools": [{"functionDeclarations": []}]}, "tools[0]"),
        ({"tools": [{"googleSearch": {}}]}, "tools[0]"),
        (
            {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
            "toolConfig.functionCallingConfig",
        ),
    ],
    ids=lambda option: option if isinstance(option, str) else "",
)
def test_provider_option_with_a_call_field_is_refused(option: dict[str, Any], path: str):
    with pytest.raises(InvalidInputError) as caught:
        GEMINI.encode(call(provider_options={"google": option}))
    assert caught.value.path == f"provider_options.google.{path}"


@pytest.mark.parametrize(
    "option",
    [
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}},
        {"generationConfig": {"responseMimeType": "application/json"}},
        {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}},
        {"cachedContent": "cachedContents/a"},
    ],
    ids=["dynamic thinking", "any JSON", "validated calls", "cache"],
)
def test_provider_option_without_a_call_field_survives_a_round_trip(option: dict[str, Any]):
    request = GEMINI.encode(call(provider_options={"google": option})).request
    assert json.loads(request.body).items() >= option.items()
    assert GEMINI.parse(request).call.provider_options == {"google": option}


def test_empty_call_is_refused():
    with pytest.raises(UnsupportedContentError, match="no field for any part"):
        GEMINI.encode(call(Message.user(OpaquePart("xai", "new", 1))))  # type: ignore[arg-type]


def test_model_name_is_in_the_url():
    for model, url in (("tunedModels/a b", "/tunedModels/a%20b"), ("a/b", "/models/a/b")):
        request = GEMINI.encode(call().with_(model=model)).request
        assert request.url == f"{url}:generateContent"
        assert GEMINI.parse(request).call.model == model


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("gemini-3-pro", "/publishers/google/models/gemini-3-pro"),
        ("meta/llama-4", "/publishers/meta/models/llama-4"),
        ("publishers/meta/models/llama-4", "/publishers/meta/models/llama-4"),
        ("endpoints/123", "/endpoints/123"),
    ],
)
def test_model_name_with_publisher_is_in_the_url(model: str, url: str):
    vertex = Gemini(GenerateContentDialect("vertex", publisher="google", parent="projects/p/locations/l"))
    request = vertex.encode(call().with_(model=model, provider="vertex")).request
    assert request.url == f"{url}:generateContent"
    assert vertex.parse(request).call.model == model.removeprefix("publishers/").replace("/models/", "/")


def test_unsigned_first_call_of_a_turn_gets_a_placeholder_signature_if_required():
    newer = Gemini(GenerateContentDialect(signed_calls=True))
    calls = (ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}"))
    results = Message.tool(ToolResult.text("c1", "a"), ToolResult.text("c2", "b"))
    asked = call(Message.user("hi"), Message.assistant(*calls), results)
    request = newer.encode(asked)
    first, second = json.loads(request.request.body)["contents"][1]["parts"]
    assert first["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in second
    assert request.warnings == ()
    assert newer.parse(request.request).call.messages == asked.messages
    check_types(json.loads(request.request.body))
    signed = call(Message.user("hi"), Message.assistant(replace(calls[0], signature=SIGNATURE), calls[1]), results)
    assert json.loads(newer.encode(signed).request.body)["contents"][1]["parts"][0]["thoughtSignature"] == SIGNATURE


def test_token_count_request_contains_the_whole_call():
    counted = call(Message.system("s"), Message.user("hi"), sampling=Sampling(5), tool_choice=ToolChoice("none"))
    request = GEMINI.operations["count_tokens"].encode(counted).request
    assert request.url == "/models/m:countTokens"
    body = json.loads(request.body)
    assert body == {"generateContentRequest": {"model": "models/m", **body_of(counted)}}
    vertex = Gemini(GenerateContentDialect("vertex", count_wrapped=False, publisher="google"))
    vertex = vertex.operations["count_tokens"].encode(counted.with_(provider="vertex")).request
    assert vertex.url == "/publishers/google/models/m:countTokens"
    assert json.loads(vertex.body).keys() == {"contents", "systemInstruction", "generationConfig"}
    assert GEMINI.operations["count_tokens"].decode(response({"totalTokens": 31}), None) == 31
    for broken in ({}, b"no"):
        with pytest.raises(ServerError):
            GEMINI.operations["count_tokens"].decode(response(broken), None)


def test_level_above_those_of_the_format_becomes_the_highest():
    warnings = GEMINI.encode(call(thinking="max")).warnings
    assert [(w.code, w.path, w.requested, w.sent) for w in warnings] == [
        ("thinking_changed", "thinking", "max", "xhigh")
    ]
    assert body_of(call(thinking="max")) == body_of(call(thinking="xhigh"))
