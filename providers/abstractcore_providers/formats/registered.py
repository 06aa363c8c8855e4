"""All wire formats, by the name of their folder. A format is imported when it is created."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import MappingProxyType

from abstractcore.ports import Transpiler

_CLASSES = {
    "anthropic_messages": ("AnthropicMessages", "Anthropic, Messages"),
    "bedrock_converse": ("BedrockConverse", "Amazon Bedrock, Converse"),
    "cohere_chat": ("CohereChat", "Cohere, chat"),
    "gemini": ("Gemini", "Google, generateContent"),
    "gemini_interactions": ("GeminiInteractions", "Google, Interactions"),
    "ollama": ("OllamaChat", "Ollama, chat"),
    "openai_chat": ("OpenAIChat", "OpenAI, chat completions"),
    "openai_responses": ("OpenAIResponses", "OpenAI, responses"),
}
"""The class of each folder, and its description."""


def _made(folder: str, name: str) -> Transpiler:
    return getattr(import_module(f".{folder}", __package__), name)()


FORMATS: Mapping[str, Callable[[], Transpiler]] = MappingProxyType(
    {folder: partial(_made, folder, name) for folder, (name, _) in _CLASSES.items()}
)
"""Creates the format of each folder, in its vendor's own dialect."""


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A registered wire format."""

    name: str
    summary: str

    def transpiler(self) -> Transpiler:
        """Returns the format in its vendor's own dialect."""
        return FORMATS[self.name]()


WIRE_FORMATS = tuple(NamedFormat(folder, summary) for folder, (_, summary) in _CLASSES.items())
