"""Content and options that not every format supports, end to end, sync and async.

What a policy makes of each kind of file is tested sync and async in tests/core/engine/test_lowering.py.
"""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from abstractcore import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    Services,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    UnsupportedContentError,
    UnsupportedOptionError,
    VideoPart,
    create_llm,
)
from abstractcore.schema import Sampling, SchemaError, from_data
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import PATIENCE_SECONDS
from tests.media_doubles import SOUND, registry
from tests.providers.answering import answered
from tests.providers.conftest import VENDORS
from tests.providers.wire_streams import answered_with, call_in

every_format = pytest.mark.parametrize("format", FORMATS)
PNG = Blob.from_bytes(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ),
    "image/png",
    name="dot.png",
)
PDF = (Path(__file__).parents[1] / "media" / "files" / "linearized.pdf").read_bytes()
FILES = {
    "audio": AudioPart(Blob.from_bytes(b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav", name="hello.wav")),
    "video": VideoPart(Blob.from_bytes(b"\0\0\0\x18ftypmp42", "video/mp4", name="clip.mp4")),
    "document": DocumentPart(Blob.from_bytes(PDF, "application/pdf", name="report.pdf")),
}
WITHOUT = {
    "audio": [name for name in FORMATS if not name.startswith("gemini")],
    "video": [name for name in FORMATS if not name.startswith("gemini")],
    "document": ["cohere_chat", "ollama"],
}
"""The formats whose vendor's model takes no such file."""


def refused_unsent(call_style, server, llm, error, **request):
    """The error in which a call ends that never reaches the server."""
    with pytest.raises(error) as caught:
        call_style.generate(llm, **request)
    assert server.requests == []
    return caught.value


# Files


@pytest.mark.parametrize(("kind", "format"), [(kind, name) for kind, names in WITHOUT.items() for name in names])
def test_unsupported_file_is_refused_before_sending_without_a_fallback(call_style, server, llm_of, kind, format):
    """Audio / video / PDF to a dialect without it: refuse before sending."""
    error = refused_unsent(
        call_style,
        server,
        llm_of(format),
        UnsupportedContentError,
        messages=[Message.user("look", FILES[kind])],
        media_policy={kind: "native"},
    )
    assert FILES[kind].blob.name in error.message
    assert "messages[0].parts[1]" in error.message
    assert "leave the file out" in error.hint


@pytest.fixture
def hearing(services) -> Services:
    """Services whose handlers make text of sounds."""
    made = Services(registry=registry(), environment={}, random=lambda: 0.0)
    yield made
    made.close()


@pytest.mark.parametrize("format", WITHOUT["audio"])
def test_audio_is_transcribed_for_a_dialect_without_it(call_style, server, hearing, format):
    """Audio to a dialect without audio: transcribe."""
    provider, model = VENDORS[format]
    llm = create_llm(
        provider, model=model, base_url=server.url, api_key="k", timeout=PATIENCE_SECONDS, services=hearing
    )
    server.script(answered_with(format))
    response = call_style.generate(llm, "What is said?", media=[SOUND + b"hello there"])
    assert [decision.route for decision in response.media] == ["fallback"]
    assert b"sound says" in server.requests[0].body
    assert b"untrusted-file" in server.requests[0].body


@pytest.mark.process
@pytest.mark.parametrize("format", [name for name in FORMATS if name not in WITHOUT["document"]])
def test_pdf_is_sent_natively_where_supported(call_style, server, llm_of, format):
    """PDF: native where taken, by policy where the provider reads only a part of it, as Bedrock without citations."""
    server.script(answered_with(format))
    messages = [Message.user("read", FILES["document"])]
    response = call_style.generate(llm_of(format), messages=messages, media_policy={"document": "native"})
    assert [decision.route for decision in response.media] == ["native"]
    lossy = [warning.code for warning in response.warnings if warning.code == "lossy_at_provider"]
    assert lossy == (["lossy_at_provider"] if format == "bedrock_converse" else [])
    assert base64.b64encode(PDF) in server.requests[0].body


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "ollama"])
def test_files_stand_before_the_prompt(call_style, server, llm_of, format):
    """Claude works best with images before text (https://platform.claude.com/docs/en/build-with-claude/vision), and the
    prompt comes after the image for Gemini (https://ai.google.dev/gemini-api/docs/image-understanding). Ollama has
    images in a list of their own.
    """
    server.script(answered_with(format))
    call_style.generate(llm_of(format), "What is shown here?", media=[ImagePart(PNG)])
    body = server.requests[0].body
    assert 0 < body.index(base64.b64encode(PNG.read())) < body.index(b"What is shown here?")


