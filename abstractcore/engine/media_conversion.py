"""Executes the decisions for files: checks or converts each file, and replaces it by the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from ..errors import MediaError
from ..ports import MediaContext, MediaHandler, Runtime
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
from .lowering.media_routes import media_parts
from .untrusted_content import as_untrusted, sent_parts


class _Executed(NamedTuple):
    """An executed decision, the content that replaces the file (None: the file itself), and warnings."""

    decision: MediaDecision
    parts: tuple[ContentPart, ...] | None = None
    warnings: tuple[CallWarning, ...] = ()


async def execute_decisions(
    lowered: Lowered,
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
    runtime: Runtime,
) -> Lowered:
    """Returns the call with every decision executed: files sent natively are checked, the others converted.

    `artifact` gives the content that has a hash. Raises `MediaError`, `ArtifactError` or `MissingExtraError`; nothing
    has been sent by then.
    """
    parts = dict(media_parts(lowered.call))
    named = {handler.name: handler for handler in handlers}

    def thunk(decision: MediaDecision):
        handler = named.get(decision.handler or "")
        part = parts[decision.part_path]
        return lambda: runtime.call(_handle, decision, part, handler, context, artifact, kind="files")

    executed = await runtime.gather(*(thunk(decision) for decision in lowered.decisions))
    replaced = {decision.part_path: parts for decision, parts, _ in executed if parts is not None}
    return Lowered(
        _with_parts(lowered.call, replaced),
        tuple(each.decision for each in executed),
        (*lowered.warnings, *(warning for each in executed for warning in each.warnings)),
    )


def _handle(
    decision: MediaDecision,
    part: MediaPart,
    handler: MediaHandler | None,
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> _Executed:
    fetched = part.blob.form == "artifact"
    part = _fetched(part, artifact) if fetched else part
    try:
        if decision.route == "native":
            if handler is not None and part.blob.form in ("bytes", "file"):
                handler.check(part)
            executed = replace(decision, sent=MediaSent(decision.type, part.blob.size))
            return _Executed(executed, (part,) if fetched else None)
        if handler is None:
            raise MediaError(f"no media handler reads {decision.type}", source=decision.source)
        return _converted(decision, part, handler, context)
    except (SchemaError, OSError) as error:
        raise MediaError(f"{decision.source} cannot be read: {error}", source=decision.source) from error


def _converted(decision: MediaDecision, part: MediaPart, handler: MediaHandler, context: MediaContext) -> _Executed:
    conversion = handler.convert(part, replace(context, accepted_outputs=frozenset(decision.outputs)))
    content = conversion.parts
    parts = as_untrusted(decision.source, conversion.label, content)
    if part.cache is not None:
        parts = (*parts[:-1], replace(parts[-1], cache=part.cache))
    warnings = tuple(replace(warning, path=decision.part_path) for warning in conversion.warnings)
    sent = sent_parts(parts, content)
    if conversion.pages and sent.text is not None:
        sent = replace(sent, pages=conversion.pages)
    return _Executed(replace(decision, sent=sent, usage=conversion.usage), parts, warnings)


def _fetched(part: MediaPart, artifact: Callable[[str], bytes]) -> MediaPart:
    """Returns the part with the bytes of its artifact."""
    blob = part.blob
    data = artifact(blob.sha256 or "")
    return replace(part, blob=Blob.from_bytes(data, blob.media_type, name=blob.name))


def _with_parts(call: ModelCall, replaced: Mapping[str, tuple[Part, ...]]) -> ModelCall:
    if not replaced:
        return call
    messages = (
        replace(message, parts=_replaced(message.parts, f"messages[{i}].parts", replaced))
        for i, message in enumerate(call.messages)
    )
    return call.with_(messages=tuple(messages))


def _replaced(parts: Sequence[Part], path: str, replaced: Mapping[str, tuple[Part, ...]]) -> tuple[Part, ...]:
    """Returns the parts with replacements; a text that ends a file's content is followed by an empty line."""
    result: list[Part] = []
    for index, part in enumerate(parts):
        part_path = f"{path}[{index}]"
        new = replaced.get(part_path, (part,))
        if isinstance(part, ToolResult):
            content = _replaced(part.content, f"{part_path}.content", replaced)
            new = (replace(part, content=cast("tuple[ContentPart, ...]", content)),)
        elif part_path in replaced and isinstance(last := new[-1], TextPart) and index + 1 < len(parts):
            new = (*new[:-1], replace(last, text=last.text + "\n"))
        result += new
    return tuple(result)
