"""Calls with one feature each, to see how any format handles it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from abstractcore.schema import (
    MEDIA_PARTS,
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
    ModelCall,
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
from tests.providers.published import fixtures, provider_of, reply_of, request_of

MODEL = "m"
PNG = Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png")
JPEG = Blob.from_url("https://example.com/cat.jpg", "image/jpeg")
WAV = Blob.from_bytes(b"RIFF\0\0\0\0WAVE", "audio/wav")
MP3 = Blob.from_bytes(b"ID3", "audio/mpeg")
MP4 = Blob.from_bytes(b"\0\0\0\x18ftypmp42", "video/mp4")
PDF = Blob.from_bytes(b"%PDF-1.7", "application/pdf", name="report.pdf")
PDF_ELSEWHERE = Blob.from_url("https://example.com/report.pdf", "application/pdf")
MARKDOWN = Blob.from_bytes(b"# Title", "text/markdown", name="notes.md")
ASK = Message.user("hi")
CALL = ToolCall("call_1", "weather", '{"city":"Ulm"}')
WEATHER = ToolSpec(
    "weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
)
ANSWER = OutputSchema(
    "answer",
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False},
)


@dataclass(frozen=True)
class Probe:
    """A call, and the path of the probed value."""

    call: ModelCall
    path: str


def user(part: Part) -> Probe:
    return _at(0, Message("user", (part,)))


def assistant(*parts: Part, look_at: int = -1) -> Probe:
    """The last of `parts` is looked at, unless `look_at` is another; tool calls get their results."""
    results = tuple(ToolResult.text(part.id, "sunny") for part in parts if isinstance(part, ToolCall))
    after = [Message.tool(*results)] if results else [Message.user("go on")]
    return _at(1, ASK, Message("assistant", parts), *after, part=look_at % len(parts))


def tool(result: ToolResult, inside: str = "") -> Probe:
    probe = _at(2, ASK, Message.assistant(replace(CALL, id=result.call_id)), Message.tool(result))
    return replace(probe, path=probe.path + inside)


def _at(place: int, *messages: Message, part: int = 0) -> Probe:
    return Probe(ModelCall(MODEL, messages), f"messages[{place}].parts[{part}]")


def option(path: str, **fields: Any) -> Probe:
    return Probe(ModelCall(MODEL, (ASK,), **fields), path)


PRINTED: Mapping[str, Callable[[Any], object]] = {
    "user: file stored by the provider": lambda part: (
        isinstance(part, MEDIA_PARTS) and part.blob.form == "provider_file"
    ),
    "assistant: text with citations": lambda part: isinstance(part, TextPart) and part.citations,
    "assistant: reasoning, signed": lambda part: isinstance(part, ReasoningPart) and part.signature,
    "assistant: reasoning, redacted": lambda part: isinstance(part, ReasoningPart) and part.redacted_data,
    "assistant: tool call, signed": lambda part: isinstance(part, ToolCall) and part.signature,
    "assistant: hosted tool call": lambda part: isinstance(part, HostedToolCall),
    "assistant: hosted tool result": lambda part: isinstance(part, HostedToolResult),
    "assistant: opaque part of its own": lambda part: isinstance(part, OpaquePart),
}
"""Parts that only their vendor can create: published examples are used."""


def printed(format: str, matches: Callable[[Any], object]) -> Probe | None:
    """Returns the first such part of the published examples, in a conversation that continues after it."""
    for fixture in fixtures("request", "reply", "stream"):
        if fixture.format != format:
            continue
        if fixture.kind == "request":
            call = fixture.transpiler.parse(request_of(fixture)).call
        else:
            reply = reply_of(fixture)
            model = reply.model or MODEL
            parts = [_owned(part, f"{provider_of(format)}/{model}") for part in reply.parts]
            call = assistant(*parts).call.with_(model=model)
        for i, message in enumerate(call.messages):
            for j, part in enumerate(message.parts):
                if message.role in ("user", "assistant") and matches(part):
                    return Probe(call, f"messages[{i}].parts[{j}]")
    return None


def _owned(part: Part, origin: str) -> Part:
    """Some formats do not say whose reasoning it is: the session does."""
    return replace(part, origin=origin) if isinstance(part, ReasoningPart) and part.origin is None else part


def part_probes(format: str) -> Mapping[str, Probe]:
    """One for each part, and each of its forms that formats distinguish."""
    defaults = _default_probes(provider_of(format))
    found = {name: printed(format, matches) for name, matches in PRINTED.items()}
    return {name: found.get(name) or probe for name, probe in defaults.items()}


def _default_probes(provider: str) -> Mapping[str, Probe]:
    origin = f"{provider}/{MODEL}"
    signed, redacted = ReasoningPart("hm", "sig", origin=origin), ReasoningPart(redacted_data="x", origin=origin)
    thought, hi = ReasoningPart("hm", origin=origin), TextPart("hi")
    kept = Blob.from_provider_file(provider, "file-1", "application/pdf")
    search = HostedToolCall("h_1", "web_search", '{"query":"ulm"}')
    point = CachePoint()
    own, inside = {provider: {"some_new_field": 1}}, f".provider_options.{provider}"
    return {
        "user: text": user(hi),
        "user: image": user(ImagePart(PNG)),
        "user: image by URL": user(ImagePart(JPEG)),
        "user: image with detail": user(ImagePart(PNG, "low")),
        "user: audio, WAV": user(AudioPart(WAV)),
        "user: audio, MP3": user(AudioPart(MP3)),
        "user: video, MP4": user(VideoPart(MP4)),
        "user: PDF": user(DocumentPart(PDF)),
        "user: PDF by URL": user(DocumentPart(PDF_ELSEWHERE)),
        "user: file stored by the provider": user(DocumentPart(kept)),
        "user: Markdown file": user(DocumentPart(MARKDOWN)),
        "system: first": _at(0, Message.system("Be brief."), ASK),
        "system: in the middle": _at(2, ASK, Message.assistant("ho"), Message.system("Be brief."), ASK),
        "assistant: text": assistant(hi),
        "assistant: text with citations": assistant(
            TextPart("hi", (Citation("https://example.com", "Example", "hi", 0, 2),))
        ),
        "assistant: image": assistant(ImagePart(PNG)),
        "assistant: reasoning": assistant(thought, hi, look_at=0),
        "assistant: reasoning, signed": assistant(signed, hi, look_at=0),
        "assistant: reasoning, redacted": assistant(redacted, hi, look_at=0),
        "assistant: reasoning of another model": assistant(replace(signed, origin="x/y"), hi, look_at=0),
        "assistant: tool call": assistant(CALL),
        "assistant: tool call, signed": assistant(replace(CALL, signature="sig")),
        "assistant: tool calls in parallel": assistant(CALL, replace(CALL, id="call_2")),
        "assistant: tool call after text": assistant(hi, CALL),
        "assistant: text after a tool call": assistant(CALL, hi),
        "assistant: hosted tool call": assistant(search),
        "assistant: hosted tool result": assistant(search, HostedToolResult("h_1", (TextPart("found"),))),
        "assistant: opaque part of its own": assistant(hi, OpaquePart(provider, "kind", {"type": "kind"})),
        "assistant: opaque part of another provider": assistant(hi, OpaquePart("x", "kind", {"type": "kind"})),
        "tool: text": tool(ToolResult.text("call_1", "sunny")),
        "tool: error": tool(ToolResult.text("call_1", "no such city", is_error=True)),
        "tool: image": tool(ToolResult("call_1", (ImagePart(PNG),)), ".content[0]"),
        "tool: PDF": tool(ToolResult("call_1", (DocumentPart(PDF),)), ".content[0]"),
        "options of a message": replace(
            _at(0, Message("user", (hi,), own)), path=f"messages[0].provider_options.{provider}"
        ),
        "options of a text": _within(user(TextPart("hi", provider_options=own)), inside),
        "options of an image": _within(user(ImagePart(PNG, provider_options=own)), inside),
        "options of a tool call": _within(assistant(replace(CALL, provider_options=own)), inside),
        "options of a tool result": tool(replace(ToolResult.text("call_1", "sunny"), provider_options=own), inside),
        "cache point on text": _within(user(TextPart("hi", cache=point)), ".cache"),
        "cache point on text, for an hour": _within(user(TextPart("hi", cache=CachePoint(3600))), ".cache"),
        "cache point on a tool result": tool(replace(ToolResult.text("call_1", "sunny"), cache=point), ".cache"),
        "cache point on a tool": option("tools[0].cache", tools=(replace(WEATHER, cache=point),)),
    }


def option_probes(format: str) -> Mapping[str, Probe]:
    """One for each option, and each of its values that formats distinguish."""
    own = {provider_of(format): {"some_new_field": 1}}
    values: dict[str, Any] = {
        "max_output_tokens": 4096,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "seed": 7,
        "stop": ("END",),
        "presence_penalty": 0.5,
        "frequency_penalty": 0.5,
        "top_logprobs": 2,
    }
    sampling = {name: option(f"sampling.{name}", sampling=Sampling(**{name: value})) for name, value in values.items()}
    tools = {"tools": (WEATHER,)}
    choices = {
        f"tool_choice={mode}": option("tool_choice", **tools, tool_choice=ToolChoice(mode))
        for mode in ("auto", "none", "required")
    }
    thinking = {
        f"thinking={level}": option("thinking", thinking=level, sampling=Sampling(max_output_tokens=32_000))
        for level in ("off", "minimal", "low", "medium", "high", "xhigh", "max", 8192)
    }
    hosted = {
        f"hosted tool {kind}": option("hosted_tools[0]", hosted_tools=(HostedTool(kind),))
        for kind in ("web_search", "code_interpreter", "file_search", "computer_use", "tool_search")
    }
    return {
        **sampling,
        "tools": option("tools[0]", **tools),
        "tools, strict": option("tools[0].strict", tools=(replace(WEATHER, strict=True),)),
        **choices,
        "tool_choice=a tool": option("tool_choice", **tools, tool_choice=ToolChoice("tool", "weather")),
        "parallel_tool_calls=True": option("parallel_tool_calls", **tools, parallel_tool_calls=True),
        "parallel_tool_calls=False": option("parallel_tool_calls", **tools, parallel_tool_calls=False),
        "output schema": option("output", output=ANSWER),
        "output schema, not strict": option("output", output=replace(ANSWER, strict=False)),
        **thinking,
        "modalities=image": option("modalities[1]", modalities=("text", "image")),
        "modalities=audio": option("modalities[1]", modalities=("text", "audio")),
        "stream": option("stream", stream=True),
        **hosted,
        "provider_options": option("provider_options", provider_options=own),
    }


def probes(format: str) -> Mapping[str, Probe]:
    """All of them, for calls to the provider that the format is for."""
    return {**part_probes(format), **option_probes(format)}


def _within(probe: Probe, inside: str) -> Probe:
    return replace(probe, path=probe.path + inside)
