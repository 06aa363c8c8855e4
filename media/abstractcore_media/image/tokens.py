"""The tokens of an image by the rules that vendors publish. Pure: which model has which rule, the caller knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class AreaTokens:
    """A token for each `pixels`, after the image is reduced to a longer edge and a number of tokens.

    Anthropic: https://platform.claude.com/docs/en/build-with-claude/vision#calculate-image-costs.
    """

    pixels: int = 750
    max_edge: int = 1568
    max_tokens: int = 1600


@dataclass(frozen=True, slots=True)
class TileTokens:
    """`base` tokens, and `per_tile` for each square of 512 pixels, after the image is reduced to fit a square of 2048,
    and then to a shorter edge of 768.

    OpenAI, models with tiles: https://developers.openai.com/api/docs/guides/images-vision#calculating-costs.
    """

    base: int
    per_tile: int


@dataclass(frozen=True, slots=True)
class PatchTokens:
    """`factor` tokens for each square of 32 pixels, after the image is reduced to `max_patches`.

    OpenAI, models with patches: https://developers.openai.com/api/docs/guides/images-vision#calculating-costs.
    """

    max_patches: int = 1536
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class CropTokens:
    """`per_tile` tokens for an image with edges up to 384 pixels; else as often as crops of two thirds of the shorter
    edge, of 256 to 768 pixels, cover it.

    Gemini 2: https://ai.google.dev/gemini-api/docs/image-understanding#token-calculation.
    """

    per_tile: int = 258


ImageTokenRule: TypeAlias = AreaTokens | TileTokens | PatchTokens | CropTokens


def image_tokens(width: int, height: int, rule: ImageTokenRule) -> int:
    """Returns the tokens of an image of this size in pixels, as it is sent, by a vendor's rule."""
    if isinstance(rule, AreaTokens):
        return _by_area(width, height, rule)
    if isinstance(rule, TileTokens):
        return _by_tiles(width, height, rule)
    if isinstance(rule, PatchTokens):
        return math.ceil(_patches(width, height, rule.max_patches) * rule.factor)
    if max(width, height) <= 384:
        return rule.per_tile
    edge = min(max(min(width, height) * 2 // 3, 256), 768)
    return math.ceil(width / edge) * math.ceil(height / edge) * rule.per_tile


def _by_area(width: int, height: int, rule: AreaTokens) -> int:
    scale = min(1.0, rule.max_edge / max(width, height))
    return min(math.ceil(width * height * scale * scale / rule.pixels), rule.max_tokens)


def _by_tiles(width: int, height: int, rule: TileTokens) -> int:
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return rule.base + rule.per_tile * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)


def _patches(width: int, height: int, most: int) -> int:
    patches = math.ceil(width / 32) * math.ceil(height / 32)
    if patches <= most:
        return patches
    scale = math.sqrt(32 * 32 * most / (width * height))
    across, down = width * scale / 32, height * scale / 32
    # Reduced further, so that one of the edges is a whole number of patches.
    scale *= min(math.floor(across) / across, math.floor(down) / down)
    return min(math.ceil(round(width * scale / 32, 6)) * math.ceil(round(height * scale / 32, 6)), most)