def test_text_file_is_a_text_document_at_anthropic(call_style, server, llm_of):
    """A text file to Anthropic: a text document block."""
    notes = DocumentPart(Blob.from_bytes(b"# Notes", "text/markdown", name="notes.md"))
    plain = DocumentPart(Blob.from_bytes(b"# Notes", "text/plain", name="notes.txt"))
    server.script(answered_with("anthropic_messages"))
    server.script(answered_with("anthropic_messages"))
    llm = llm_of("anthropic_messages")
    call_style.generate(llm, messages=[Message.user("read", plain)], media_policy={"text": "native"})
    call_style.generate(llm, messages=[Message.user("read", notes)])
    native, inline = (request.json["messages"][0]["content"] for request in server.requests)
    assert native[1]["type"] == "document"
    assert native[1]["source"] == {"type": "text", "media_type": "text/plain", "data": "# Notes"}
    assert "# Notes" in str(inline)
    assert b"application/pdf" not in server.requests[1].body


LOOK = (
    Message.user("Look."),
    Message.assistant(ToolCall("call_1", "camera")),
    Message.tool(ToolResult("call_1", (TextPart("Here: "), ImagePart(PNG)))),
)


@every_format
def test_image_in_a_tool_result_is_sent_inside_or_after_it_with_a_marker(call_style, server, llm_of, format):
    """Image inside a tool result: native where taken, else moved beside the result with a marker naming the call."""
    server.script(answered_with(format))
    warnings = call_style.generate(llm_of(format), messages=list(LOOK)).warnings
    body = server.requests[0].body.decode()
    image = base64.b64encode(PNG.read()).decode()
    assert body.count(image) == 1
    assert "Here: " in body
    if format in BESIDE:
        assert "of the result of tool call call_1]" in body[: body.index(image)]
    moved = [warning.path for warning in warnings if warning.code == "moved_after_results"]
    assert moved == (["messages[2].parts[0].content[1]"] if format in ("cohere_chat", "openai_chat") else [])


BESIDE = ("cohere_chat", "gemini", "openai_chat")
"""Formats of whose models some take no pictures in results."""


def test_image_in_a_tool_result_is_refused_before_sending_where_nothing_may_follow(call_style, server, llm_of):
    """Image inside a tool result, where no user message may follow a tool message: refused with its path."""
    llm = llm_of("openai_chat", provider="mistral", model="mistral-large-latest")
    error = refused_unsent(call_style, server, llm, UnsupportedContentError, messages=list(LOOK))
    assert "messages[2].parts[0].content[1]" in error.message


@every_format
def test_unknown_part_is_left_out_with_a_warning_or_refused_with_its_path(call_style, server, llm_of, format):
    """Unknown content part: typed error naming the part. One of another provider's is left out with a warning."""
    with pytest.raises(SchemaError, match=r"parts\[0\].*hologram"):
        from_data(Message, {"role": "user", "parts": [{"type": "hologram"}]})
    server.script(answered_with(format))
    strange = Message("user", (TextPart("hi"), OpaquePart("elsewhere", "hologram", {"a": 1})))
    response = call_style.generate(llm_of(format), messages=[strange])
    assert "messages[0].parts[1]" in [warning.path for warning in response.warnings if warning.sent is None]
    assert b"hologram" not in server.requests[0].body


# System messages


IN_PLACE = ("cohere_chat", "ollama", "openai_chat", "openai_responses")
"""Formats that allow system messages anywhere."""
MERGED = {"gemini_interactions": "First.\n\nSecond."}
"""Formats that have one text for all system messages."""


