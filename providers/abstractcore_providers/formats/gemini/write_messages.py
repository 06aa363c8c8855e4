"""Writes messages, with a warning for everything that the format cannot express.

Writes parts of a model's turn: in a request's history, and in a reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    HostedToolCall,
    HostedToolResult,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import name_options_left_out, with_options
from ...common.conversations import SentCallIds, arguments_text, origin_of, refuse_system_only, refuse_unanswered_calls
from ...common.delta_writer import BodyWriter
from ...common.google_files import is_base64
from ...common.reading import Object
from .content import (
    CALL_FIELDS,
    CODE_TOOL,
    TEXT_FIELDS,
    TOOL_RESPONSE,
    as_transcription,
    opaque_kind,
    write_media,
    write_result,
)
from .vocabulary import UNSIGNED, WARNINGS, GenerateContentDialect

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


def write_system(messages: Sequence[Message], writer: BodyWriter) -> list[Object]:
    """Returns the parts of the system instruction, one a message. Later system messages are moved into it."""
    parts: list[Object] = []
    first = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    position = first
    for index, message in enumerate(messages):
        if message.role != "system":
            continue
        body = _system_part(message, f"messages[{index}]", writer)
        if body:
            parts.append(body)
        if body and index > first:
            reason = "system messages are sent in the single systemInstruction before the conversation"
            writer.warnings.append(CallWarning("reordered", f"messages[{index}]", reason, index, position))
            position += 1
    return parts


def _system_part(message: Message, path: str, writer: BodyWriter) -> Object:
    """Returns the part of a message: a single text with its options, several without. Empty if nothing is left."""
    reason = "a system message is one part of the instruction"
    name_options_left_out(message, path, writer.provider, reason, writer.warnings)
    kept: list[tuple[TextPart, str]] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}.parts[{index}]"
        if isinstance(part, TextPart):
            WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
            kept.append((part, part_path))
        else:
            writer.warnings.append(WARNINGS.part(part, part_path))
    if len(kept) == 1:
        part, part_path = kept[0]
        return with_options({"text": part.text}, part, part_path, writer.provider, TEXT_FIELDS, writer.warnings)
    for part, part_path in kept:
        name_options_left_out(part, part_path, writer.provider, reason, writer.warnings)
    return {"text": "".join(part.text for part, _ in kept)} if kept else {}


def write_contents(
    messages: Sequence[Message], model: str, dialect: GenerateContentDialect, writer: BodyWriter
) -> list[Object]:
    """Returns the conversation without system messages; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left, and `InvalidInputError` for
    calls without results, or in a wrong turn.
    """
    refuse_system_only(messages)
    refuse_unanswered_calls(messages)
    contents: list[Object] = []
    ids = SentCallIds(messages, lambda turn, id: id)
    called: dict[str, tuple[str, str]] = {}
    for index, message in enumerate(messages):
        path, calls = f"messages[{index}].parts", ()
        if message.role == "system":
            continue
        if message.role == "assistant":
            calls = message.tool_calls
            called = {call.id: (ids.of_call(index, call.id), call.name) for call in calls}
            parts = _assistant(message, path, called, origin_of(dialect.provider, model) or "", dialect, writer)
        elif message.role == "tool":
            parts = _results(message, path, called, dialect, writer)
        else:
            parts = _user(message, path, dialect, writer)
        if parts:
            if calls:
                _refuse_calls_out_of_turn(contents, f"messages[{index}]")
            body = {"role": "model" if message.role == "assistant" else "user", "parts": parts}
            message_path = f"messages[{index}]"
            contents.append(with_options(body, message, message_path, dialect.provider, (), writer.warnings))
    if not contents:
        raise WARNINGS.nothing_left()
    return contents


def _refuse_calls_out_of_turn(before: Sequence[Object], path: str) -> None:
    """Checks that calls directly follow a user turn, which results are, too."""
    if not before or before[-1]["role"] == "model":
        raise InvalidInputError(
            "an assistant turn with tool calls must follow a user turn",
            path=path,
            hint="Add a user message before it, or merge the two assistant messages.",
        )


def _user(message: Message, path: str, dialect: GenerateContentDialect, writer: BodyWriter) -> list[Object]:
    written: list[Object] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
        write_part(written, part, "", part_path, writer)
    return written


def _results(
    message: Message,
    path: str,
    called: dict[str, tuple[str, str]],
    dialect: GenerateContentDialect,
    writer: BodyWriter,
) -> list[Object]:
    """Returns all results, then the files next to them."""
    written = [
        write_result(part, *called[part.call_id], f"{path}[{index}]", dialect, writer)
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolResult)
    ]
    return [result.part for result in written] + [part for result in written for part in result.beside]


def _assistant(
    message: Message,
    path: str,
    called: dict[str, tuple[str, str]],
    origin: str,
    dialect: GenerateContentDialect,
    writer: BodyWriter,
) -> list[Object]:
    written: list[Object] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
        if isinstance(part, ReasoningPart) and part.origin != origin:
            reason = f"reasoning of {part.origin or 'an unknown model'} is not sent to {origin}"
            writer.warnings.append(CallWarning("part_left_out", part_path, reason))
            continue
        if isinstance(part, ToolCall) and part.signature is not None and _is_foreign(message, dialect.provider):
            reason = "the signature is of another provider"
            writer.warnings.append(CallWarning("signature_left_out", f"{part_path}.signature", reason))
            part = replace(part, signature=None)
        write_part(written, part, called[part.id][0] if isinstance(part, ToolCall) else "", part_path, writer)
    if dialect.signed_calls:
        _sign_first_call(written)
    return written


def _sign_first_call(written: Sequence[Object]) -> None:
    for part in written:
        if "functionCall" in part:
            part.setdefault("thoughtSignature", UNSIGNED)
            return


def _is_foreign(message: Message, provider: str) -> bool:
    """Whether another provider's model wrote a thought before this."""
    thoughts = (part for part in message.parts if isinstance(part, ReasoningPart))
    return any(not (part.origin or "").startswith(f"{provider}/") for part in thoughts)
