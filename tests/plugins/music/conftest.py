"""Fixtures of the tests of abstractmusic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import LLM, Services, create_llm


@pytest.fixture
def composer(services: Services) -> Callable[..., LLM]:
    """`composer(*replies, **options)` returns an LLM whose model gives these replies, and which composes."""

    def composer(*replies: Any, **options: Any) -> LLM:
        chosen: Any = {"music_backend": "abstractmusic:score", **options}
        return create_llm("scripted", replies=[*replies], services=services, **chosen)

    return composer
