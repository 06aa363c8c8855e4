"""Estimates the tokens of files by the rules that vendors publish."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

from ..ports import ModelProfile
from ..ports.token_rules import TokenKind, TokenRule, image_tokens
from ..schema import ImagePart, MediaDecision, MediaFacts, MediaPart
from .facts import sent_pages, sent_seconds

_PDF = "application/pdf"
_KINDS: Mapping[str, TokenKind] = {"image": "image", "audio": "audio", "video": "video"}


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
    return image_tokens(*_fitted(facts.width, facts.height, fit), rule, level)


def _fitted(width: int, height: int, fit: Mapping[str, int]) -> tuple[int, int]:
    """Returns the size of an image that is made to keep its limits in pixels."""
    scale = min(1.0, fit.get("image_pixels", math.inf) / max(width, height))
    if "image_area" in fit:
        scale = min(scale, math.sqrt(fit["image_area"] / (width * height)))
    return max(1, int(width * scale)), max(1, int(height * scale))
