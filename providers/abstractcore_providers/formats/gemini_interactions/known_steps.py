"""The types of steps that the schema models; others are opaque parts.

Thought steps, and reasoning parts of the schema, converted both ways. Steps of tools that the provider runs: calls
and results, each a step of its own.

What the schema has no field for is in `provider_metadata`, by the provider's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from abstractcore.schema import (
    CallWarning,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCall,
    to_data,
)

from ...common.conversations import append_block, as_content
from ...common.delta_writer import BodyWriter
from ...common.google_files import is_base64
from ...common.reading import Object, as_object, as_objects, objects_of, text_of
from .content import read_content, write_media, write_plain_text
from .vocabulary import ARGUMENTS, WARNINGS

THOUGHT = "thought"
_FIELDS = frozenset({"type", "signature", "summary"})


def read_thought(step: Object, provider: str, origin: str | None) -> ReasoningPart | OpaquePart:
    """Reads a thought; one with anything but text, such as images, is opaque, so that it is sent back unchanged."""
    if not is_plain(step):
        return OpaquePart(provider, THOUGHT, step)
    text = "".join(text_of(item, "text") or "" for item in objects_of(step, "summary"))
    return ReasoningPart(text, text_of(step, "signature"), origin=origin)


def is_plain(step: Object) -> bool:
    """Whether a thought is text and a signature."""
    if not step.keys() <= _FIELDS:
        return False
    summary: Any = step.get("summary")
    return summary is None or (isinstance(summary, list) and all(map(is_plain_text, summary)))  # pyright: ignore[reportUnknownArgumentType]


def is_plain_text(item: Any) -> bool:
    """Whether an item of a summary is text without further fields; its type may be missing in a stream."""
    data = as_object(item)
    return text_of(data, "text") is not None and data.get("type", "text") == "text" and data.keys() <= {"type", "text"}


def write_thought(part: ReasoningPart, path: str, warnings: list[CallWarning]) -> Object | None:
    """Returns the step; None, with a warning, if nothing of the part can be expressed."""
    signature = signature_of(part.signature)
    if not part.text and signature is None:
        warnings.append(WARNINGS.part(part, path))
        return None
    WARNINGS.fields(part, path, ("redacted_data",), warnings)
    if signature != part.signature:
        warnings.append(WARNINGS.field("signature", path))
    step: Object = {"type": THOUGHT}
    if signature is not None:
        step["signature"] = signature
    if part.text:
        step["summary"] = [{"type": "text", "text": part.text}]
    return step


def signature_of(signature: str | None) -> str | None:
    """Returns the signature if it is one of Google's, which are base64."""
    return signature if signature is not None and is_base64(signature) else None


_TOOLS = (
    "google_search",
    "code_execution",
    "url_context",
    "file_search",
    "google_maps",
    "retrieval",
    "processing",
    "mcp_server_tool",
    "tool_search",
)
CALLS = {f"{tool}_call": tool for tool in _TOOLS}
RESULTS = {f"{tool}_result": tool for tool in _TOOLS}
_NAMED = "mcp_server_tool"
"""The tool that runs others, whose names its calls have."""
_WITH_CONTENT = frozenset({"code_execution_result", "function_result", "mcp_server_tool_result"})
"""Results that are text or content for the model; others are data."""


def read_hosted(step: Object, arguments_text: str, provider: str) -> HostedToolCall | HostedToolResult:
    """Reads a call or a result; `arguments_text` is the text of its arguments. Raises `SchemaError`."""
    kind = str(step["type"])
    if kind in CALLS:
        name = text_of(step, "name") or "" if CALLS[kind] == _NAMED else CALLS[kind]
        rest = _rest(step, "id", ARGUMENTS, *(("name",) if CALLS[kind] == _NAMED else ()))
        return HostedToolCall(text_of(step, "id") or "", name, arguments_text, {provider: rest})
    content = _content(step["result"], provider) if kind in _WITH_CONTENT and "result" in step else None
    rest = _rest(step, "call_id", *(("result",) if content is not None else ()))
    return HostedToolResult(text_of(step, "call_id") or "", content or (), {provider: rest})


