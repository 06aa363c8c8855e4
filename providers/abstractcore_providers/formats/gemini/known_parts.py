"""Reads parts that are never chunked: media, calls and results of hosted tools, and opaque parts."""

from __future__ import annotations

from typing import Any, cast

from abstractcore.schema import HostedToolCall, HostedToolResult, OpaquePart, Part, TextPart

from ...common.conversations import WrittenArguments, arguments_text
from ...common.reading import Object, object_of, text_of
from .content import read_media
from .vocabulary import ARGUMENTS, named, with_names

CODE_TOOL = "code_execution"
"""The name of the tool that runs code at the provider."""

TOOL_RESPONSE = ("toolType", "response")
_SIGNED = ("thought", "thoughtSignature")
TEXT_FIELDS = frozenset({"text", *_SIGNED})
CALL_FIELDS = frozenset({"functionCall", *_SIGNED})
"""The fields of parts that the schema models."""

_WHOLE = frozenset({"inlineData", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"})
_BESIDE = frozenset(
    {
        "thought",
        "thoughtSignature",
        "videoMetadata",
        "mediaResolution",
        "mediaProcessing",
        "partMetadata",
        "speechMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "audioMetadata",
    }
)
KNOWN = _WHOLE | {"functionCall", "functionResponse", "text"}
"""The fields of parts of which each part has one, but for transcriptions."""


def opaque_kind(data: Any) -> str | None:
    """Returns the name of a part's content that the schema does not model; None for a known or empty part."""
    if not isinstance(data, dict):
        return None
    names = [name for name in cast(Object, data) if named(name) not in _BESIDE]
    return names[0] if names and not KNOWN.intersection(map(named, names)) else None


def read_whole(data: Object, provider: str, written: WrittenArguments) -> Part | None:
    """Reads the part in `data`, which is neither text nor a call; None if it is empty. `written` is of its body.

    Raises `SchemaError` with the path of what is invalid.
    """
    if "inlineData" in data or "fileData" in data:
        return read_media(data, provider)
    if "executableCode" in data:
        code = object_of(data, "executableCode")
        program = {"language": text_of(code, "language") or "PYTHON", "code": text_of(code, "code") or ""}
        return HostedToolCall(text_of(code, "id") or "", CODE_TOOL, arguments_text(program))
    if "codeExecutionResult" in data:
        result = object_of(data, "codeExecutionResult")
        outcome = text_of(result, "outcome") or "OUTCOME_UNSPECIFIED"
        content = (TextPart(text_of(result, "output") or ""),)
        return HostedToolResult(text_of(result, "id") or "", content, {"outcome": outcome})
    if "toolCall" in data:
        call = with_names(object_of(data, "toolCall"))
        name = text_of(call, "toolType") or ""
        arguments = "" if call.get(ARGUMENTS) is None else written.text_of(call[ARGUMENTS])
        return HostedToolCall(text_of(call, "id") or "", name, arguments, {"toolType": name})
    if "toolResponse" in data:
        answer = with_names(object_of(data, "toolResponse"))
        given = {name: answer[name] for name in TOOL_RESPONSE if answer.get(name) is not None}
        return HostedToolResult(text_of(answer, "id") or "", (), given)
    kind = opaque_kind(data)
    return None if kind is None else OpaquePart(provider, kind, data)
