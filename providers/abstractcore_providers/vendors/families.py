"""What models can do, by the beginnings of their names, at each vendor that speaks chat completions.

The pages that say so are named in tests/providers/formats/openai_chat/SOURCES.md.
"""

from __future__ import annotations

from abstractcore.ports import ModelProfile, Thinking

from .presets import Families

_TEXT = frozenset[str]()
_SEES = frozenset({"image"})
READS = frozenset({"image", "application/pdf"})
"""Models that see take PDF too (developers.openai.com/api/docs/guides/pdf-files)."""
_HEARS = frozenset({"audio/wav", "audio/mpeg"})

_NEVER = Thinking()
_LOW_TO_HIGH = Thinking(("low", "medium", "high"))
_ALWAYS_LOW_TO_HIGH = Thinking(("low", "medium", "high"), can_be_off=False)
_ALWAYS_MINIMAL_TO_HIGH = Thinking(("minimal", "low", "medium", "high"), can_be_off=False)
_MINIMAL_TO_HIGH = Thinking(("minimal", "low", "medium", "high"))


def _models(
    accepts: frozenset[str] = _TEXT, context_tokens: int | None = None, thinking: Thinking | None = None
) -> ModelProfile:
    """Vendors of this format decide by themselves what they keep, and take no cache points."""
    return ModelProfile(accepts, context_tokens, thinking=thinking, cache_points=0)


OPENAI: Families = (
    ("gpt-6-astra", _models(READS, 1_050_000, _ALWAYS_LOW_TO_HIGH)),
    ("gpt-6.1-sol", _models(READS, 1_050_000, _ALWAYS_LOW_TO_HIGH)),
    ("gpt-6-sol", _models(READS, 1_050_000, _LOW_TO_HIGH)),
    ("gpt-6-luna", _models(READS, 1_050_000, _LOW_TO_HIGH)),
    ("gpt-5.5", _models(READS, 1_050_000, _LOW_TO_HIGH)),
    ("gpt-5.4-mini", _models(READS, None, _LOW_TO_HIGH)),
    ("gpt-5.4-nano", _models(READS, None, _LOW_TO_HIGH)),
    ("gpt-5.4", _models(READS, 1_050_000, _LOW_TO_HIGH)),
    ("gpt-5.2-chat", _models(READS, 128_000)),
    ("gpt-5.2", _models(READS, 400_000, _LOW_TO_HIGH)),
    ("gpt-5.1-chat", _models(READS, 128_000)),
    ("gpt-5.1", _models(READS, 400_000, _LOW_TO_HIGH)),
    ("gpt-5.", _models(READS, None, _LOW_TO_HIGH)),
    ("gpt-5-chat", _models(READS, None, _NEVER)),
    ("gpt-5-pro", _models(READS, 400_000, Thinking(("high",), can_be_off=False))),
    ("gpt-5", _models(READS, 400_000, _ALWAYS_MINIMAL_TO_HIGH)),
    ("gpt-audio", _models(_HEARS, None, _NEVER)),
    ("gpt-4o-mini-audio", _models(_HEARS, None, _NEVER)),
    ("gpt-4o-audio", _models(_HEARS, None, _NEVER)),
    ("gpt-4o", _models(READS, 128_000, _NEVER)),
    ("gpt-4.1", _models(READS, 1_047_576, _NEVER)),
    ("gpt-4-1106-preview", _models(_TEXT, 128_000, _NEVER)),
    ("gpt-4-turbo", _models(_SEES, 128_000, _NEVER)),
    ("gpt-4", _models(_TEXT, 8_192, _NEVER)),
    ("gpt-3.5", _models(_TEXT, 16_385, _NEVER)),
    ("o1-mini", _models()),
    ("o3-mini", _models(_TEXT, 200_000, _ALWAYS_LOW_TO_HIGH)),
    ("o1", _models(READS, 200_000, _ALWAYS_LOW_TO_HIGH)),
    ("o3", _models(READS, 200_000, _ALWAYS_LOW_TO_HIGH)),
    ("o4-mini", _models(READS, 200_000, _ALWAYS_LOW_TO_HIGH)),
)
OPENROUTER: Families = (
    ("openai/gpt-oss", _models()),
    ("openai/gpt-5", _models(READS)),
    ("openai/gpt-6", _models(READS)),
    ("openai/gpt-4o", _models(READS)),
    ("openai/gpt-4.1", _models(READS)),
    ("anthropic/claude", _models(READS)),
    ("google/gemini", _models(READS | _HEARS)),
)
GROQ: Families = (
    ("openai/gpt-oss", _models(thinking=_ALWAYS_LOW_TO_HIGH)),
    ("qwen/qwen3", _models()),
)
MISTRAL: Families = (
    ("mistral-small", _models(_SEES, thinking=Thinking(("high",)))),
    ("mistral-medium-3-5", _models(_SEES, thinking=Thinking(("high",)))),
    ("mistral-large", _models(_SEES)),
    ("mistral-medium", _models(_SEES)),
    ("ministral", _models(_SEES)),
)
DEEPSEEK: Families = (
    ("deepseek-v4", _models(_TEXT, 1_000_000, _MINIMAL_TO_HIGH)),
    ("deepseek-flash", _models(_TEXT, None, _MINIMAL_TO_HIGH)),
)
XAI: Families = (
    ("grok-4.3", _models(_SEES, 1_000_000, _LOW_TO_HIGH)),
    ("grok-4.5", _models(_SEES, None, _ALWAYS_LOW_TO_HIGH)),
    ("grok-4.7", _models(_SEES, 500_000, _ALWAYS_LOW_TO_HIGH)),
)
TOGETHER: Families = (
    ("openai/gpt-oss", _models(thinking=_ALWAYS_LOW_TO_HIGH)),
    ("deepseek-ai/DeepSeek-V4-Pro", _models(_TEXT, 512_000)),
    ("zai-org/GLM-5.1", _models(_TEXT, 200_000)),
    ("MiniMaxAI/MiniMax-M2.7", _models(_TEXT, 202_000)),
)
FIREWORKS: Families = (
    ("accounts/fireworks/models/deepseek-v4-pro", _models(thinking=_LOW_TO_HIGH)),
    ("accounts/fireworks/models/kimi-k2", _models(thinking=_ALWAYS_LOW_TO_HIGH)),
    ("accounts/fireworks/models/glm-5", _models(thinking=Thinking(("high",)))),
)
PERPLEXITY: Families = (
    ("sonar-deep-research", _models(_TEXT, 128_000, _ALWAYS_MINIMAL_TO_HIGH)),
    ("sonar-reasoning", _models(_TEXT, 128_000)),
    ("sonar-pro", _models(_SEES, 200_000, _NEVER)),
    ("sonar", _models(_SEES, 128_000, _NEVER)),
)
CEREBRAS: Families = (
    ("gpt-oss", _models(thinking=_ALWAYS_LOW_TO_HIGH)),
    ("zai-glm", _models()),
)
