"""The built-in providers, registered as any plugin's are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from abstractcore.ports import CatalogueFile, Provider, WireFormat
from abstractcore.registry.hooks import hookimpl

from .formats.registered import WIRE_FORMATS
from .local import LocalProvider
from .scripted import ScriptedProvider
from .vendors.anthropic import AnthropicProvider, BedrockAnthropicProvider
from .vendors.bedrock import BedrockProvider
from .vendors.cohere import CohereProvider
from .vendors.google import (
    GoogleInteractionsProvider,
    GoogleProvider,
    VertexAnthropicProvider,
    VertexOpenAIProvider,
    VertexProvider,
)
from .vendors.ollama import OllamaProvider
from .vendors.openai_compatible import VENDORS
from .vendors.openai_responses import OpenAIResponsesProvider


@hookimpl
def register_providers() -> Iterable[Provider]:
    """The embedded model, the scripted one, and the vendors' rows."""
    return (
        LocalProvider(),
        ScriptedProvider(),
        AnthropicProvider(),
        BedrockAnthropicProvider(),
        OllamaProvider(),
        OpenAIResponsesProvider(),
        CohereProvider(),
        BedrockProvider(),
        GoogleProvider(),
        VertexProvider(),
        VertexAnthropicProvider(),
        VertexOpenAIProvider(),
        GoogleInteractionsProvider(),
        *VENDORS,
    )


@hookimpl
def register_catalogues() -> Iterable[CatalogueFile]:
    """The facts about the vendors' models, which `catalogue/build.py` writes."""
    folder = Path(__file__).parent / "catalogue"
    return [CatalogueFile(file.stem, file) for file in sorted(folder.glob("*.jsonl"))]


@hookimpl
def register_wire_formats() -> Iterable[WireFormat]:
    """Every wire format, under the name of its folder."""
    return WIRE_FORMATS
