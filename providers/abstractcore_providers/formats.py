"""Every wire format there is, by the name of its folder. A format is loaded when it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType

from abstractcore.ports import Transpiler

_CLASSES = {
    "anthropic_messages": "AnthropicMessages",
    "bedrock_converse": "BedrockConverse",
    "cohere_chat": "CohereChat",
    "gemini": "Gemini",
    "ollama": "OllamaChat",
    "openai_chat": "OpenAIChat",
    "openai_responses": "OpenAIResponses",
}


def _made(folder: str, name: str) -> Transpiler:
    return getattr(import_module(f".{folder}", __package__), name)()


FORMATS: Mapping[str, Callable[[], Transpiler]] = MappingProxyType(
    {folder: partial(_made, folder, name) for folder, name in _CLASSES.items()}
)
"""Makes the format of each folder, in its vendor's own dialect."""
