"""The model-dependent choices, in one pure function: what a model cannot take is decided here, before encoding."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Sequence

from ...errors import InvalidInputError, MediaError, UnsupportedContentError
from ...ports import MediaHandler, ModelProfile
from ...schema import (
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
from ...schema.quoting import shown_address
from .cache_points import lower_cache
from .thinking import lower_thinking, room_to_think

_ELSEWHERE = ("url", "provider_file")
"""The forms of content that only a provider can read."""


def lower(
    call: ModelCall,
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    rules: Callable[[ModelCall], Lowered] = Lowered,
) -> Lowered:
    """Decide what becomes of every file in `call`, and of options that depend on the model: thinking, cache points,
    recommended sampling, then what else the model's own `rules` change. Pure: nothing is read, converted or sent.

    Raises `UnsupportedContentError`, naming the choices, for a file that neither the model nor the policy lets in,
    `MediaError` for one that text is to be made of and that is given as a URL or by a provider's name, and
    `InvalidInputError` for a call that ends with the assistant's message, if the model accepts no prefill.
    """
    if not profile.accepts_prefill:
        _refuse_prefill(call.messages)
    decisions: list[MediaDecision] = []
    call, warnings = lower_cache(call, profile.cache_points)
    thinking, changed = lower_thinking(call.thinking, profile.thinking)
    warnings += changed
    if not profile.known:
        warnings.append(
            CallWarning(
                "unknown_model",
                "model",
                f"nothing is known of {call.model!r}: it may not take all it is asked",
                call.model,
            )
        )
    for path, part in media_parts(call):
        decision = _decide(part, path, call, profile, handlers)
        if decision.route != "native" and part.blob.form in _ELSEWHERE:
            raise _not_at_hand(decision, call)
        decisions.append(decision)
        warnings.extend(_unsure(decision, call, profile))
        warnings.extend(_misnamed(part.blob, path))
    if thinking != call.thinking:
        call = call.with_(thinking=thinking)
    if profile.sampling is not None:
        recommended = room_to_think(profile.sampling, thinking, profile.thinking)
        call = call.with_(sampling=call.sampling.over(recommended))
    ruled = rules(call)
    return Lowered(ruled.call, tuple(decisions), (*warnings, *ruled.warnings))


def _refuse_prefill(messages: Sequence[Message]) -> None:
    """A turn with a hosted tool in it may be last: the provider may have paused it, and continues it."""
    last = messages[-1]
    if last.role == "assistant" and not any(isinstance(part, HostedToolCall) for part in last.parts):
        raise InvalidInputError(
            "the last message is the assistant's: this model accepts no prefill",
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
    media_type = part.blob.media_type
    known = profile.takes(kind, media_type)
    only_natively = policy == "native" or handler is None or not handler.converts
    native = known or profile.may_take(kind, media_type, only_natively=only_natively)
    decision = MediaDecision(
        part_path=path,
        source=source_name(part.blob),
        type=media_type,
        kind=kind,
        route="native",
        reason=f"{call.model} takes {media_type} as it is" if known else _not_known(call.model, media_type),
        handler=handler.name if handler is not None else None,
    )
    instead = [] if native else profile.like(media_type)
    if policy == "refuse":
        choices = _choices(decision, native, handler, instead, may_be_wrong=False)
        raise _refused(decision, call, f"the policy for {kind} is 'refuse'", choices)
    if kind == "text" and handler is not None and policy != "native":
        return _changed(decision, "inline", "a text file stands in the message as text")
    if native and policy != "fallback_only":
        return decision
    if kind == "text" and handler is not None:
        return _changed(decision, "inline", "a text file stands in the message as text")
    unknown = bool(profile.assumed or profile.carried)
    why = "the policy is 'fallback_only'" if policy == "fallback_only" else _why_not(call.model, media_type, unknown)
    if only_natively or handler is None:
        choices = _choices(decision, native, handler, instead, may_be_wrong=not native and not unknown)
        raise _refused(decision, call, why, choices)
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


def _why_not(model: str, media_type: str, unknown: bool) -> str:
    """Why a file is not sent as it is."""
    if unknown:
        return f"neither {model} nor its wire format is known to take {media_type}"
    return f"{model} does not take {media_type}"


def _not_known(model: str, media_type: str) -> str:
    return f"it is not known whether {model} takes {media_type}"


def _unsure(decision: MediaDecision, call: ModelCall, profile: ModelProfile) -> list[CallWarning]:
    """A warning if a file is sent as it is to a model that nobody said takes it."""
    if decision.route != "native" or profile.takes(decision.kind, decision.type):
        return []
    message = (
        f"{_not_known(call.model, decision.type)}: it is sent as it is; "
        "create_llm(..., accepts=[...]) says what the model takes"
    )
    return [CallWarning("unknown_model", decision.part_path, message, decision.type)]


def _choices(
    decision: MediaDecision,
    native: bool,
    handler: MediaHandler | None,
    instead: Sequence[str],
    *,
    may_be_wrong: bool,
) -> list[str]:
    """What the user can do about a file that is refused: `instead` are types that are taken, and `may_be_wrong` says
    whether what is known of the model may be.
    """
    choices = [f"convert it to {', '.join(instead)}"] if instead else []
    if not native and not instead:
        choices.append(f"choose a model that takes {decision.kind}")
    if may_be_wrong:
        what = decision.type if instead or decision.kind in ("document", "text") else decision.kind
        choices.append(f"say that this one does with create_llm(..., accepts=[{what!r}])")
    if native:
        choices.append(f"allow it with media_policy={{{decision.kind!r}: 'auto'}}")
    elif handler is not None and handler.converts:
        choices.append(f"let {handler.name} make text of it with media_policy={{{decision.kind!r}: 'auto'}}")
    else:
        choices.append("describe it in the prompt")
    return [*choices, "leave the file out"]


def _refused(decision: MediaDecision, call: ModelCall, why: str, choices: Sequence[str]) -> UnsupportedContentError:
    return UnsupportedContentError(
        f"{decision.source} ({decision.type}, {decision.part_path}) cannot be sent: {why}.",
        hint=f"You can {', or '.join(choices)}.",
        provider=call.provider or None,
        model=call.model,
    )


def _not_at_hand(decision: MediaDecision, call: ModelCall) -> MediaError:
    error = MediaError(
        f"{decision.source} ({decision.part_path}) is given as an address, which is passed on and never downloaded, "
        f"and this call cannot pass it on: {decision.reason}.",
        source=decision.source,
        hint="Download it, and pass the path of the file.",
    )
    error.provider, error.model = call.provider or None, call.model
    return error


def _kind(part: MediaPart) -> MediaKind:
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video", "document": "document"}
    return kinds[part.type]


def source_name(blob: Blob) -> str:
    """What a file is called in reports and to the model."""
    if blob.name:
        return blob.name
    if blob.form == "url" and blob.location:
        return shown_address(blob.location)
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
