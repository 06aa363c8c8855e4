"""Carrying out what was decided for each file: checks, conversions, and the text that stands in a file's place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..errors import MediaError
from ..ports import Conversion, MediaContext, MediaHandler, Runtime
from ..schema import (
    CallWarning,
    Lowered,
    MediaDecision,
    MediaPart,
    MediaSent,
    Message,
    ModelCall,
    Part,
    SchemaError,
    TextPart,
)
from .lowering import handler_for, media_parts

_TAG = "untrusted-file"
_CLOSING = re.compile(rf"</(?=\s*{_TAG})", re.IGNORECASE)


async def carry_out(
    lowered: Lowered, handlers: Sequence[MediaHandler], context: MediaContext, runtime: Runtime
) -> Lowered:
    """The call with every decision done: files sent as they are looked at, the others replaced by text.

    Raises `MediaError` or `MissingExtraError`; nothing has been sent by then.
    """
    parts = dict(media_parts(lowered.call))
    work = [(decision, parts[decision.part_path]) for decision in lowered.decisions]

    def thunk(decision: MediaDecision, part: MediaPart):
        return lambda: runtime.call(_handle, decision, part, handlers, context)

    done = await runtime.gather(*(thunk(decision, part) for decision, part in work))
    replaced = {decision.part_path: text for decision, text, _ in done if text is not None}
    return Lowered(
        _with_texts(lowered.call, replaced),
        tuple(decision for decision, _, _ in done),
        (*lowered.warnings, *(warning for _, _, warnings in done for warning in warnings)),
    )


def _handle(
    decision: MediaDecision, part: MediaPart, handlers: Sequence[MediaHandler], context: MediaContext
) -> tuple[MediaDecision, str | None, tuple[CallWarning, ...]]:
    handler = handler_for(part, handlers)
    try:
        if decision.route == "native":
            if handler is not None and part.blob.form in ("bytes", "file"):
                handler.check(part)
            return replace(decision, sent=MediaSent(decision.type, part.blob.size)), None, ()
        if handler is None:
            raise MediaError(f"nothing here reads {decision.type}", source=decision.source)
        conversion = handler.convert(part, context)
    except (SchemaError, OSError) as error:
        raise MediaError(f"{decision.source} cannot be read: {error}", source=decision.source) from error
    text = as_untrusted_text(decision.source, conversion)
    sent = MediaSent("text/plain", len(text.encode()), conversion.text)
    warnings = tuple(replace(warning, path=decision.part_path) for warning in conversion.warnings)
    return replace(decision, sent=sent, usage=conversion.usage), text, warnings


def as_untrusted_text(source: str, conversion: Conversion) -> str:
    """A file's text, labelled with its name and fenced so that nothing in it can close the fence."""
    name = source.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", " ")
    body = _CLOSING.sub(r"<\\/", conversion.text.strip())
    return f'<{_TAG} name="{name}" content="{conversion.label}">\n{body}\n</{_TAG}>\n'


def _with_texts(call: ModelCall, replaced: dict[str, str]) -> ModelCall:
    if not replaced:
        return call
    messages: list[Message] = []
    for i, message in enumerate(call.messages):
        parts: list[Part] = []
        for j, part in enumerate(message.parts):
            text = replaced.get(f"messages[{i}].parts[{j}]")
            parts.append(part if text is None else TextPart(text + ("\n" if j + 1 < len(message.parts) else "")))
        messages.append(Message(message.role, tuple(parts)))
    return call.with_(messages=tuple(messages))
