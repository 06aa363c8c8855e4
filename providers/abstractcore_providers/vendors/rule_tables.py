"""What single models of the vendors refuse, by the beginnings of their names: one table a vendor, for all providers of
its models.

Claude's are in `claude_families.py`. The pages that say so are named in tests/providers/formats/openai_chat/SOURCES.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from abstractcore.schema import CallWarning, ModelCall, Sampling

from . import claude_rules
from .claude_families import rules_by_name
from .model_rules import NO_RULES, Asked, ModelRules, ModelTable

_SAMPLING = frozenset({"temperature", "top_p", "top_logprobs"})
_PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
_ALWAYS_THINKS = ModelRules(True, _SAMPLING | _PENALTIES)

OPENAI: ModelTable = (
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
DEEPSEEK: ModelTable = (
    ("deepseek-chat", NO_RULES),
    ("deepseek-", ModelRules(True, _PENALTIES | {"temperature"})),
)
XAI: ModelTable = (
    ("grok-4-fast-non-reasoning", NO_RULES),
    ("grok-4-1-fast-non-reasoning", NO_RULES),
    ("grok-4.20-non-reasoning", NO_RULES),
    ("grok-4.20-0309-non-reasoning", NO_RULES),
    ("grok-4", ModelRules(True, _PENALTIES | {"stop"})),
)


@dataclass(frozen=True, slots=True)
class _ClaudeElsewhere(ModelRules):
    """What one of Claude's models refuses behind chat completions."""

    claude: claude_rules.ClaudeRules = field(default_factory=claude_rules.ClaudeRules)

    def fit_sampling(self, call: ModelCall, thinking: Asked, warnings: list[CallWarning]) -> Sampling:
        return claude_rules.fit_sampling(call.sampling, self.claude, thinking not in (None, "off"), warnings)

    def thinking_with_tools(self, call: ModelCall, warnings: list[CallWarning]) -> Asked:
        if not isinstance(call.thinking, int):
            return call.thinking
        return claude_rules.fit_budget(call.thinking, call.sampling.max_output_tokens, warnings)


def _through_openrouter(rules: ModelRules) -> ModelRules:
    """OpenRouter itself chooses OpenAI's door, so that tools are always taken; none has `top_k`."""
    return replace(rules, tools="always", refused_options=frozenset({"top_k"}))


def _dotted(name: str) -> str:
    """A name of Anthropic's as OpenRouter writes it: with a dot between the numbers of a version."""
    return re.sub(r"(?<=\d)-(?=\d)", ".", name)


OPENROUTER: ModelTable = (
    ("openai/gpt-oss", NO_RULES),
    *((f"openai/{name}", _through_openrouter(rules)) for name, rules in OPENAI),
    ("openai/", _through_openrouter(NO_RULES)),
    *((f"anthropic/{_dotted(name)}", _ClaudeElsewhere(claude=rules)) for name, rules in rules_by_name()),
    *((f"x-ai/{name}", rules) for name, rules in XAI),
)
