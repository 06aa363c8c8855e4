"""The richest calls of a model, made from its raw row: everything that it accepts, and every option that exists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from abstractcore.schema import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    MediaPart,
    Message,
    ToolCall,
    ToolResult,
    ToolSpec,
    VideoPart,
)
from tests.providers.strict_fakes.fake import Row

SAMPLING: dict[str, Any] = {
    "max_output_tokens": 900,
    "temperature": 0.5,
    "top_p": 0.5,
    "top_k": 5,
    "seed": 7,
    "stop": ["END"],
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "top_logprobs": 2,
}
THINKING = ("off", "minimal", "low", "medium", "high", "xhigh", "max", 5000)
TOOLS = [ToolSpec("f", "F.", {"type": "object", "properties": {"a": {"type": "string"}}}), ToolSpec("g", "G.")]


@dataclass
class Answer:
    """The type of the answer of calls with a schema."""

    name: str


@dataclass(frozen=True)
class RichCall:
    """The arguments of `generate`, and the content of a file that must arrive."""

    name: str
    arguments: dict[str, Any]
    file: bytes = b""


def rich_calls(row: Row) -> Iterator[RichCall]:
    """Calls that nothing may refuse: what the model of the row does not accept is left out or changed."""
    yield RichCall("nothing", {})
    yield RichCall("sampling", {**SAMPLING, "system_prompt": "s" * 7000, "cache": True})
    yield RichCall("defaults", {"presence_penalty": 0, "frequency_penalty": 0, "temperature": 1, "top_p": 1})
    yield RichCall("beyond limits", {"max_output_tokens": 9_000_000, "presence_penalty": -2, "top_k": 9000, "top_p": 1})
    for thinking in THINKING:
        yield RichCall(f"thinking {thinking}", {**SAMPLING, "thinking": thinking, "max_output_tokens": 40_000})
    yield RichCall("schema", {**SAMPLING, "response_model": Answer})
    yield from _with_tools(row)
    yield from _with_files(row)


def _with_tools(row: Row) -> Iterator[RichCall]:
    if row.get("tools") == "never":
        return
    for choice in ("auto", "none", "required"):
        yield RichCall(f"tools {choice}", {**SAMPLING, "tools": TOOLS, "tool_choice": choice, "thinking": "high"})
    yield RichCall("tools in parallel", {"tools": TOOLS, "parallel_tool_calls": False, "cache": True})
    yield RichCall("schema beside tools", {"tools": TOOLS, "response_model": Answer, "thinking": "low"})
    if row.get("accepts_prefill", True):
        prefill = [Message.user("hi"), Message.assistant("So")]
        yield RichCall("prefill", {"messages": prefill, "prompt": None})


def _with_files(row: Row) -> Iterator[RichCall]:
    for media_type in row.get("accepts", ()):
        part = _part(media_type)
        yield RichCall(media_type, {"media": [part]}, content_of(media_type))
        if row.get("tools") != "never":
            yield RichCall(
                f"{media_type} as a result", {"messages": _history(part), "tools": TOOLS}, content_of(media_type)
            )


def _history(part: MediaPart) -> list[Message]:
    called = Message.assistant(ToolCall("c1", "f", "{}"), ToolCall("c2", "g", "{}"))
    results = (ToolResult("c1", (part,)), ToolResult.text("c2", "done"))
    return [Message.user("hi"), called, Message.tool(*results)]


def _part(media_type: str) -> MediaPart:
    kinds: dict[str, Any] = {"image": ImagePart, "audio": AudioPart, "video": VideoPart}
    return kinds.get(media_type.partition("/")[0], DocumentPart)(_blob(media_type))


def _blob(media_type: str) -> Blob:
    return Blob.from_bytes(content_of(media_type), media_type)


def content_of(media_type: str) -> bytes:
    """The content of a file of this type."""
    return b"\x89PNG\r\n\x1a\n of a test" if media_type == "image/png" else b"content of a test"


def without_output_tool(arrived: dict[str, Any]) -> dict[str, Any]:
    """What arrived, without the tool for an answer by a schema that the model is not sent, and its choice."""
    names = arrived.get("tools") or []
    if "final_answer" not in names:
        return arrived
    kept = {name: value for name, value in arrived.items() if name not in ("tools", "tool_choice")}
    others = [name for name in names if name != "final_answer"]
    return {**kept, "tools": others} if others else kept
