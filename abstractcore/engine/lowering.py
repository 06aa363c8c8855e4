"""The model-dependent choices, in one pure function: what a model cannot take is decided here, before encoding."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence

from ..errors import InvalidInputError, UnsupportedContentError
from ..ports import MediaHandler, ModelProfile
from ..schema import (
    MEDIA_PARTS,
    Blob,
    CallWarning,
    HostedToolCall,
    Lowered,
    MediaDecision,
    MediaKind,
    MediaPart,
    MediaPolicy,
    Message,
    ModelCall,
    ToolResult,
)
from .cache_points import lower_cache
from .thinking import lower_thinking


def lower(call: ModelCall, profile: ModelProfile, handlers: Sequence[MediaHandler]) -> Lowered:
    """Decide what becomes of every file in `call`, and of options that depend on the model: thinking, cache points,
    recommended sampling. Pure: nothing is read, converted or sent.

    Raises `UnsupportedContentError`, naming the choices, for a file that neither the model nor the policy lets in, and
    `InvalidInputError` for an answer that is begun, of a model that does not go on with it.
    """
    if not profile.goes_on:
        _refuse_begun_answer(call.messages)
    decisions: list[MediaDecision] = []
    call, warnings = lower_cache(call, profile.cache_points)
    thinking, changed = lower_thinking(call.thinking, profile.thinking)
    warnings += changed
    if not profile.known:
        warnings.append(
            CallWarning(
                "unknown_model", "model", f"nothing is known of {call.model!r}: text only is assumed", call.model
            )
        )
    for path, part in media_parts(call):
        decisions.append(_decide(part, path, call, profile, handlers))
        warnings.extend(_misnamed(part.blob, path))
    if thinking != call.thinking:
        call = call.with_(thinking=thinking)
    if profile.sampling is not None:
        call = call.with_(sampling=call.sampling.over(profile.sampling))
    return Lowered(call, tuple(decisions), tuple(warnings))


def _refuse_begun_answer(messages: Sequence[Message]) -> None:
    """A turn with a tool of the provider's own in it may be last: it may have been paused, and goes on."""
    last = messages[-1]
    if last.role == "assistant" and not any(isinstance(part, HostedToolCall) for part in last.parts):
        raise InvalidInputError(
            "the assistant speaks last: this model does not go on with an answer that is begun",
            path=f"messages[{len(messages) - 1}]",
            hint="Add a user's message, as 'Go on.'.",
        )


def media_parts(call: ModelCall) -> list[tuple[str, MediaPart]]:
    """The files in the messages of a call and in the tool results there, each with its path."""
    found: list[tuple[str, MediaPart]] = []
    for i, message in enumerate(call.messages):
        for j, part in enumerate(message.parts):
            if isinstance(part, MEDIA_PARTS):
                found.append((f"messages[{i}].parts[{j}]", part))
            elif isinstance(part, ToolResult):
                found += [
                    (f"messages[{i}].parts[{j}].content[{k}]", content)
                    for k, content in enumerate(part.content)
                    if isinstance(content, MEDIA_PARTS)
                ]
    return found


def handler_for(part: MediaPart, handlers: Sequence[MediaHandler]) -> MediaHandler | None:
    """The handler whose file this is."""
    return next((handler for handler in handlers if handler.handles(part)), None)


def _decide(
    part: MediaPart, path: str, call: ModelCall, profile: ModelProfile, handlers: Sequence[MediaHandler]
) -> MediaDecision:
    handler = handler_for(part, handlers)
    kind = handler.kind if handler is not None else _kind(part)
    policy: MediaPolicy = call.media_policy.get(kind, "auto")
    native = profile.takes(kind, part.blob.media_type)
    decision = MediaDecision(
        part_path=path,
        source=source_name(part.blob),
        type=part.blob.media_type,
        kind=kind,
        route="native",
        reason=f"{call.model} takes {part.blob.media_type} as it is",
        handler=handler.name if handler is not None else None,
    )
    if policy == "refuse":
        raise _refused(decision, call, f"the policy for {kind} is 'refuse'", native, handler)
    if kind == "text" and handler is not None and policy != "native":
        return _changed(decision, "inline", "a text file stands in the message as text")
    if native and policy != "fallback_only":
        return decision
    if kind == "text" and handler is not None:
        return _changed(decision, "inline", "a text file stands in the message as text")
    why = f"{call.model} does not take {part.blob.media_type}"
    if policy == "fallback_only":
        why = "the policy is 'fallback_only'"
    if policy == "native" or handler is None or not handler.converts:
        raise _refused(decision, call, why, native, handler)
    return _changed(decision, "fallback", f"{why}, so the {handler.name} handler makes text of it")


def _changed(decision: MediaDecision, route: str, reason: str) -> MediaDecision:
    return MediaDecision(
        decision.part_path,
        decision.source,
        decision.type,
        decision.kind,
        "inline" if route == "inline" else "fallback",
        reason,
        decision.handler,
    )


def _refused(
    decision: MediaDecision, call: ModelCall, why: str, native: bool, handler: MediaHandler | None
) -> UnsupportedContentError:
    choices = [f"choose a model that takes {decision.kind}"] if not native else []
    if native:
        choices.append(f"allow it with media_policy={{{decision.kind!r}: 'auto'}}")
    elif handler is not None and handler.converts:
        choices.append(f"let {handler.name} make text of it with media_policy={{{decision.kind!r}: 'auto'}}")
    else:
        choices.append("describe it in the prompt")
    choices.append("leave the file out")
    return UnsupportedContentError(
        f"{decision.source} ({decision.type}, {decision.part_path}) cannot be sent: {why}.",
        hint=f"You can {', or '.join(choices)}.",
        provider=call.provider or None,
        model=call.model,
    )


def _kind(part: MediaPart) -> MediaKind:
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video", "document": "document"}
    return kinds[part.type]


def source_name(blob: Blob) -> str:
    """What a file is called in reports and to the model."""
    if blob.name:
        return blob.name
    if blob.form == "url" and blob.location:
        return blob.location
    return f"{blob.media_type.split('/')[0]} of {blob.size} bytes" if blob.size is not None else blob.media_type


def _misnamed(blob: Blob, path: str) -> list[CallWarning]:
    """A warning if the file's name promises another kind of content than was found in it."""
    named = mimetypes.guess_type(blob.name or "")[0]
    if named is None or _family(named) == _family(blob.media_type):
        return []
    message = f"{blob.name} is named like {named}, its content is {blob.media_type}"
    return [CallWarning("media_type_mismatch", path, message, named, blob.media_type)]


def _family(media_type: str) -> str:
    """Types that are often told apart by name alone count as one."""
    top, _, sub = media_type.partition("/")
    if top in ("image", "audio", "video"):
        return top
    if top == "text" or sub in ("json", "xml", "javascript", "x-yaml", "yaml", "toml", "sql", "x-sh", "x-python"):
        return "text"
    return media_type
