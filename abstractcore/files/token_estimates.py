"""Estimates the tokens of files and of whole calls, by the rules that vendors publish. Pure: nothing is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from ..ports import ModelProfile
from ..ports.profiles import TokenKind, TokenRule, image_tokens
from ..schema import (
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    MediaDecision,
    MediaFacts,
    MediaPart,
    ModelCall,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from ..schema.codec import json_of
from ..schema.token_counts import TokenCount, text_tokens
from .contents import text_file_tokens
from .facts import sent_pages, sent_seconds
from .parts import media_parts

_PDF = "application/pdf"
_KINDS: Mapping[str, TokenKind] = {"image": "image", "audio": "audio", "video": "video"}
_AROUND_A_MESSAGE = 4
"""Its role and delimiters, about: as OpenAI's cookbook counts them for its models."""
_AROUND_A_TOOL = 8
OF_A_NOTE = 60
"""A note that a file was left out."""
_IMAGES_OF_A_VIDEO = 16


def media_tokens(decision: MediaDecision, part: MediaPart, profile: ModelProfile, followed: Set[str]) -> int | None:
    """Returns about how many tokens a file has that is sent natively, with its controls as far as they are `followed`;
    None without a rule, or if the file was not measured.
    """
    kind = token_kind(part)
    rule = profile.media_tokens.get(kind) if kind is not None else None
    if rule is None or decision.route != "native" or decision.facts is None:
        return None
    return tokens_by_rule(rule, part, decision.facts, decision.fit, followed)


def token_kind(part: MediaPart) -> TokenKind | None:
    """Returns the kind of file that rules name; None for documents other than PDF."""
    return "pdf" if part.blob.media_type == _PDF else _KINDS.get(part.type)


def tokens_by_rule(
    rule: TokenRule, part: MediaPart, facts: MediaFacts, fit: Mapping[str, int], followed: Set[str]
) -> int | None:
    """Returns the tokens of a file with these facts, as far as they say what the rule counts."""
    level = part.controls.resolution if part.controls is not None and "resolution" in followed else None
    if isinstance(part, ImagePart) and part.detail is not None:
        level = level or part.detail
    each = rule.levels.get(level or "", rule.tokens)
    if rule.by in ("page", "second"):
        fps = part.controls.fps if part.controls is not None and "fps" in followed else None
        count = sent_pages(facts, part.controls, followed)
        if rule.by == "second":
            count = sent_seconds(facts, part.controls, followed)
            each = each * (fps or 1) + rule.base
        return None if count is None else math.ceil(count * each)
    if facts.width is None or facts.height is None or (facts.frames or 1) > 1:
        return None  # of an animation, it is not known how many frames the handler sends
    return image_tokens(*_fitted_size(facts.width, facts.height, fit), rule, level)


def _fitted_size(width: int, height: int, fit: Mapping[str, int]) -> tuple[int, int]:
    """Returns the size of an image that is made to keep its limits in pixels."""
    scale = min(1.0, fit.get("image_pixels", math.inf) / max(width, height))
    if "image_area" in fit:
        scale = min(scale, math.sqrt(fit["image_area"] / (width * height)))
    return max(1, int(width * scale)), max(1, int(height * scale))


@dataclass(frozen=True, slots=True)
class _Usual:
    """What is assumed of a kind of file: `rule` if the vendor of a model has published none, `facts` if the file was
    not measured. These are of one with `size` bytes: the length of another one is in proportion. As text, each page,
    second or image has `as_text` tokens.
    """

    rule: TokenRule
    facts: MediaFacts
    size: int
    as_text: int

    def facts_of(self, part: MediaPart, measured: MediaFacts | None) -> MediaFacts:
        """Returns the facts of a file, with those that are not known as its size suggests."""
        known = measured or MediaFacts()
        share = 1.0 if part.blob.size is None else part.blob.size / self.size
        pages, seconds = self.facts.pages, self.facts.seconds
        return MediaFacts(
            width=known.width or self.facts.width,
            height=known.height or self.facts.height,
            pages=known.pages or (None if pages is None else max(1, math.ceil(pages * share))),
            seconds=known.seconds or (None if seconds is None else max(1.0, seconds * share)),
        )


_USUAL: Mapping[TokenKind, _Usual] = {
    "image": _Usual(
        TokenRule("area", pixels=750, max_edge=1568, most=1600), MediaFacts(width=1024, height=1024), 500_000, 300
    ),
    "pdf": _Usual(TokenRule("page", 1500), MediaFacts(pages=10), 500_000, 600),
    "audio": _Usual(TokenRule("second", 32), MediaFacts(seconds=60.0), 960_000, 4),
    "video": _Usual(TokenRule("second", 300), MediaFacts(seconds=60.0), 15_000_000, 4),
}


