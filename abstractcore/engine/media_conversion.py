"""Carrying out what was decided for each file: checks, conversions, and the text that stands in a file's place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from ..errors import MediaError
from ..ports import Conversion, MediaContext, MediaHandler, Runtime
from ..schema import (
    Blob,
    CallWarning,
    ContentPart,
    Lowered,
    MediaDecision,
    MediaPart,
    MediaSent,
    ModelCall,
    Part,
    SchemaError,
    TextPart,
    ToolResult,
)
from .lowering.lowering import handler_for, media_parts

_TAG = "untrusted-file"
_CLOSING = re.compile(rf"</(?=\s*{_TAG})", re.IGNORECASE)


async def carry_out(
    lowered: Lowered,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
    runtime: Runtime,
) -> Lowered:
    """The call with every decision done: files sent as they are looked at, the others replaced by text.

    `artifact` gives the content that has a hash. Raises `MediaError`, `ArtifactError` or `MissingExtraError`; nothing
    has been sent by then.
    """
    parts = dict(media_parts(lowered.call))
    work = [(decision, parts[decision.part_path]) for decision in lowered.decisions]

    def thunk(decision: MediaDecision, part: MediaPart):
        return lambda: runtime.call(_handle, decision, part, handlers, context, artifact, kind="files")

    done = await runtime.gather(*(thunk(decision, part) for decision, part in work))
    replaced = {decision.part_path: part for decision, part, _ in done if part is not None}
    return Lowered(
        _with_parts(lowered.call, replaced),
        tuple(decision for decision, _, _ in done),
        (*lowered.warnings, *(warning for _, _, warnings in done for warning in warnings)),
    )


def _handle(
    decision: MediaDecision,
    part: MediaPart,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> tuple[MediaDecision, Part | None, tuple[CallWarning, ...]]:
    """The decision done, what takes the part's place, and warnings."""
    handler = handler_for(part, handlers)
    fetched = part.blob.form == "artifact"
    part = _fetched(part, artifact) if fetched else part
    try:
        if decision.route == "native":
            if handler is not None and part.blob.form in ("bytes", "file"):
                handler.check(part)
            return replace(decision, sent=MediaSent(decision.type, part.blob.size)), part if fetched else None, ()
        if handler is None:
            raise MediaError(f"nothing here reads {decision.type}", source=decision.source)
        conversion = handler.convert(part, context)
    except (SchemaError, OSError) as error:
        raise MediaError(f"{decision.source} cannot be read: {error}", source=decision.source) from error
    text = as_untrusted_text(decision.source, conversion)
    sent = MediaSent("text/plain", len(text.encode()), conversion.text)
    warnings = tuple(replace(warning, path=decision.part_path) for warning in conversion.warnings)
    return replace(decision, sent=sent, usage=conversion.usage), TextPart(text, cache=part.cache), warnings


def _fetched(part: MediaPart, artifact: Callable[[str], bytes]) -> MediaPart:
    """The part with its artifact's bytes in it."""
    blob = part.blob
    data = artifact(blob.sha256 or "")
    return replace(part, blob=Blob.from_bytes(data, blob.media_type, name=blob.name))


def as_untrusted_text(source: str, conversion: Conversion) -> str:
    """A file's text, labelled with its name and fenced so that nothing in it can close the fence."""
    name = source.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", " ")
    body = _CLOSING.sub(r"<\\/", conversion.text.strip())
    return f'<{_TAG} name="{name}" content="{conversion.label}">\n{body}\n</{_TAG}>\n'


def _with_parts(call: ModelCall, replaced: dict[str, Part]) -> ModelCall:
    if not replaced:
        return call
    messages = (
        replace(message, parts=_replaced(message.parts, f"messages[{i}].parts", replaced))
        for i, message in enumerate(call.messages)
    )
    return call.with_(messages=tuple(messages))


def _replaced(parts: Sequence[Part], path: str, replaced: dict[str, Part]) -> tuple[Part, ...]:
    """The parts with what takes their places; a text that stands for a file ends with an empty line before the next."""
    done: list[Part] = []
    for index, part in enumerate(parts):
        place = f"{path}[{index}]"
        new = replaced.get(place, part)
        if isinstance(part, ToolResult):
            content = _replaced(part.content, f"{place}.content", replaced)
            new = replace(part, content=cast("tuple[ContentPart, ...]", content))
        elif new is not part and isinstance(new, TextPart) and index + 1 < len(parts):
            new = replace(new, text=new.text + "\n")
        done.append(new)
    return tuple(done)
