"""LLMs of every wire format, made as users make them, that talk to the scripted server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from abstractcore import LLM, Services, create_llm
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer

VENDORS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "anthropic_messages": ("anthropic", "claude-sonnet-4-5"),
        "bedrock_converse": ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        "cohere_chat": ("cohere", "command-a-vision-07-2025"),
        "gemini": ("google", "gemini-2.5-flash"),
        "gemini_interactions": ("google-interactions", "gemini-3-flash-preview"),
        "ollama": ("ollama", "llama3.2-vision"),
        "openai_chat": ("openai", "gpt-4.1"),
        "openai_responses": ("openai-responses", "gpt-5.6"),
    }
)
"""A provider of each format, and a model of it that sees pictures."""


@pytest.fixture
def llm_of(server: ScriptedServer, services: Services) -> Callable[..., LLM]:
    """`llm_of(format)`: an LLM of that format's provider; `provider` and `model` may be others."""

    def llm_of(format: str, **options: Any) -> LLM:
        provider, model = VENDORS[format]
        given = {"base_url": server.url, "api_key": "k", "timeout": PATIENCE_SECONDS, **options}
        name, of = given.pop("provider", provider), given.pop("model", model)
        return create_llm(name, model=of, services=services, **given)

    return llm_of