_UNKNOWN_MODEL = ModelProfile()


def estimated_tokens(
    call: ModelCall, profile: ModelProfile = _UNKNOWN_MODEL, decisions: Sequence[MediaDecision] = ()
) -> TokenCount:
    """Returns an estimate of the input tokens of a call: its messages, tools, answer type and files.

    Of a lowered call, `decisions` say how its files are sent and what was measured of them. A file without one is taken
    as it is, and one that was not measured as long as its size suggests.
    """
    decided = {decision.part_path: decision for decision in decisions}
    of_files = sum(_of_file(part, decided.get(path), profile) for path, part in media_parts(call))
    return TokenCount(tokens_beside_files(call) + of_files, estimated=True)


def audio_tokens(call: ModelCall, profile: ModelProfile, decisions: Sequence[MediaDecision]) -> int:
    """Returns an estimate of the tokens of recordings that are sent natively: vendors charge more for them."""
    parts = dict(media_parts(call))
    heard = [each for each in decisions if each.kind == "audio" and each.route == "native"]
    return sum(_of_file(parts[each.part_path], each, profile) for each in heard)


def tokens_beside_files(call: ModelCall) -> int:
    """Returns an estimate of the input tokens of a call without those of its files."""
    tokens = sum(map(_of_part, (part for message in call.messages for part in message.parts)))
    tokens += _AROUND_A_MESSAGE * len(call.messages)
    for tool in call.tools:
        if not tool.defer:
            tokens += _AROUND_A_TOOL + text_tokens(f"{tool.name} {tool.description}") + _of_json(tool.parameters)
    tokens += sum(_AROUND_A_TOOL + _of_json(tool.options) for tool in call.hosted_tools)
    tools_of_vendor = call.provider_options.get(call.provider, {}).get("tools")
    if tools_of_vendor:
        tokens += _of_json(tools_of_vendor)
    if call.output is not None:
        tokens += _AROUND_A_TOOL + _of_json(call.output.schema)
    return tokens


def _of_part(part: Part) -> int:
    """Returns the tokens of a part, without those of files."""
    if isinstance(part, TextPart | ReasoningPart):
        return text_tokens(part.text)
    if isinstance(part, ToolCall | HostedToolCall):
        return _AROUND_A_MESSAGE + text_tokens(f"{part.name} {part.arguments_text}")
    if isinstance(part, ToolResult | HostedToolResult):
        return _AROUND_A_MESSAGE + sum(text_tokens(each.text) for each in part.content if isinstance(each, TextPart))
    return _of_json(part.data) if isinstance(part, OpaquePart) else 0


def _of_json(value: object) -> int:
    return text_tokens(json_of(value).decode())


def _of_file(part: MediaPart, decision: MediaDecision | None, profile: ModelProfile) -> int:
    if decision is None:
        return text_file_tokens(part) if part.blob.media_type.startswith("text/") else _as_it_is(part, None, profile)
    if decision.tokens is not None:
        return decision.tokens
    if decision.route == "native":
        return _as_it_is(part, decision, profile)
    if decision.route == "inline":
        return text_file_tokens(part)
    return OF_A_NOTE if decision.route == "left_out" else _conversion_tokens(part, decision, profile)


def _as_it_is(part: MediaPart, decision: MediaDecision | None, profile: ModelProfile) -> int:
    """Returns the tokens of a file that is sent natively."""
    kind = token_kind(part) or "pdf"
    facts = _USUAL[kind].facts_of(part, None if decision is None else decision.facts)
    rule = profile.media_tokens.get(kind, _USUAL[kind].rule)
    return tokens_by_rule(rule, part, facts, {} if decision is None else decision.fit, frozenset()) or 0


def _conversion_tokens(part: MediaPart, decision: MediaDecision, profile: ModelProfile) -> int:
    """Returns the tokens of what a file will be converted to: images, or else a text."""
    kind = token_kind(part) or "pdf"
    facts = _USUAL[kind].facts_of(part, decision.facts)
    as_text = math.ceil((facts.pages or facts.seconds or 1) * _USUAL[kind].as_text)
    if not any(output.startswith("image/") for output in decision.outputs):
        return as_text
    size = _USUAL["image"].facts
    each = image_tokens(size.width or 1, size.height or 1, profile.media_tokens.get("image", _USUAL["image"].rule))
    count = _IMAGES_OF_A_VIDEO if kind == "video" else facts.pages or 1
    spoken = as_text if kind == "video" and "text" in decision.outputs else 0
    return each * min(count, decision.fit.get("images", count)) + spoken
