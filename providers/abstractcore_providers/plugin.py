"""The built-in providers, registered as any plugin's are."""

from __future__ import annotations

from collections.abc import Iterable

from abstractcore.hooks import hookimpl
from abstractcore.ports import Provider, WireFormat

from .anthropic_provider import AnthropicProvider
from .bedrock import BedrockProvider
from .cohere_provider import CohereProvider
from .formats import WIRE_FORMATS
from .google_provider import GoogleProvider, VertexProvider
from .local import LocalProvider
from .ollama_provider import OllamaProvider
from .openai_responses_provider import OpenAIResponsesProvider
from .scripted import ScriptedProvider
from .vendors import VENDORS


@hookimpl
def register_providers() -> Iterable[Provider]:
    """The embedded model, the scripted one, and the vendors' rows."""
    return (
        LocalProvider(),
        ScriptedProvider(),
        AnthropicProvider(),
        OllamaProvider(),
        OpenAIResponsesProvider(),
        CohereProvider(),
        BedrockProvider(),
        GoogleProvider(),
        VertexProvider(),
        *VENDORS,
    )


@hookimpl
def register_wire_formats() -> Iterable[WireFormat]:
    """Every wire format, under the name of its folder."""
    return WIRE_FORMATS
