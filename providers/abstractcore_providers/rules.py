"""What single models of the vendors refuse on chat completions, by the beginnings of their names.

The pages that say so are named in tests/providers/openai_chat/SOURCES.md.
"""

from __future__ import annotations

from .openai_chat.model_rules import NO_RULES, ModelRules

_SAMPLING = frozenset({"temperature", "top_p", "top_logprobs"})
_PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
_ALWAYS_THINKS = ModelRules(True, _SAMPLING | _PENALTIES)

OPENAI = (
    ("gpt-6-astra", ModelRules(True, _SAMPLING, "never")),
    ("gpt-6.1-sol", ModelRules(True, _SAMPLING, "never")),
    ("gpt-6", ModelRules(True, _SAMPLING, "unthinking")),
    ("gpt-5.6", ModelRules(True, _SAMPLING, "unthinking")),
    ("gpt-5.5", ModelRules(True, _SAMPLING, "unasked")),
    ("gpt-5.4", ModelRules(False, _SAMPLING, "unasked")),
    ("gpt-5.2-chat", NO_RULES),
    ("gpt-5.2", ModelRules(False, _SAMPLING)),
    ("gpt-5.1-chat", NO_RULES),
    ("gpt-5.1", ModelRules(False, _SAMPLING)),
    ("gpt-5-chat", NO_RULES),
    ("gpt-5.", NO_RULES),
    ("gpt-5", _ALWAYS_THINKS),
    ("o1", _ALWAYS_THINKS),
    ("o3-mini", _ALWAYS_THINKS),
    ("o3", ModelRules(True, _SAMPLING | _PENALTIES | {"stop"})),
    ("o4-mini", ModelRules(True, _SAMPLING | _PENALTIES | {"stop"})),
)
DEEPSEEK = (
    ("deepseek-chat", NO_RULES),
    ("deepseek-", ModelRules(True, _PENALTIES | {"temperature"})),
)
XAI = (
    ("grok-4-fast-non-reasoning", NO_RULES),
    ("grok-4-1-fast-non-reasoning", NO_RULES),
    ("grok-4.20-non-reasoning", NO_RULES),
    ("grok-4", ModelRules(True, _PENALTIES | {"stop"})),
)
