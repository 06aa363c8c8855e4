"""Decides how each file of a call is sent: natively, as text, converted, or refused."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ...errors import MediaError, UnsupportedContentError
from ...ports import MediaHandler, ModelProfile
from ...schema import (
    MEDIA_PART_BY_KIND,
    MEDIA_PARTS,
    Blob,
    CallWarning,
    MediaKind,
    MediaPart,
    MediaPolicy,
    ModelCall,
    ToolResult,
    media_kind_of,
)
from ...schema.quoting import shown_address

if TYPE_CHECKING:
    from ...schema import MediaDecision

_ELSEWHERE = ("url", "provider_file")
"""The forms of content that only a provider can read."""


def lower_media(
    call: ModelCall, profile: ModelProfile, handlers: Sequence[MediaHandler]
) -> tuple[tuple[MediaDecision, ...], list[CallWarning]]:
    """Returns the decision for each file of `call`, in order, and warnings. Pure.

    Raises `UnsupportedContentError`, naming the choices, for a file that the model or the policy does not allow, and
    `MediaError` for one that must be converted and is given as a URL or a provider file.
    """
    decisions: list[MediaDecision] = []
    warnings: list[CallWarning] = []
    for path, part in media_parts(call):
        decision = _decide(part, path, call, profile, handlers)
        if decision.route != "native" and part.blob.form in _ELSEWHERE:
            raise _not_at_hand(decision, call)
        decisions.append(decision)
        warnings += _unsure(decision, call, profile)
        warnings += _misnamed(part.blob, path)
    return tuple(decisions), warnings


def media_parts(call: ModelCall) -> list[tuple[str, MediaPart]]:
    """Returns the files of a call, in messages and tool results, each with its path."""
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


def _handler_for(part: MediaPart, handlers: Sequence[MediaHandler]) -> tuple[MediaHandler | None, MediaKind]:
    """Returns the first handler for files of this type and parts of this class, and the kind that it reports."""
    blob = part.blob
    for handler in handlers:
        found = handler.recognise(b"", blob.name or "", blob.media_type)
        if found is not None and MEDIA_PART_BY_KIND[found.kind] is type(part):
            return handler, found.kind
    return None, cast(MediaKind, part.type)


def _usable(handler: MediaHandler, profile: ModelProfile) -> tuple[str, ...]:
    """Returns the content types of a handler that may be sent to the model."""
    only_natively = "text" not in handler.outputs
    return tuple(
        sorted(
            given
            for given in handler.outputs
            if given == "text"
            or profile.supports(media_kind_of(given), given)
            or profile.may_support(media_kind_of(given), given, only_natively=only_natively)
        )
    )


def _decide(
    part: MediaPart, path: str, call: ModelCall, profile: ModelProfile, handlers: Sequence[MediaHandler]
) -> MediaDecision:
    handler, kind = _handler_for(part, handlers)
    outputs = _usable(handler, profile) if handler is not None else ()
    policy: MediaPolicy = call.media_policy.get(kind, "auto")
    media_type = part.blob.media_type
    known = profile.supports(kind, media_type)
    only_natively = policy == "native" or not outputs
    native = known or profile.may_support(kind, media_type, only_natively=only_natively)
    from ...schema import MediaDecision

    decision = MediaDecision(
        part_path=path,
        source=source_name(part.blob),
        type=media_type,
        kind=kind,
        route="native",
        reason=f"{call.model} accepts {media_type}" if known else _not_known(call.model, media_type),
        handler=handler.name if handler is not None else None,
    )
    instead = [] if native else profile.like(media_type)
    if policy == "refuse":
        choices = _choices(decision, native, outputs, handler, instead, may_be_wrong=False)
        raise _refused(decision, call, f"the policy for {kind} is 'refuse'", choices)
    is_text = kind == "text" and "text" in outputs
    if native and policy != "fallback_only" and not (is_text and policy == "auto"):
        return decision
    if is_text:
        reason = "text files are sent as text"
        return replace(decision, route="inline", reason=reason, outputs=outputs)
    unknown = bool(profile.assumed or profile.encodable)
    why = "the policy is 'fallback_only'" if policy == "fallback_only" else _why_not(call.model, media_type, unknown)
    if handler is None or only_natively:
        if handler is not None and handler.outputs and not outputs:
            why += f", and {_not_taken(handler, outputs, call.model)}"
        choices = _choices(decision, native, outputs, handler, instead, may_be_wrong=not native and not unknown)
        raise _refused(decision, call, why, choices)
    reason = f"{why}, so the {handler.name} handler converts it to {' and '.join(outputs)}"
    if len(outputs) < len(handler.outputs):
        reason += f"; {_not_taken(handler, outputs, call.model)}"
    return replace(decision, route="fallback", reason=reason, outputs=outputs)


def _not_taken(handler: MediaHandler, outputs: Sequence[str], model: str) -> str:
    left_out = ", ".join(sorted(set(handler.outputs) - set(outputs)))
    return f"{model} does not accept {left_out}, which the {handler.name} handler can convert it to"


def _why_not(model: str, media_type: str, unknown: bool) -> str:
    """Returns why a file is not sent natively."""
    if unknown:
        return f"neither {model} nor its wire format is known to accept {media_type}"
    return f"{model} does not accept {media_type}"


def _not_known(model: str, media_type: str) -> str:
    return f"it is not known whether {model} accepts {media_type}"


def _unsure(decision: MediaDecision, call: ModelCall, profile: ModelProfile) -> list[CallWarning]:
    """Returns a warning for each type of content that the model is not known to accept."""
    if decision.route == "native":
        sent = [(decision.kind, decision.type, "it is sent unchanged")]
    else:
        types = [given for given in decision.outputs if given != "text"]
        sent = [(media_kind_of(given), given, f"{decision.source} is converted to it") for given in types]
    hint = "create_llm(..., accepts=[...]) declares what the model accepts"
    return [
        CallWarning("unknown_model", decision.part_path, f"{_not_known(call.model, type_)}: {what}; {hint}", type_)
        for kind, type_, what in sent
        if not profile.supports(kind, type_)
    ]


def _choices(
    decision: MediaDecision,
    native: bool,
    outputs: Sequence[str],
    handler: MediaHandler | None,
    instead: Sequence[str],
    *,
    may_be_wrong: bool,
) -> list[str]:
    """Returns what the user can do about a refused file. `instead` are accepted types; `may_be_wrong` is True if the
    profile of the model may be wrong.
    """
    choices = [f"convert it to {', '.join(instead)}"] if instead else []
    if not native and not instead:
        types = sorted({media_kind_of(given) for given in handler.outputs - {"text"}} if handler is not None else ())
        choices.append(f"choose a model that accepts {' or '.join(dict.fromkeys([decision.kind, *types]))}")
    if may_be_wrong:
        what = decision.type if instead or decision.kind in ("document", "text") else decision.kind
        choices.append(f"declare that this model accepts it with create_llm(..., accepts=[{what!r}])")
    if native:
        choices.append(f"allow it with media_policy={{{decision.kind!r}: 'auto'}}")
    elif handler is not None and outputs:
        choices.append(
            f"let the {handler.name} handler convert it to {' and '.join(outputs)} "
            f"with media_policy={{{decision.kind!r}: 'auto'}}"
        )
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
        f"{decision.source} ({decision.part_path}) is a URL or a provider file, which is never downloaded here, "
        f"and cannot be sent natively: {decision.reason}.",
        source=decision.source,
        hint="Download it, and pass the path of the file.",
    )
    error.provider, error.model = call.provider or None, call.model
    return error


def source_name(blob: Blob) -> str:
    """Returns the name of a file in reports and for the model."""
    if blob.name:
        return blob.name
    if blob.form == "url" and blob.location:
        return shown_address(blob.location)
    return f"{blob.media_type.split('/')[0]} of {blob.size} bytes" if blob.size is not None else blob.media_type


def _misnamed(blob: Blob, path: str) -> list[CallWarning]:
    """Returns a warning if the file's name suggests another type than its content."""
    named = mimetypes.guess_type(blob.name or "")[0]
    if named is None or _family(named) == _family(blob.media_type):
        return []
    message = f"the name {blob.name} suggests {named}, but the content is {blob.media_type}"
    return [CallWarning("media_type_mismatch", path, message, named, blob.media_type)]


def _family(media_type: str) -> str:
    """Returns one type for types that often differ by name only."""
    top, _, sub = media_type.partition("/")
    if top in ("image", "audio", "video"):
        return top
    if top == "text" or sub in ("json", "xml", "javascript", "x-yaml", "yaml", "toml", "sql", "x-sh", "x-python"):
        return "text"
    return media_type