@every_format
def test_second_system_message_stays_or_is_moved_with_a_warning(call_style, server, llm_of, format):
    """Second system message mid-conversation: kept in place where the format allows; else in order, with a warning."""
    messages = [
        Message.system("First."),
        Message.user("one"),
        Message.assistant("two"),
        Message.system("Second."),
        Message.user("three"),
    ]
    server.script(answered_with(format))
    response = call_style.generate(llm_of(format), messages=messages)
    body = server.requests[0].body.decode()
    moved = [warning.path for warning in response.warnings if warning.code == "reordered"]
    merged = [warning.path for warning in response.warnings if warning.code == "merged"]
    assert moved == ([] if format in IN_PLACE or format in MERGED else ["messages[3]"])
    assert merged == (["messages[0].parts", "messages[3]"] if format in MERGED else [])
    assert body.count("First.") == body.count("Second.") == 1
    if format in IN_PLACE:
        assert body.index("First.") < body.index("two") < body.index("Second.") < body.index("three")
        return
    systems = [message.text for message in call_in(format, server.requests[0]).messages if message.role == "system"]
    assert systems == ([MERGED[format]] if format in MERGED else ["First.", "Second."])


# Options


TUNING = {
    "seed": 7,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "top_logprobs": 2,
    "stop": "END",
    "top_k": 40,
}
TAKEN = {
    "anthropic_messages": {"stop", "top_k"},
    "bedrock_converse": {"stop", "top_k"},
    "cohere_chat": {"seed", "presence_penalty", "frequency_penalty", "stop", "top_k"},
    "gemini": {"seed", "top_logprobs", "stop", "top_k"},
    "gemini_interactions": {"seed", "stop"},
    "ollama": {"seed", "presence_penalty", "frequency_penalty", "top_logprobs", "stop", "top_k"},
    "openai_chat": {"seed", "presence_penalty", "frequency_penalty", "top_logprobs", "stop"},
    "openai_responses": {"top_logprobs"},
}
RESPONSES_MODEL = {"openai_responses": {"model": "gpt-4.1"}}
"""A model that takes what the format has."""


@pytest.mark.parametrize("option", TUNING)
@every_format
def test_unsupported_option_is_a_warning_and_an_error_in_strict_mode(call_style, server, llm_of, format, option):
    """seed, penalties, logprobs, stop, top_k where not taken: typed warning; `strict=True` makes it an error."""
    llm, given = llm_of(format, **RESPONSES_MODEL.get(format, {})), {option: TUNING[option]}
    server.always(answered_with(format))
    response = call_style.generate(llm, "hi", max_output_tokens=100, **given)
    path = f"sampling.{option}"
    warned = [warning for warning in response.warnings if warning.path == path]
    if option in TAKEN[format]:
        assert warned == []
        assert getattr(call_in(format, server.requests[0]).sampling, option) == getattr(
            Sampling(**{**given, **({"stop": ("END",)} if option == "stop" else {})}), option
        )
        call_style.generate(llm, "hi", max_output_tokens=100, strict=True, **given)
        return
    (warning,) = warned
    assert warning.code in ("unsupported_option", "alternatives_left_out")
    assert warning.sent in (None, 0)
    with pytest.raises(UnsupportedOptionError, match=path):
        call_style.generate(llm, "hi", max_output_tokens=100, strict=True, **given)
    assert len(server.requests) == 1


# Tool schemas


MCP_SCHEMA = {
    "type": "object",
    "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}},
    "properties": {
        "place": {"$ref": "#/$defs/Place"},
        "when": {"oneOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["place"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3-flash-preview"])
def test_mcp_schema_is_sent_to_gemini_as_json_schema(call_style, server, llm_of, model):
    """MCP tool schemas with $defs/$ref/additionalProperties/oneOf to Gemini: sent in the field that takes them."""
    server.script(answered_with("gemini"))
    spec = ToolSpec("forecast", "The weather.", MCP_SCHEMA)
    call_style.generate(llm_of("gemini", model=model), "hi", tools=[spec])
    (declared,) = server.requests[0].json["tools"][0]["functionDeclarations"]
    assert "parameters" not in declared
    sent = declared["parametersJsonSchema"]
    assert sent["properties"]["place"] in (MCP_SCHEMA["properties"]["place"], MCP_SCHEMA["$defs"]["Place"])
    assert set(sent["properties"]) == {"place", "when", "labels"}


def test_results_of_other_tests_follow_their_calls():
    asked = Message.assistant(ToolCall("a", "f"), ToolCall("b", "f"))
    whole = answered(Message.user("hi"), asked, Message.user("go on"))
    assert [message.role for message in whole] == ["user", "assistant", "tool", "user"]
    assert [part.call_id for part in whole[2].parts] == ["a", "b"]
