"""OpenAI's models, on chat completions, in the Responses API and on Azure.

The pages are named in tests/providers/formats/openai_chat/SOURCES.md.
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import Any

from abstractcore.ports import ModelProfile, Thinking

from .family import ModelFamily, family

_SOURCE = "https://developers.openai.com/api/docs/models"
TEXT = frozenset[str]()
IMAGES = frozenset({"image"})
FILES = frozenset({"image", "application/pdf"})
"""Models that accept images accept PDF too (developers.openai.com/api/docs/guides/pdf-files)."""
AUDIO = frozenset({"audio/wav", "audio/mpeg"})

NO_THINKING = Thinking()
LOW_TO_HIGH = Thinking(("low", "medium", "high"))
BY_DEFAULT = Thinking(("low", "medium", "high"), on_by_default=True)
ALWAYS_LOW_TO_HIGH = Thinking(("low", "medium", "high"), can_be_off=False, on_by_default=True)
ALWAYS_MINIMAL_TO_HIGH = Thinking(("minimal", "low", "medium", "high"), can_be_off=False, on_by_default=True)
_ALWAYS_HIGH = Thinking(("high",), can_be_off=False, on_by_default=True)
SOMEHOW = Thinking(on_by_default=True)

SAMPLING = frozenset({"temperature", "top_p", "top_logprobs"})
PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
_MAY_THINK: dict[str, Any] = {"refused_with_thinking": SAMPLING}
_NO_TOOLS: dict[str, Any] = {**_MAY_THINK, "tools": "never", "tools_provider": "openai-responses"}
_TOOLS_UNTHINKING: dict[str, Any] = {**_NO_TOOLS, "tools": "without_thinking"}
_TOOLS_UNSET: dict[str, Any] = {**_NO_TOOLS, "tools": "thinking_unset"}
_ALWAYS_THINKS: dict[str, Any] = {"refused_with_thinking": SAMPLING | PENALTIES}
_NO_STOP: dict[str, Any] = {"refused_with_thinking": SAMPLING | PENALTIES | {"stop"}}
_NO_REASONING: dict[str, Any] = {"settings": MappingProxyType({"encrypted_reasoning": False})}

_openai = partial(family, _SOURCE)
OPENAI: tuple[ModelFamily, ...] = (
    _openai("gpt-6-astra", FILES, 1_050_000, ALWAYS_LOW_TO_HIGH, **_NO_TOOLS),
    _openai("gpt-6.1-sol", FILES, 1_050_000, ALWAYS_LOW_TO_HIGH, **_NO_TOOLS),
    _openai("gpt-6-sol", FILES, 1_050_000, BY_DEFAULT, **_TOOLS_UNTHINKING),
    _openai("gpt-6-luna", FILES, 1_050_000, BY_DEFAULT, **_TOOLS_UNTHINKING),
    ModelFamily(("gpt-6",), ModelProfile(thinking=SOMEHOW, known=False, **_TOOLS_UNTHINKING), _SOURCE),
    _openai("gpt-5.6", FILES, None, BY_DEFAULT, **_TOOLS_UNTHINKING),
    _openai("gpt-5.5", FILES, 1_050_000, BY_DEFAULT, **_TOOLS_UNSET),
    _openai("gpt-5.4-mini", FILES, None, LOW_TO_HIGH, **_TOOLS_UNSET),
    _openai("gpt-5.4-nano", FILES, None, LOW_TO_HIGH, **_TOOLS_UNSET),
    _openai("gpt-5.4", FILES, 1_050_000, LOW_TO_HIGH, **_TOOLS_UNSET),
    _openai("gpt-5.2-chat", FILES, 128_000),
    _openai("gpt-5.2", FILES, 400_000, LOW_TO_HIGH, **_MAY_THINK),
    _openai("gpt-5.1-chat", FILES, 128_000),
    _openai("gpt-5.1", FILES, 400_000, LOW_TO_HIGH, **_MAY_THINK),
    _openai("gpt-5.", FILES, None, LOW_TO_HIGH),
    _openai("gpt-5-chat", FILES, None, NO_THINKING, **_NO_REASONING),
    _openai("gpt-5-pro", FILES, 400_000, _ALWAYS_HIGH, **_ALWAYS_THINKS),
    _openai("gpt-5", FILES, 400_000, ALWAYS_MINIMAL_TO_HIGH, **_ALWAYS_THINKS),
    _openai("gpt-audio", AUDIO, None, NO_THINKING),
    _openai("gpt-4o-mini-audio", AUDIO, None, NO_THINKING, **_NO_REASONING),
    _openai("gpt-4o-audio", AUDIO, None, NO_THINKING, **_NO_REASONING),
    _openai("gpt-4o", FILES, 128_000, NO_THINKING, **_NO_REASONING),
    _openai("gpt-4.1", FILES, 1_047_576, NO_THINKING, **_NO_REASONING),
    _openai("gpt-4-1106-preview", TEXT, 128_000, NO_THINKING, **_NO_REASONING),
    _openai("gpt-4-turbo", IMAGES, 128_000, NO_THINKING, **_NO_REASONING),
    _openai("gpt-4", TEXT, 8_192, NO_THINKING, **_NO_REASONING),
    _openai("gpt-3.5", TEXT, 16_385, NO_THINKING, **_NO_REASONING),
    ModelFamily(("chatgpt-",), ModelProfile(known=False, **_NO_REASONING), _SOURCE),
    _openai("o1-mini", TEXT, thinking=SOMEHOW, **_ALWAYS_THINKS),
    _openai("o3-mini", TEXT, 200_000, ALWAYS_LOW_TO_HIGH, **_ALWAYS_THINKS),
    _openai("o1", FILES, 200_000, ALWAYS_LOW_TO_HIGH, **_ALWAYS_THINKS),
    _openai("o3", FILES, 200_000, ALWAYS_LOW_TO_HIGH, **_NO_STOP),
    _openai("o4-mini", FILES, 200_000, ALWAYS_LOW_TO_HIGH, **_NO_STOP),
)
