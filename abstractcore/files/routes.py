"""Decides how each file of a call is sent: natively, as text, converted, or refused; and who downloads it."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ..ports import MediaHandler, ModelProfile, chosen_pages
from ..schema import Blob, CallWarning, MediaKind, MediaPart, ModelCall, media_kind_of
from ..schema.base_error import shown_file_name
from .parts import can_be_read, handler_for, is_cut, media_parts, source_name, turn_start
from .policies import (
    check_policies,
    choices,
    converted_decision,
    not_at_hand,
    refusal,
    usable_fallbacks,
    with_fallbacks,
)

if TYPE_CHECKING:
    from ..schema import MediaDecision
    from .alternatives import Alternatives
    from .contents import MadeFiles
    from .facts import FactsByFile
    from .policies import MediaDefaults

_DOWNLOADED = ("http", "https")
"""The schemes of URLs that can be downloaded here."""


def lower_media(
    call: ModelCall,
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    configured: Set[str] = frozenset(),
    facts: FactsByFile | None = None,
    defaults: Callable[[], MediaDefaults] | None = None,
    added: int = 0,
    made: MadeFiles | None = None,
) -> tuple[ModelCall, tuple[MediaDecision, ...], list[CallWarning]]:
    """Returns `call` with the policies that hold for it, the decision for each of its files, in order, and warnings.
    Pure. `configured` are the names of the options for fallbacks that are set, `facts` what was measured of the files.
    The last `added` messages belong to the turn before them. `made` is what earlier decisions for the same call have
    made of its files: they are changed until all files keep the limits.

    Raises `InvalidInputError` for a policy that is not known, `UnsupportedContentError`, naming the choices, for a
    file that the model or the policy does not allow, and `MediaError` for one that must be converted and is given
    as a URL or a provider file.
    """
    check_policies(call.media_policy, handlers)
    parts = dict(media_parts(call))
    if not parts:
        return call, (), []
    explicit = call.media_policy
    call, by_default = _with_defaults(call, defaults)

    def decided(path: str) -> MediaDecision:
        decision = _decide(parts[path], path, call, profile, handlers, configured)
        known = facts.get((parts[path].blob.sha256, parts[path].blob.media_type)) if facts else None
        kind = decision.kind
        source = "call" if kind in explicit else "configuration" if kind in by_default else "default"
        return replace(decision, policy_source=source, facts=known)

    decisions = made.decisions if made is not None else tuple(map(decided, parts))
    for decision in decisions:
        _check_pages(decision, parts[decision.part_path])
    warnings: list[CallWarning] = []
    if call.file_store == "always":
        from .alternatives import no_store, store_all

        decisions = store_all(call, decisions, parts, profile, made)
        warnings += no_store(call, decisions, profile)
    if made is not None or call.media_history or profile.media_limits or profile.media_tokens:
        from .limits import lower_limits

        alternatives = _alternatives(call, parts, profile, handlers, configured, added)
        decisions = _revise_earlier(decisions, call, alternatives, decided, made)
        decisions = lower_limits(decisions, made, alternatives)
    decisions = tuple(_with_fetch(each, parts[each.part_path], call, profile, handlers) for each in decisions)
    for decision in decisions:
        warnings += _unsure(decision, call, profile)
        warnings += _name_warnings(parts[decision.part_path].blob, decision.part_path)
        if decision.route == "native" and decision.native_loss:
            warnings.append(lossy_native(decision))
    return call, decisions, warnings


def _with_defaults(
    call: ModelCall, defaults: Callable[[], MediaDefaults] | None
) -> tuple[ModelCall, Mapping[MediaKind, str]]:
    """Returns the call with what is configured for kinds of files, and the configured policies."""
    if defaults is None:
        return call, {}
    found = defaults()
    changes: dict[str, object] = {}
    if found.media_policy.keys() - call.media_policy.keys():
        changes["media_policy"] = {**found.media_policy, **call.media_policy}
    if found.media_history.keys() - call.media_history.keys():
        changes["media_history"] = {**found.media_history, **call.media_history}
    return call.with_(**changes) if changes else call, found.media_policy


def _alternatives(
    call: ModelCall,
    parts: Mapping[str, MediaPart],
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    configured: Set[str],
    added: int,
) -> Alternatives:
    from .alternatives import Alternatives

    return Alternatives(call, parts, profile, handlers, configured, turn_start(call, added))


def _revise_earlier(
    decisions: Sequence[MediaDecision],
    call: ModelCall,
    alternatives: Alternatives,
    decided: Callable[[str], MediaDecision],
    made: MadeFiles | None,
) -> tuple[MediaDecision, ...]:
    """Returns decisions by the policy for files of earlier turns; of files without a text, the ones before it."""
    from .alternatives import lower_history, stays

    if made is None:
        if not call.media_history:
            return tuple(decisions)
        return tuple(lower_history(each, call.media_history, alternatives) for each in decisions)
    found: list[MediaDecision] = []
    for decision in decisions:
        failure = made.failures.get(decision.part_path)
        if failure is None:
            found.append(decision)
        elif decision.text_because == "history":
            found.append(stays(decided(decision.part_path), failure))
        else:
            found.append(alternatives.left_out(decision, f"there is no room for it, and no text of it: {failure}"))
    return tuple(found)


def _check_pages(decision: MediaDecision, part: MediaPart) -> None:
    """Raises `MediaError` for pages that a file is known not to have."""
    if decision.facts is not None and decision.facts.pages is not None and part.controls is not None:
        chosen_pages(part.controls, decision.facts.pages, decision.source)


def _with_fetch(
    decision: MediaDecision,
    part: MediaPart,
    call: ModelCall,
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
) -> MediaDecision:
    """Returns the decision with who downloads the file, if that is a question."""
    if part.blob.form not in ("url", "provider_file") or decision.fetch is not None or decision.route == "left_out":
        return decision

    return lower_location(decision, part, call, profile, is_cut=is_cut(part, handler_for(part, handlers)[0]))


def lossy_native(decision: MediaDecision) -> CallWarning:
    """Returns the warning that the provider loses something of a file that is sent natively."""
    message = f"{decision.source} is sent natively, and the provider {decision.native_loss}"
    return CallWarning("lossy_at_provider", decision.part_path, message, decision.type)


def _decide(
    part: MediaPart,
    path: str,
    call: ModelCall,
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    configured: Set[str],
) -> MediaDecision:
    handler, kind = handler_for(part, handlers)
    policy = call.media_policy.get(kind, "auto")
    media_type = part.blob.media_type
    usable, outputs = usable_fallbacks(handler, policy, profile, configured, media_type)
    known = profile.supports(kind, media_type)
    only_natively = policy == "native" or not outputs
    native = known or profile.may_support(kind, media_type, only_natively=only_natively)
    from ..schema import MediaDecision

    decision = MediaDecision(
        part_path=path,
        source=source_name(part.blob),
        type=media_type,
        kind=kind,
        route="native",
        reason=f"{call.model} accepts {media_type}" if known else _not_known(call.model, media_type),
        handler=handler.name if handler is not None else None,
        policy=policy,
    )
    converted = with_fallbacks(decision, usable, outputs)
    instead = [] if native else profile.like(media_type)
    if policy == "refuse":
        possible = choices(converted, handler, native=native, instead=instead, configured=configured)
        raise refusal(decision, call, f"the policy for {kind} is 'refuse'", possible)
    is_text = kind == "text" and "text" in outputs
    is_inlined = is_text and usable[0].preferred_with is None
    if native and policy in ("native", "auto") and not (is_text and policy == "auto"):
        loss = profile.lossy.get(media_type, "")
        if not loss or call.provider in part.provider_options:
            return decision
        if policy == "native" or not outputs or not can_be_read(part):
            return replace(decision, native_loss=loss)
        converted = replace(converted, native_loss=loss)
        return converted_decision(converted, call, handler, f"{call.provider} {loss}", instead, configured)
    if is_inlined:
        return replace(converted, route="inline", reason="text files are sent as text")
    unknown = bool(profile.assumed or profile.encodable)
    why = f"the policy is {policy!r}" if policy not in ("native", "auto") else _why_not(call.model, media_type, unknown)
    if is_text and policy == "auto":
        why = f"the option {usable[0].preferred_with} is set"
    if policy == "native":
        possible = choices(
            converted, handler, native=native, instead=instead, configured=configured, may_be_wrong=not unknown
        )
        raise refusal(decision, call, why, possible)
    may_be_wrong = not native and not unknown
    return converted_decision(converted, call, handler, why, instead, configured, may_be_wrong=may_be_wrong)


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


def _name_warnings(blob: Blob, path: str) -> list[CallWarning]:
    """Returns a warning if the file's name suggests another type than its content."""
    named, packing = _names().guess_type(blob.name or "")
    if named is None or packing is not None or _family(named) == _family(blob.media_type):
        return []
    if named == "video/mp2t" and _family(blob.media_type) == "text":  # .ts is TypeScript as well
        return []
    message = f"the name {shown_file_name(blob.name or '')} suggests {named}, but the content is {blob.media_type}"
    return [CallWarning("media_type_mismatch", path, message, named, blob.media_type)]


