"""Models of the vendors whose APIs are compatible with OpenAI's chat completions, one table a vendor.

More pages are named in tests/providers/formats/openai_chat/SOURCES.md. OpenAI's own models are in `openai.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from abstractcore.ports import ModelProfile, Thinking

from .family import ModelFamily, family
from .openai import (
    ALWAYS_LOW_TO_HIGH,
    ALWAYS_MINIMAL_TO_HIGH,
    BY_DEFAULT,
    IMAGES,
    LOW_TO_HIGH,
    NO_THINKING,
    PENALTIES,
    SOMEHOW,
    TEXT,
)

_HIGH = Thinking(("high",))
_MINIMAL_TO_HIGH = Thinking(("minimal", "low", "medium", "high"), on_by_default=True)

_groq = partial(family, "https://console.groq.com/docs/reasoning")
GROQ: tuple[ModelFamily, ...] = (
    _groq("openai/gpt-oss", thinking=ALWAYS_LOW_TO_HIGH),
    _groq("qwen/qwen3"),
)
_mistral = partial(family, "https://docs.mistral.ai/studio-api/conversations/vision")
MISTRAL: tuple[ModelFamily, ...] = (
    _mistral("mistral-small", IMAGES, thinking=_HIGH),
    _mistral("mistral-medium-3-5", IMAGES, thinking=_HIGH),
    _mistral("mistral-large", IMAGES),
    _mistral("mistral-medium", IMAGES),
    _mistral("ministral", IMAGES),
)
_DEEPSEEK = "https://api-docs.deepseek.com/guides/thinking_mode"
_deepseek = partial(family, _DEEPSEEK)
_THINKING_DEEPSEEK: dict[str, Any] = {"refused_with_thinking": PENALTIES | {"temperature"}}
DEEPSEEK: tuple[ModelFamily, ...] = (
    _deepseek("deepseek-v4", TEXT, 1_000_000, _MINIMAL_TO_HIGH, **_THINKING_DEEPSEEK),
    _deepseek("deepseek-flash", TEXT, None, _MINIMAL_TO_HIGH, **_THINKING_DEEPSEEK),
    ModelFamily(("deepseek-chat",), source=_DEEPSEEK),
    ModelFamily(("deepseek-",), ModelProfile(thinking=SOMEHOW, known=False, **_THINKING_DEEPSEEK), _DEEPSEEK),
)
_XAI = "https://docs.x.ai/docs/guides/reasoning"
_xai = partial(family, _XAI)
_THINKING_GROK: dict[str, Any] = {"refused_with_thinking": PENALTIES | {"stop"}}
XAI: tuple[ModelFamily, ...] = (
    _xai("grok-4.3", IMAGES, 1_000_000, BY_DEFAULT, **_THINKING_GROK),
    _xai("grok-4.5", IMAGES, None, ALWAYS_LOW_TO_HIGH, **_THINKING_GROK),
    _xai("grok-4.7", IMAGES, 500_000, ALWAYS_LOW_TO_HIGH, **_THINKING_GROK),
    ModelFamily(("grok-4-fast-non-reasoning", "grok-4-1-fast-non-reasoning"), source=_XAI),
    ModelFamily(("grok-4.20-non-reasoning", "grok-4.20-0309-non-reasoning"), source=_XAI),
    ModelFamily(("grok-4",), ModelProfile(thinking=SOMEHOW, known=False, **_THINKING_GROK), _XAI),
)
_together = partial(family, "https://docs.together.ai/docs/inference/chat/reasoning")
TOGETHER: tuple[ModelFamily, ...] = (
    _together("openai/gpt-oss", thinking=ALWAYS_LOW_TO_HIGH),
    _together("deepseek-ai/DeepSeek-V4-Pro", TEXT, 512_000),
    _together("zai-org/GLM-5.1", TEXT, 200_000),
    _together("MiniMaxAI/MiniMax-M2.7", TEXT, 202_000),
)
_fireworks = partial(family, "https://docs.fireworks.ai/guides/reasoning")
FIREWORKS: tuple[ModelFamily, ...] = (
    _fireworks("accounts/fireworks/models/deepseek-v4-pro", thinking=LOW_TO_HIGH),
    _fireworks("accounts/fireworks/models/kimi-k2", thinking=ALWAYS_LOW_TO_HIGH),
    _fireworks("accounts/fireworks/models/glm-5", thinking=_HIGH),
)
_perplexity = partial(family, "https://perplexity.mintlify.app/api-reference")
PERPLEXITY: tuple[ModelFamily, ...] = (
    _perplexity("sonar-deep-research", TEXT, 128_000, ALWAYS_MINIMAL_TO_HIGH),
    _perplexity("sonar-reasoning", TEXT, 128_000),
    _perplexity("sonar-pro", IMAGES, 200_000, NO_THINKING),
    _perplexity("sonar", IMAGES, 128_000, NO_THINKING),
)
_cerebras = partial(family, "https://inference-docs.cerebras.ai/capabilities/reasoning")
CEREBRAS: tuple[ModelFamily, ...] = (
    _cerebras("gpt-oss", thinking=ALWAYS_LOW_TO_HIGH),
    _cerebras("zai-glm"),
)
