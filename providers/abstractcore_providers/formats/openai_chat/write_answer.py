"""Earlier assistant messages, as sent back."""

from __future__ import annotations

from abstractcore.schema import AudioPart, CallWarning, Message, Part, ReasoningPart, TextPart, ToolCall, to_data

from ...common.call_options import with_options
from ...common.conversations import as_content, in_order, with_valid_text
from ...common.reading import Object
from .cache_points import append_content
from .content import kept_audio, write_part
from .dialect import BLOCKS, DETAILS, PIECES, TAGS, ChatDialect
from .reasoning_details import write_detail
from .reasoning_fields import field_for, without_field
from .think_tags import CLOSING, OPENING
from .tool_calls import is_custom, write_call
from .vocabulary import AUDIO_FIELDS, PART_ORDER, WARNINGS


def write_answer(
    message: Message, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> Object:
    """Returns the assistant's message; only its role if nothing of it is left. `origin` is the model that gets its
    reasoning back, None if none does.
    """
    body: Object = {"role": "assistant"}
    content: list[Object] = []
    field = field_for(message, dialect, origin)
    kept = _kept(message, path, field, origin, warnings)
    for index, part in in_order(kept, PART_ORDER, path, warnings):
        part_path = f"{path}[{index}]"
        if isinstance(part, TextPart):
            block = write_part(part, part_path, dialect.provider, dialect.cache, warnings)
            append_content(content, block, dialect.cache)
        elif isinstance(part, ReasoningPart):
            _add_reasoning(part, part_path, body, content, field, warnings)
        elif isinstance(part, AudioPart):
            body["audio"] = _audio(part, part_path, dialect, warnings)
        elif isinstance(part, ToolCall):
            body.setdefault("tool_calls", []).append(_tool_call(part, part_path, dialect, warnings))
    if content:
        body["content"] = as_content(content)
    if dialect.empty_reasoning and field is not None and "tool_calls" in body:
        body.setdefault(field, "")
    return body


def _kept(
    message: Message, path: str, field: str | None, origin: str | None, warnings: list[CallWarning]
) -> list[tuple[int, Part]]:
    """Returns the supported parts; at most one is audio."""
    kept: list[tuple[int, Part]] = []
    has_audio = False
    for index, part in enumerate(message.parts):
        if isinstance(part, TextPart | ToolCall) or _goes_back(part, field, origin):
            kept.append((index, part))
        elif isinstance(part, AudioPart) and part.id is not None and not has_audio:
            has_audio = True
            kept.append((index, part))
        else:
            warnings.append(WARNINGS.part(part, f"{path}[{index}]"))
    return kept


def _goes_back(part: Part, field: str | None, origin: str | None) -> bool:
    """Whether it is reasoning of the model `origin`, which it is sent back to in `field`."""
    if not isinstance(part, ReasoningPart) or field is None or part.origin != origin:
        return False
    if field == TAGS and CLOSING in part.text:
        return False
    return bool(part.text) or field in (BLOCKS, DETAILS)


def _add_reasoning(
    part: ReasoningPart,
    path: str,
    body: Object,
    content: list[Object],
    field: str | None,
    warnings: list[CallWarning],
) -> None:
    if field in (BLOCKS, DETAILS):
        body.setdefault(field, []).append(write_detail(part))
        return
    WARNINGS.fields(without_field(part), path, ("signature", "redacted_data"), warnings)
    if field == PIECES:
        _append_thought(content, part.text)
    elif field == TAGS:
        _append_tagged(content, part.text)
    elif field is not None:
        body[field] = body.get(field, "") + part.text


def _append_tagged(content: list[Object], text: str) -> None:
    """Appends reasoning to `content` between tags; only those at the start of the text count."""
    begun = content[-1]["text"].removesuffix(CLOSING) if content else OPENING
    content[:] = [{"type": "text", "text": begun + text + CLOSING}]


def _append_thought(content: list[Object], text: str) -> None:
    """Appends reasoning to `content`. Adjacent reasoning is merged, since the format does not separate it."""
    if content and content[-1]["type"] == "thinking":
        content[-1]["thinking"][0]["text"] += text
    else:
        content.append({"type": "thinking", "thinking": [{"type": "text", "text": text}]})


def _audio(part: AudioPart, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    """Returns a reference to earlier audio, which the provider stores."""
    kept = kept_audio(part.id or "", dialect.provider)
    WARNINGS.fields(part, path, ("cache",), warnings)
    if part.blob != kept:
        message = "the provider's stored copy is sent instead"
        warnings.append(CallWarning("sent_by_reference", f"{path}.blob", message, sent=to_data(kept)))
    if part.transcript is not None:
        warnings.append(CallWarning("transcript_left_out", f"{path}.transcript", "the provider stores its own"))
    return with_options({"id": part.id}, part, path, dialect.provider, AUDIO_FIELDS, warnings)


def _tool_call(call: ToolCall, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    WARNINGS.fields(call, path, ("cache", "signature"), warnings)
    if not is_custom(call, dialect.provider):
        call = with_valid_text(call, path, warnings)
    return write_call(call, call.arguments_text, path, dialect.provider, warnings)
