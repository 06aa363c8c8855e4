"""Models at OpenRouter: those of OpenAI, Anthropic and xAI with the rules of their makers' tables."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeAlias

from abstractcore.ports import ModelProfile

from ..rules.claude import ClaudeRules
from ..rules.openai import ModelRules
from .claude import CLAUDE, ClaudeFamily
from .family import UNKNOWN, ModelFamily
from .openai import AUDIO, FILES, OPENAI, OpenAIFamily
from .openai_compatible import XAI

OpenRouterFamily: TypeAlias = ModelFamily[ModelRules | ClaudeRules | None]

_FILES_SOURCE = "https://openrouter.ai/docs/features/multimodal/pdfs"
_RULES_SOURCE = "https://openrouter.ai/docs/api-reference/parameters"
_ACCEPTS_FILES = ModelProfile(FILES, cache_points=0)
_OPENAI_WITH_FILES = ("gpt-5", "gpt-6", "gpt-4o", "gpt-4.1")


def _of_openai(family: OpenAIFamily) -> OpenRouterFamily:
    """OpenRouter itself chooses OpenAI's API, so that tools are always accepted; none of its models has `top_k`."""
    names = tuple(f"openai/{name}" for name in family.names)
    accept_files = all(name.startswith(_OPENAI_WITH_FILES) for name in family.names)
    profile = _ACCEPTS_FILES if accept_files else UNKNOWN.profile
    rules = replace(family.rules or ModelRules(), tools="always", refused=frozenset({"top_k"}))
    return ModelFamily(names, profile, rules, _RULES_SOURCE)


def _of_anthropic(family: ClaudeFamily) -> OpenRouterFamily:
    """The names have a dot between the numbers of a version."""
    names = tuple("anthropic/" + re.sub(r"(?<=\d)-(?=\d)", ".", name) for name in family.names)
    return ModelFamily(names, _ACCEPTS_FILES, family.rules, _RULES_SOURCE)


def _of_xai(family: OpenAIFamily) -> OpenRouterFamily:
    names = tuple(f"x-ai/{name}" for name in family.names)
    return ModelFamily(names, rules=family.rules, source=_RULES_SOURCE)


OPENROUTER: tuple[OpenRouterFamily, ...] = (
    ModelFamily(("openai/gpt-oss",), ModelProfile(cache_points=0), source=_FILES_SOURCE),
    *map(_of_openai, OPENAI),
    _of_openai(ModelFamily(("",))),
    *map(_of_anthropic, CLAUDE),
    ModelFamily(("anthropic/claude",), _ACCEPTS_FILES, source=_FILES_SOURCE),
    ModelFamily(("google/gemini",), ModelProfile(FILES | AUDIO, cache_points=0), source=_FILES_SOURCE),
    *map(_of_xai, XAI),
)
