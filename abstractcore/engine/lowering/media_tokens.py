"""Estimates the tokens of files by the rules that vendors publish."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

from ...ports import ModelProfile
from ...ports.token_rules import TokenKind, TokenRule
from ...schema import ImagePart, MediaDecision, MediaPart
from .file_facts import sent_pages, sent_seconds

_PDF = "application/pdf"
_KINDS: Mapping[str, TokenKind] = {"image": "image", "audio": "audio", "video": "video"}


def media_tokens(decision: MediaDecision, part: MediaPart, profile: ModelProfile, followed: Set[str]) -> int | None:
    """Returns about how many tokens a file has that is sent natively, with its controls as far as they are `followed`;
    None without a rule, or if the file was not measured.
    """
    kind = "pdf" if decision.type == _PDF else _KINDS.get(decision.kind)
    rule = profile.media_tokens.get(kind) if kind is not None else None
    facts = decision.facts
    if rule is None or decision.route != "native" or facts is None:
        return None
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
    return image_tokens(*_fitted(facts.width, facts.height, decision.fit), rule, level)


def image_tokens(width: int, height: int, rule: TokenRule, level: str | None = None) -> int:
    """Returns the tokens of an image of this size in pixels, as it is sent."""
    each = rule.levels.get(level or "", rule.tokens)
    scale = min(1.0, (rule.max_edge or math.inf) / max(width, height))
    scale = min(scale, (rule.short_edge or math.inf) / min(width, height))
    across, down = width * scale, height * scale
    if rule.by == "area":
        tokens = math.ceil(across * down / rule.pixels)
        return tokens if rule.most is None else min(tokens, rule.most)
    if rule.by == "tiles":
        tiles = 0 if level == "low" else math.ceil(across / rule.pixels) * math.ceil(down / rule.pixels)
        return rule.base + math.ceil(each * tiles)
    if rule.by == "patches":
        return math.ceil(_patches(across, down, rule.pixels, rule.most) * each)
    if rule.by == "cells":
        return math.ceil(_cells(across, down, rule.pixels, rule.most) * each)
    if rule.by == "crops" and max(width, height) > 384:
        edge = min(max(min(width, height) * 2 // 3, 256), rule.pixels)
        return math.ceil(math.ceil(width / edge) * math.ceil(height / edge) * each)
    return math.ceil(each)


def _fitted(width: int, height: int, fit: Mapping[str, int]) -> tuple[int, int]:
    """Returns the size of an image that is made to keep its limits in pixels."""
    scale = min(1.0, fit.get("image_pixels", math.inf) / max(width, height))
    if "image_area" in fit:
        scale = min(scale, math.sqrt(fit["image_area"] / (width * height)))
    return max(1, int(width * scale)), max(1, int(height * scale))


def _cells(width: float, height: float, edge: int, most: int | None) -> int:
    """Returns the cells of an image that is reduced until it has at most so many: the most of all its sizes."""
    across, down = width / edge, height / edge
    if most is None or math.ceil(across) * math.ceil(down) <= most:
        return math.ceil(across) * math.ceil(down)
    whole = [(n, math.ceil(n * down / across - 1e-9)) for n in range(1, math.ceil(across))]
    whole += [(math.ceil(n * across / down - 1e-9), n) for n in range(1, math.ceil(down))]
    return max((columns * rows for columns, rows in whole if columns * rows <= most), default=1)


def _patches(width: float, height: float, edge: int, most: int | None) -> int:
    patches = math.ceil(width / edge) * math.ceil(height / edge)
    if most is None or patches <= most:
        return patches
    scale = math.sqrt(edge * edge * most / (width * height))
    across, down = width * scale / edge, height * scale / edge
    # Reduced further, so that one of the edges is a whole number of patches.
    scale *= min(math.floor(across) / across, math.floor(down) / down)
    return min(math.ceil(round(width * scale / edge, 6)) * math.ceil(round(height * scale / edge, 6)), most)
