"""Cohere's models."""

from __future__ import annotations

from abstractcore.ports import ModelProfile, Thinking

from ...common.media_types import COHERE_IMAGES
from .family import ModelFamily

_TEXT = frozenset[str]()
_NO_THINKING = Thinking()


def _family(name: str, accepts: frozenset[str], context_tokens: int, thinking: Thinking = _NO_THINKING) -> ModelFamily:
    profile = ModelProfile(accepts, context_tokens, thinking=thinking, cache_points=0, media_after_results=True)
    return ModelFamily((name,), profile, source="https://docs.cohere.com/docs/models")


COHERE: tuple[ModelFamily, ...] = (
    _family("command-a-reasoning", _TEXT, 256_000, Thinking(budget=(1, 31_000))),
    _family("command-a-vision", COHERE_IMAGES, 128_000),
    _family("command-a-03-2025", _TEXT, 256_000),
    _family("command-r", _TEXT, 128_000),
)
"""After the page of each model at docs.cohere.com/docs."""
UNKNOWN_COHERE = ModelFamily(
    (),
    ModelProfile(assumed=COHERE_IMAGES, encodable=COHERE_IMAGES, cache_points=0, media_after_results=True, known=False),
)
