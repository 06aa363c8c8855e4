"""OpenAI's models, on chat completions, in the Responses API and on Azure.

The pages are named in tests/providers/formats/openai_chat/SOURCES.md.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from abstractcore.ports import Thinking

from ..rules.openai import ModelRules
from .family import ModelFamily, family

OpenAIFamily: TypeAlias = ModelFamily[ModelRules | None]

_SOURCE = "https://developers.openai.com/api/docs/models"
TEXT = frozenset[str]()
IMAGES = frozenset({"image"})
FILES = frozenset({"image", "application/pdf"})
"""Models that accept images accept PDF too (developers.openai.com/api/docs/guides/pdf-files)."""
AUDIO = frozenset({"audio/wav", "audio/mpeg"})

NO_THINKING = Thinking()
LOW_TO_HIGH = Thinking(("low", "medium", "high"))
ALWAYS_LOW_TO_HIGH = Thinking(("low", "medium", "high"), can_be_off=False)
ALWAYS_MINIMAL_TO_HIGH = Thinking(("minimal", "low", "medium", "high"), can_be_off=False)
_ALWAYS_HIGH = Thinking(("high",), can_be_off=False)

SAMPLING = frozenset({"temperature", "top_p", "top_logprobs"})
PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
_NO_TOOLS = ModelRules(thinks_by_default=True, refused_while_thinking=SAMPLING, tools="never")
_TOOLS_UNTHINKING = ModelRules(thinks_by_default=True, refused_while_thinking=SAMPLING, tools="off")
_GPT_5_5 = ModelRules(thinks_by_default=True, refused_while_thinking=SAMPLING, tools="unset")
_GPT_5_4 = ModelRules(refused_while_thinking=SAMPLING, tools="unset")
_MAY_THINK = ModelRules(refused_while_thinking=SAMPLING)
_ALWAYS_THINKS = ModelRules(thinks_by_default=True, refused_while_thinking=SAMPLING | PENALTIES)
_NO_REASONING = ModelRules(encrypted_reasoning=False)
_NO_STOP = ModelRules(thinks_by_default=True, refused_while_thinking=SAMPLING | PENALTIES | {"stop"})

_openai = partial(family, _SOURCE)
OPENAI: tuple[OpenAIFamily, ...] = (
    _openai("gpt-6-astra", FILES, 1_050_000, ALWAYS_LOW_TO_HIGH, _NO_TOOLS),
    _openai("gpt-6.1-sol", FILES, 1_050_000, ALWAYS_LOW_TO_HIGH, _NO_TOOLS),
    _openai("gpt-6-sol", FILES, 1_050_000, LOW_TO_HIGH, _TOOLS_UNTHINKING),
    _openai("gpt-6-luna", FILES, 1_050_000, LOW_TO_HIGH, _TOOLS_UNTHINKING),
    ModelFamily(("gpt-6",), rules=_TOOLS_UNTHINKING, source=_SOURCE),
    _openai("gpt-5.6", FILES, None, LOW_TO_HIGH, _TOOLS_UNTHINKING),
    _openai("gpt-5.5", FILES, 1_050_000, LOW_TO_HIGH, _GPT_5_5),
    _openai("gpt-5.4-mini", FILES, None, LOW_TO_HIGH, _GPT_5_4),
    _openai("gpt-5.4-nano", FILES, None, LOW_TO_HIGH, _GPT_5_4),
    _openai("gpt-5.4", FILES, 1_050_000, LOW_TO_HIGH, _GPT_5_4),
    _openai("gpt-5.2-chat", FILES, 128_000),
    _openai("gpt-5.2", FILES, 400_000, LOW_TO_HIGH, _MAY_THINK),
    _openai("gpt-5.1-chat", FILES, 128_000),
    _openai("gpt-5.1", FILES, 400_000, LOW_TO_HIGH, _MAY_THINK),
    _openai("gpt-5.", FILES, None, LOW_TO_HIGH),
    _openai("gpt-5-chat", FILES, None, NO_THINKING, _NO_REASONING),
    _openai("gpt-5-pro", FILES, 400_000, _ALWAYS_HIGH, _ALWAYS_THINKS),
    _openai("gpt-5", FILES, 400_000, ALWAYS_MINIMAL_TO_HIGH, _ALWAYS_THINKS),
    _openai("gpt-audio", AUDIO, None, NO_THINKING),
    _openai("gpt-4o-mini-audio", AUDIO, None, NO_THINKING, _NO_REASONING),
    _openai("gpt-4o-audio", AUDIO, None, NO_THINKING, _NO_REASONING),
    _openai("gpt-4o", FILES, 128_000, NO_THINKING, _NO_REASONING),
    _openai("gpt-4.1", FILES, 1_047_576, NO_THINKING, _NO_REASONING),
    _openai("gpt-4-1106-preview", TEXT, 128_000, NO_THINKING, _NO_REASONING),
    _openai("gpt-4-turbo", IMAGES, 128_000, NO_THINKING, _NO_REASONING),
    _openai("gpt-4", TEXT, 8_192, NO_THINKING, _NO_REASONING),
    _openai("gpt-3.5", TEXT, 16_385, NO_THINKING, _NO_REASONING),
    ModelFamily(("chatgpt-",), rules=_NO_REASONING, source=_SOURCE),
    _openai("o1-mini", TEXT, rules=_ALWAYS_THINKS),
    _openai("o3-mini", TEXT, 200_000, ALWAYS_LOW_TO_HIGH, _ALWAYS_THINKS),
    _openai("o1", FILES, 200_000, ALWAYS_LOW_TO_HIGH, _ALWAYS_THINKS),
    _openai("o3", FILES, 200_000, ALWAYS_LOW_TO_HIGH, _NO_STOP),
    _openai("o4-mini", FILES, 200_000, ALWAYS_LOW_TO_HIGH, _NO_STOP),
)
