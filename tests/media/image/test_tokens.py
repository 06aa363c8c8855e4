"""The tokens of images, against the examples on the vendors' pages."""

from __future__ import annotations

import pytest

from abstractcore_media.image.tokens import (
    AreaTokens,
    CropTokens,
    ImageTokenRule,
    PatchTokens,
    TileTokens,
    image_tokens,
)

ANTHROPIC = AreaTokens()
GPT_4O = TileTokens(85, 170)
GPT_4_1_MINI = PatchTokens(1536, 1.62)


@pytest.mark.parametrize(
    ("rule", "width", "height", "tokens"),
    [
        # https://developers.openai.com/api/docs/guides/images-vision#calculating-costs
        (GPT_4O, 1024, 1024, 765),
        (GPT_4O, 2048, 4096, 1105),
        (PatchTokens(), 1024, 1024, 1024),
        (PatchTokens(), 1800, 2400, 1452),
        (GPT_4_1_MINI, 1800, 2400, 2353),
        (GPT_4_1_MINI, 4000, 1474, 2348),
        # https://platform.claude.com/docs/en/build-with-claude/vision#calculate-image-costs
        (ANTHROPIC, 200, 200, 54),
        (ANTHROPIC, 1000, 1000, 1334),
        (ANTHROPIC, 1092, 1092, 1590),
        # https://ai.google.dev/gemini-api/docs/image-understanding#token-calculation
        (CropTokens(), 384, 384, 258),
        (CropTokens(), 960, 540, 1548),
    ],
)
def test_examples_of_the_vendors(rule: ImageTokenRule, width: int, height: int, tokens: int):
    assert image_tokens(width, height, rule) == tokens


@pytest.mark.parametrize("rule", [ANTHROPIC, GPT_4O, GPT_4_1_MINI, CropTokens()])
@pytest.mark.parametrize("size", [(1, 1), (1, 9000), (9000, 1), (8000, 8000)])
def test_extreme_sizes_have_a_bounded_cost(rule: ImageTokenRule, size: tuple[int, int]):
    assert 1 <= image_tokens(*size, rule) <= 40_000