@cache
def _names() -> mimetypes.MimeTypes:
    """Returns the types that Python knows, without those of this machine, of which some are rare: .rs, say."""
    return mimetypes.MimeTypes()


_TEXT_SUBTYPES = frozenset({"javascript", "json", "rtf", "sql", "toml", "x-python", "x-sh", "x-yaml", "xml", "yaml"})


def _family(media_type: str) -> str:
    """Returns one type for types that often differ by name only."""
    top, _, sub = media_type.partition("/")
    if top in ("audio", "video"):  # many containers are for both
        return "audio"
    if top == "image":
        return top
    if top == "text" or sub in _TEXT_SUBTYPES:
        return "text"
    return media_type


def lower_location(
    decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile, *, is_cut: bool = False
) -> MediaDecision:
    """Returns the decision with who downloads the file, if it is a URL. Pure. One that `is_cut` is downloaded here, if
    that is possible and its user does not say otherwise.

    Raises `UnsupportedContentError` for a file that is sent natively and that the endpoint cannot read where it is, and
    `MediaError` for one that must be converted and cannot be downloaded here.
    """
    form = part.blob.form
    if form == "provider_file":
        return _check_stored(decision, part, call, profile)
    return _at_url(decision, part, call, profile, is_cut) if form == "url" else decision


