"""Models at OpenRouter: those of OpenAI, Anthropic and xAI refuse what they refuse at their makers."""

from __future__ import annotations

import re
from dataclasses import replace

from abstractcore.ports import ModelProfile

from .claude import ANY_CLAUDE_THINKING, CLAUDE
from .family import UNKNOWN_PROFILE, ModelFamily, with_refusals_of
from .openai import AUDIO, FILES, OPENAI
from .openai_compatible import XAI

_FILES_SOURCE = "https://openrouter.ai/docs/features/multimodal/pdfs"
_PARAMETERS = "https://openrouter.ai/docs/api-reference/parameters"
_ACCEPTS_FILES = ModelProfile(FILES, cache_points=0)
_OPENAI_WITH_FILES = ("gpt-5", "gpt-6", "gpt-4o", "gpt-4.1")


def _of_openai(family: ModelFamily) -> ModelFamily:
    """OpenRouter itself chooses OpenAI's API, so that tools are always accepted; none of its models has `top_k`."""
    names = tuple(f"openai/{name}" for name in family.names)
    accept_files = all(name.startswith(_OPENAI_WITH_FILES) for name in family.names)
    profile = with_refusals_of(_ACCEPTS_FILES if accept_files else UNKNOWN_PROFILE, family.profile)
    return ModelFamily(names, replace(profile, refused=frozenset({"top_k"})), _PARAMETERS)


def _of_anthropic(family: ModelFamily) -> ModelFamily:
    """The names have a dot between the numbers of a version."""
    names = tuple("anthropic/" + re.sub(r"(?<=\d)-(?=\d)", ".", name) for name in family.names)
    profile = replace(with_refusals_of(_ACCEPTS_FILES, family.profile), thinking=ANY_CLAUDE_THINKING)
    return ModelFamily(names, profile, _PARAMETERS)


def _of_xai(family: ModelFamily) -> ModelFamily:
    names = tuple(f"x-ai/{name}" for name in family.names)
    return ModelFamily(names, with_refusals_of(UNKNOWN_PROFILE, family.profile), _PARAMETERS)


OPENROUTER: tuple[ModelFamily, ...] = (
    ModelFamily(("openai/gpt-oss",), ModelProfile(cache_points=0), source=_FILES_SOURCE),
    *map(_of_openai, OPENAI),
    _of_openai(ModelFamily(("",))),
    *map(_of_anthropic, CLAUDE),
    ModelFamily(("anthropic/claude",), _ACCEPTS_FILES, source=_FILES_SOURCE),
    ModelFamily(("google/gemini",), ModelProfile(FILES | AUDIO, cache_points=0), source=_FILES_SOURCE),
    *map(_of_xai, XAI),
)
