"""Writes parts of a model's turn: in a request's history, and in a reply."""

from __future__ import annotations

from typing import cast

from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
)

from ...common.call_options import with_options
from ...common.conversations import arguments_text
from ...common.delta_writer import BodyWriter
from ...common.google_files import is_base64
from ...common.reading import Object
from .content import write_media
from .known_parts import CALL_FIELDS, CODE_TOOL, TEXT_FIELDS, TOOL_RESPONSE, opaque_kind
from .transcriptions import as_transcription
from .vocabulary import WARNINGS

_NO_SIGNATURE = ("thought", "functionCall", "thoughtSignature")


def write_part(written: list[Object], part: Part, id: str, path: str, writer: BodyWriter) -> None:
    """Appends one part; `id` is that of a tool call.

    A part that is not sent is reported in a warning. Raises `UnsupportedContentError` for media that cannot be sent.
    """
    if isinstance(part, TextPart):
        body = with_options({"text": part.text}, part, path, writer.provider, TEXT_FIELDS, writer.warnings)
        add_text(written, as_transcription(body, path))
    elif isinstance(part, ReasoningPart):
        _add_reasoning(written, part, path, writer)
    elif isinstance(part, ToolCall):
        written.append(_function_call(part, id, path, writer))
    else:
        body = _other_part(part, path, writer)
        if body is not None:
            written.append(body)


def add_text(written: list[Object], body: Object) -> None:
    """Appends text: adjacent texts without options are merged."""
    if written and body.keys() == {"text"} == written[-1].keys():
        written[-1]["text"] += body["text"]
    else:
        written.append(body)


def _add_reasoning(written: list[Object], part: ReasoningPart, path: str, writer: BodyWriter) -> None:
    """Appends a thought, or a signature alone, which belongs to the part before it, if that can have one."""
    signature = part.signature if part.signature is not None and is_base64(part.signature) else None
    if not part.text and signature is None:
        writer.warnings.append(WARNINGS.part(part, path))
        return
    WARNINGS.fields(part, path, ("redacted_data",), writer.warnings)
    if signature != part.signature:
        writer.warnings.append(WARNINGS.field("signature", path))
    if part.text:
        if signature is None and written and written[-1].keys() == {"text", "thought"}:
            written[-1]["text"] += part.text
            return
        written.append({"text": part.text, "thought": True})
    elif not written or any(name in written[-1] for name in _NO_SIGNATURE):
        written.append({"text": ""})
    if signature is not None:
        written[-1]["thoughtSignature"] = signature


def _function_call(call: ToolCall, id: str, path: str, writer: BodyWriter) -> Object:
    """Appends a call, with its signature."""
    body: Object = {"name": call.name, "id": id}
    if call.arguments_text:
        writer.put_arguments(body, call, path)
    part: Object = {"functionCall": body}
    if call.signature is not None and is_base64(call.signature):
        part["thoughtSignature"] = call.signature
    elif call.signature is not None:
        writer.warnings.append(WARNINGS.field("signature", path))
    return with_options(part, call, path, writer.provider, CALL_FIELDS, writer.warnings)


def _other_part(part: Part, path: str, writer: BodyWriter) -> Object | None:
    """Returns media, hosted calls and results, or an opaque part; None, with a warning, if another provider's."""
    if isinstance(part, MEDIA_PARTS):
        return write_media(part, path, writer.provider, writer.warnings)
    body: Object | None = None
    if isinstance(part, HostedToolCall):
        body = _hosted_call(part, path, writer)
    elif isinstance(part, HostedToolResult):
        body = _hosted_result(part, path, writer)
    elif isinstance(part, OpaquePart) and part.provider == writer.provider and opaque_kind(part.data) == part.kind:
        body = cast(Object, part.data)
    if body is None:
        writer.warnings.append(WARNINGS.part(part, path))
    return body


def _hosted_call(part: HostedToolCall, path: str, writer: BodyWriter) -> Object | None:
    call = ToolCall("", "", part.arguments_text)
    arguments = call.arguments
    id: Object = {"id": part.id} if part.id else {}
    if set(part.provider_metadata) == {"toolType"} and part.provider_metadata["toolType"] == part.name:
        body: Object = {**id, "toolType": part.name}
        if call.arguments_text:
            writer.put_arguments(body, call, path)
        return {"toolCall": body}
    if part.name != CODE_TOOL or arguments is None or set(arguments) != {"language", "code"}:
        return None
    code: Object = {"language": arguments["language"], "code": arguments["code"]}
    if not all(isinstance(value, str) for value in code.values()):
        return None
    WARNINGS.fields(part, path, ("provider_metadata",), writer.warnings)
    sent = arguments_text(code)
    if sent != part.arguments_text:
        reason, requested = "code is sent without the original text of its arguments", part.arguments_text
        writer.warnings.append(CallWarning("arguments_rewritten", f"{path}.arguments_text", reason, requested, sent))
    return {"executableCode": {**id, **code}}


def _hosted_result(part: HostedToolResult, path: str, writer: BodyWriter) -> Object | None:
    id: Object = {"id": part.call_id} if part.call_id else {}
    metadata = part.provider_metadata
    if set(metadata) == {"outcome"} and isinstance(metadata["outcome"], str):
        output: Object = {}
        for index, content in enumerate(part.content):
            part_path = f"{path}.content[{index}]"
            if isinstance(content, TextPart):
                WARNINGS.fields(content, part_path, ("citations", "cache"), writer.warnings)
                output["output"] = output.get("output", "") + content.text
            else:
                writer.warnings.append(WARNINGS.part(content, part_path))
        return {"codeExecutionResult": {**id, "outcome": metadata["outcome"], **output}}
    if part.content or not isinstance(metadata.get("toolType"), str) or not set(metadata) <= set(TOOL_RESPONSE):
        return None
    return {"toolResponse": {**id, **{name: metadata[name] for name in TOOL_RESPONSE if name in metadata}}}