def _rest(step: Object, *known: str) -> Object:
    """Returns the other fields; an empty signature is none."""
    return {
        name: value
        for name, value in step.items()
        if name not in known and value is not None and (name, value) != ("signature", "")
    }


def _content(result: Any, provider: str) -> tuple[ContentPart, ...] | None:
    """Returns the content of a result that is a text or a list of content; None for any other."""
    if isinstance(result, str):
        return (TextPart(result),)
    items = as_objects(result)
    if not isinstance(result, list) or len(items) != len(cast("list[Any]", result)):
        return None
    parts = [read_content(item, provider) for item in items]
    known = [part for part in parts if not isinstance(part, OpaquePart)]
    return tuple(known) if len(known) == len(parts) else None


def write_hosted(part: HostedToolCall | HostedToolResult, path: str, writer: BodyWriter) -> Object | None:
    """Returns the step of a part that was read from one; None for any other.

    Raises `UnsupportedContentError` with the path of content that cannot be sent.
    """
    rest = part.provider_metadata.get(writer.provider)
    kind = rest.get("type") if isinstance(rest, Mapping) else None
    if len(part.provider_metadata) != 1 or not isinstance(kind, str):
        return None
    data = cast(Object, to_data(rest))
    if isinstance(part, HostedToolCall):
        return _call(part, kind, data, path, writer) if kind in CALLS else None
    return _result(part, kind, data, path, writer) if kind in RESULTS else None


def _call(part: HostedToolCall, kind: str, rest: Object, path: str, writer: BodyWriter) -> Object | None:
    call = ToolCall("", "", part.arguments_text)
    named: Object = {"name": part.name} if CALLS[kind] == _NAMED else {}
    step: Object = {**rest, "id": part.id, **named}
    if call.arguments is None or read_hosted(step, part.arguments_text, writer.provider) != part:
        return None
    if part.arguments_text:
        writer.put_arguments(step, call, path)
    return step


def _result(part: HostedToolResult, kind: str, rest: Object, path: str, writer: BodyWriter) -> Object | None:
    if "call_id" in rest or _rest(rest) != rest:
        return None
    step: Object = {**rest, "call_id": part.call_id}
    if kind not in _WITH_CONTENT or "result" in rest:
        same = not part.content and read_hosted(step, "", writer.provider) == part
        return step if same else None
    return {**step, "result": write_result(part.content, path, writer)}


def write_result(content: tuple[ContentPart, ...], path: str, writer: BodyWriter) -> str | list[Object]:
    """Returns the content of a result: a single text as a string, anything else as a list."""
    items: list[Object] = []
    for index, part in enumerate(content):
        part_path = f"{path}.content[{index}]"
        if isinstance(part, TextPart):
            append_block(items, write_plain_text(part, part_path, writer.provider, writer.warnings))
        else:
            items.append(write_media(part, part_path, writer.provider, writer.warnings))
    return as_content(items) if items else ""


CALL_FIELDS = frozenset({"type", "id", "name", "arguments"})
RESULT_FIELDS = frozenset({"type", "call_id", "name", "result", "is_error"})
INPUT_FIELDS = frozenset({"type", "content"})
"""The fields of steps that the schema models."""
_MODELLED = frozenset({"user_input", "function_call", "function_result", *CALLS, *RESULTS})


def opaque_kind(step: Any) -> str | None:
    """Returns the type of a step that the schema does not model, such as an output's error; None for any other."""
    data = as_object(step)
    kind = text_of(data, "type")
    if not kind or kind in _MODELLED:
        return None
    if kind == "model_output":
        return kind if "content" not in data and len(data) > 1 else None
    return None if kind == THOUGHT and is_plain(data) else kind
