"""Documents of schema version 1 stay readable: never change the files in `v1`."""

import json
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest

from abstractcore.schema import (
    AttemptRecord,
    AudioPart,
    Billing,
    Blob,
    CachePoint,
    CallRecord,
    CallWarning,
    Citation,
    Delta,
    DocumentPart,
    DroppedSpan,
    ErrorRecord,
    GenerateResponse,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    MediaDecision,
    MediaSent,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    OutputSchema,
    Part,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    Sampling,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolChoice,
    ToolResult,
    ToolSpec,
    Transcript,
    TranscriptSegment,
    TranscriptWord,
    Usage,
    UsageDelta,
    VideoPart,
    canonical_json,
    digest,
    from_json,
    to_json,
)

FOLDER = Path(__file__).parent / "v1"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CITED = TextPart("It rains.", (Citation("https://example.com/a", "A", "rain", 3, 8, {"kind": "web"}),))
REASONED = ReasoningPart("Let me look.", "c2ln", "cmVk", "anthropic/claude")
WEATHER = ToolCall("call_1", "weather", '{"city": "Zürich", "degrees": 1.10}', "sig")
RESULT = ToolResult("call_1", (TextPart("8 °C"), ImagePart(Blob.from_url("https://example.com/sky.png", "image/png"))))
OPTIONS = {"anthropic": {"citations": {"enabled": True}}}
USAGE = Usage(10, 20, 3, 4, 5, 6, 7)
WARNING = CallWarning("unsupported_option", "sampling.top_k", "top_k cannot be asked of this provider", 5)
REPLY = ModelReply(
    parts=(REASONED, CITED, WEATHER),
    finish_reason="tool_calls",
    raw_finish_reason="tool_use",
    usage=USAGE,
    model="claude",
    provider="anthropic",
    id="msg_1",
    warnings=(WARNING,),
    provider_metadata={"service_tier": "standard", "nested": {"list": [1, 2.5, None, True]}},
)
OBJECTS: dict[str, object] = {
    "model_call": ModelCall(
        model="claude",
        messages=(
            Message.system("Be brief."),
            Message.user("What is this?", ImagePart(Blob.from_bytes(b"test", "image/png", name="a.png"), "low")),
            Message.assistant(REASONED, CITED, WEATHER),
            Message.tool(RESULT),
            Message.user(DocumentPart(Blob.from_artifact(HASH, "application/pdf", 4, name="b.pdf"))),
        ),
        provider="anthropic",
        tools=(ToolSpec("weather", "Tells the weather.", PARAMETERS, True, True, True, False),),
        tool_choice=ToolChoice("tool", "weather"),
        parallel_tool_calls=False,
        sampling=Sampling(100, 0.5, 0.9, 40, 7, ("END",), 0.1, -0.1, 2),
        output=OutputSchema("answer", PARAMETERS, "The answer.", False),
        thinking="low",
        modalities=("text", "audio"),
        stream=True,
        strict=True,
        media_policy={"image": "native"},
        provider_options={"anthropic": {"service_tier": "auto"}},
        tags={"team": "a"},
        parent_id="parent",
        trace_context={"traceparent": "00-1-2-01"},
    ),
    "model_call_cached": ModelCall(
        "claude",
        (
            Message("system", (TextPart("Be brief.", cache=CachePoint(3600)),)),
            Message.user(
                ImagePart(Blob.from_bytes(b"test", "image/png"), cache=CachePoint()),
                AudioPart(Blob.from_bytes(b"test", "audio/wav"), cache=CachePoint()),
                VideoPart(Blob.from_bytes(b"test", "video/mp4"), CachePoint()),
                DocumentPart(Blob.from_bytes(b"test", "application/pdf"), CachePoint(300)),
            ),
            Message.assistant(ToolCall("call_1", "weather", cache=CachePoint())),
            Message.tool(ToolResult("call_1", (TextPart("rain"),), cache=CachePoint())),
        ),
        tools=(ToolSpec("weather", cache=CachePoint()),),
    ),
    "model_call_hosted": ModelCall(
        "claude",
        (Message.user("hi"),),
        hosted_tools=(HostedTool("web_search", {"max_uses": 3}), HostedTool("computer_use")),
        cache=True,
    ),
    "model_call_options": ModelCall(
        "claude",
        (
            Message("system", (TextPart("Be brief.", provider_options=OPTIONS),), OPTIONS),
            Message.user(
                ImagePart(Blob.from_bytes(b"test", "image/png"), provider_options=OPTIONS),
                AudioPart(Blob.from_bytes(b"test", "audio/wav"), provider_options=OPTIONS),
                VideoPart(Blob.from_bytes(b"test", "video/mp4"), provider_options=OPTIONS),
                DocumentPart(Blob.from_bytes(b"test", "application/pdf"), provider_options=OPTIONS),
            ),
            Message.assistant(ToolCall("call_1", "weather", provider_options=OPTIONS)),
            Message.tool(ToolResult("call_1", (TextPart("rain"),), provider_options=OPTIONS)),
        ),
    ),
    "model_call_history": ModelCall("m", (Message.user("hi"),), media_history={"image": "text", "audio": "keep"}),
    "model_call_plain": ModelCall("m", (Message.user("hi"),), thinking=2048),
    "model_reply": REPLY,
    "model_reply_empty": ModelReply(),
    "generate_response": GenerateResponse(
        reply=REPLY,
        output={"city": "Zürich"},
        steps=(REPLY,),
        attempts=(AttemptRecord(1, 1700000000.5, 0.25, 429, "req_1", "RateLimitError"), AttemptRecord(2, 1.0, 0.5)),
        usage=USAGE,
        warnings=(WARNING,),
        media=(
            MediaDecision(
                "messages[1].parts[1]", "a.png", "image/png", "image", "fallback", "no eyes", "image",
                MediaSent("text/plain", 8), Usage(1, 2),
            ),
        ),
        provider="anthropic",
        model="claude",
        cost=Decimal("0.001"),
        trace_id="trace",
        seconds=0.75,
    ),
    "call_record": CallRecord(
        trace_id="trace",
        parent_id="parent",
        provider="anthropic",
        model="claude",
        outcome="failed",
        streamed=True,
        started_at=1700000000.5,
        seconds=0.75,
        seconds_to_first=0.25,
        call_digest=HASH,
        reply_digest=HASH,
        call=ModelCall("claude", (Message.user("hi"),)),
        reply=REPLY,
        attempts=(AttemptRecord(1, 1700000000.5, 0.25, 429, "req_1", "RateLimitError"),),
        usage=USAGE,
        cost=Decimal("0.001"),
        media=(MediaDecision("messages[0].parts[0]", "a.png", "image/png", "image", "native", "it sees"),),
        warnings=(WARNING,),
        error=ErrorRecord("RateLimitError", "too many requests", 429, "req_1", True),
        tags={"team": "a"},
    ),
    "message": Message.assistant("hello"),
    "tool_spec": ToolSpec("weather"),
    "blob_bytes": Blob.from_bytes(b"test", "text/plain"),
    "blob_file": Blob("file", "text/plain", location="/files/test.txt", sha256=HASH, size=4, name="test.txt"),
    "blob_url": Blob.from_url("https://example.com/a.png", "image/png", name="a.png"),
    "blob_provider_file": Blob.from_provider_file("openai", "file-1", "application/pdf"),
    "blob_artifact": Blob.from_artifact(HASH, "text/plain", 4),
    "transcript": Transcript(
        (
            TranscriptSegment(
                "Good morning.", 0.5, 1.75,
                (TranscriptWord("Good", 0.5, 0.9, "A", -0.1), TranscriptWord("morning.", 0.9, 1.75)), "A", -0.25, 0.01,
            ),
            TranscriptSegment("Hello."),
        ),
        (DroppedSpan(2.0, 3.5, "silence"),),
        "en", 0.98, 0.25, 4.0, "whisper-base",
    ),
    "text": CITED,
    "reasoning": REASONED,
    "image": ImagePart(Blob.from_url("https://example.com/a.png", "image/png"), "high"),
    "audio": AudioPart(Blob.from_bytes(b"test", "audio/wav"), "hello", "audio_1"),
    "video": VideoPart(Blob.from_bytes(b"test", "video/mp4")),
    "document": DocumentPart(Blob.from_bytes(b"test", "application/pdf", name="b.pdf")),
    "tool_call": WEATHER,
    "tool_call_broken": ToolCall("call_2", "weather", '{"city'),
    "tool_result": RESULT,
    "tool_result_error": ToolResult.text("call_1", "no such city", is_error=True),
    "hosted_tool_call": HostedToolCall("ws_1", "web_search", '{"q": "rain"}', {"status": "done"}),
    "hosted_tool_result": HostedToolResult("ws_1", (CITED,), {"encrypted": "abc"}),
    "opaque": OpaquePart("openai", "compaction", {"id": "cmp_1", "data": [None, 1]}),
    "reply_start": ReplyStart(0, "claude", "anthropic", "msg_1"),
    "text_start": TextStart(1, 0),
    "text_start_options": TextStart(1, 0, OPTIONS),
    "tool_call_start_options": ToolCallStart(7, 2, "call_1", "weather", OPTIONS),
    "text_delta": TextDelta(2, 0, "It rains."),
    "text_end": TextEnd(3, 0, CITED.citations),
    "reasoning_start": ReasoningStart(4, 1, "anthropic/claude"),
    "reasoning_delta": ReasoningDelta(5, 1, "Let me look."),
    "reasoning_end": ReasoningEnd(6, 1, "c2ln", "cmVk"),
    "tool_call_start": ToolCallStart(7, 2, "call_1", "weather"),
    "tool_call_delta": ToolCallDelta(8, 2, '{"city'),
    "tool_call_end": ToolCallEnd(9, 2, "sig"),
    "part": PartDelta(10, 3, AudioPart(Blob.from_bytes(b"test", "audio/wav"))),
    "usage": UsageDelta(11, USAGE),
    "usage_billing": UsageDelta(
        11, Usage(10, 20, billing=Billing(Decimal("0.0125"), "priority", "us", {"cache_write_1h": 4, "web_search": 0}))
    ),
    "reply_end": ReplyEnd(12, "tool_calls", "tool_use", {"service_tier": "standard"}),
}  # fmt: skip
DOCUMENTS = {
    "model_call",
    "model_reply",
    "generate_response",
    "call_record",
    "message",
    "tool_spec",
    "blob",
    "transcript",
}
DIGESTS = json.loads((FOLDER / "digests.json").read_text())


def frozen(name: str) -> str:
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OBJECTS)
def test_v1_document_reads_as_its_object(name: str):
    assert from_json(frozen(name)) == OBJECTS[name]
    assert canonical_json(from_json(frozen(name))) == canonical_json(OBJECTS[name])


@pytest.mark.parametrize("name", OBJECTS)
def test_object_is_written_as_its_v1_document(name: str):
    assert json.loads(to_json(OBJECTS[name])) == json.loads(frozen(name))


@pytest.mark.parametrize("name", OBJECTS)
def test_v1_document_keeps_its_digest(name: str):
    assert digest(from_json(frozen(name))) == DIGESTS[name]


def test_every_document_type_has_a_v1_document():
    kinds = {json.loads(frozen(name))["type"] for name in OBJECTS}
    tags = {member.type for member in (*get_args(Part), *get_args(Delta))}
    assert kinds == tags | DOCUMENTS
    assert {path.stem for path in FOLDER.glob("*.json")} == {*OBJECTS, "digests"}