def _check_stored(decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile) -> MediaDecision:
    if decision.route != "native":
        raise not_at_hand(decision, call)
    if not profile.accepts_id(decision.kind, part.blob.media_type):
        why = f"requests to {call.provider or call.model} cannot name a stored file of this type"
        raise refusal(decision, call, why, ["pass the file itself"])
    return decision


def _at_url(
    decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile, is_cut: bool
) -> MediaDecision:
    wanted = part.controls.fetch if part.controls is not None else None
    url = part.blob.location or ""
    if decision.route == "native":
        is_read = profile.reads_url(decision.kind, part.blob.media_type, url)
        is_cut = is_cut and _scheme(url) in _DOWNLOADED
        if is_read and (wanted == "vendor" or not (wanted == "us" or is_cut)):
            return replace(decision, fetch="vendor")
        if is_read and wanted is None:
            decision = replace(decision, reason=f"{decision.reason}; it is downloaded here, to send a part of it")
        elif wanted != "us":
            why = f"{call.provider or call.model} does not read {_scheme(url)} URLs of {part.blob.media_type}"
            if wanted == "vendor":
                raise refusal(decision, call, why, ["leave fetch='vendor' out: it is then downloaded here"])
            decision = replace(decision, reason=f"{decision.reason}; it is downloaded here, since {why}")
    elif wanted == "vendor":
        raise not_at_hand(decision, call)
    if _scheme(url) not in _DOWNLOADED:
        why = f"{_scheme(url)} URLs cannot be downloaded here"
        raise refusal(decision, call, why, ["pass the file itself", "pass an https:// URL"])
    return replace(decision, fetch="us")


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()
